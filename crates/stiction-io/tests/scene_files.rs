//! Every built-in scene reads, and what it says arrives in the `Scene`.

use stiction_io::gallery;

#[test]
fn every_gallery_scene_reads() {
    for e in gallery::ALL {
        let s = e.load(&[]).unwrap_or_else(|x| panic!("{:?}", miette::Report::new(x)));
        assert_eq!(s.title, e.title, "{}", e.name);
        assert_eq!(s.scene.name, e.name);
        assert!(!s.scene.sensors.is_empty() && s.scene.bodies.len() + s.scene.particles.len() > 0);
    }
}
