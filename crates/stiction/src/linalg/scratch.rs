//! Working memory of faer, kept from call to call.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// Memory that grows to the largest request so far.
pub struct Scratch {
    memory: MemBuffer,
    holds: StackReq,
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch { memory: MemBuffer::new(StackReq::EMPTY), holds: StackReq::EMPTY }
    }
}

impl Scratch {
    /// Memory for a request; asks for more only where none before was as large.
    pub fn at_least(&mut self, need: StackReq) -> &mut MemStack {
        if need.size_bytes() > self.holds.size_bytes() || need.align_bytes() > self.holds.align_bytes() {
            self.holds = self.holds.or(need);
            self.memory = MemBuffer::new(self.holds);
        }
        MemStack::new(&mut self.memory)
    }
}
