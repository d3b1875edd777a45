//! Assembling again asks for no memory, whatever the law and the kind: the first call sizes the scratch.

use crate::counting::requests;
use crate::elastic::{LAWS, STIFFNESS, soft, solid};
use stiction::linalg::{Mat3, Vec3};

#[test]
fn assembling_asks_for_nothing() {
    for law in LAWS {
        let (rest, mut a) = solid(3, soft(law));
        let (mut f, mut k) = (vec![Vec3::ZERO; rest.len()], vec![Mat3::ZERO; a.pairs().len()]);
        let kind = a.default_hessian();
        a.assemble(&rest, STIFFNESS, kind, &mut f, &mut k);
        let before = requests();
        for _ in 0..3 {
            a.assemble(&rest, STIFFNESS, kind, &mut f, &mut k);
            a.forces(&rest, &mut f);
        }
        let asked = requests() - before;
        assert_eq!(asked, 0, "{law:?}");
    }
}
