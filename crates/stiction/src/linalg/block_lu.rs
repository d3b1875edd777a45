//! stub
/// stub
pub struct BlockLu;
