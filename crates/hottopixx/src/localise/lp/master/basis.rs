//! The basis as a whole: the first one, its inverse computed afresh, and the way back from a
//! singular one.

use super::pivot::{Leaving, Left};
use super::{Master, VariablePlace};
use crate::order::smallest_first;

/// Tight constraints must be met to this much.
const UNMET: f64 = 1e-10;

impl Master {
    /// The dual feasible vertex without cuts: the cheapest columns are at one, as many as the trace
    /// allows; the last of them is free and carries the trace constraint.
    pub(super) fn start(&mut self) {
        self.free.clear();
        self.tight.clear();
        self.inverse.clear();
        self.place.fill(VariablePlace::Lower);
        self.constraints.iter_mut().for_each(|c| c.tight = false);
        let mut order: Vec<usize> = (self.slacks..self.cost.len()).collect();
        smallest_first(&mut order, |i| self.cost[i]);
        let Some(trace) = self.constraints.first().filter(|c| c.equality).map(|c| c.right) else {
            order
                .iter()
                .filter(|&&v| self.cost[v] < 0.0)
                .for_each(|&v| self.place[v] = VariablePlace::Upper);
            return;
        };
        let whole = (trace.ceil() as usize).clamp(1, order.len());
        order[..whole - 1].iter().for_each(|&v| self.place[v] = VariablePlace::Upper);
        let last = order[whole - 1];
        self.place[last] = VariablePlace::Free;
        self.free.push(last as u32);
        self.tight.push(0);
        self.constraints[0].tight = true;
        self.inverse.rebuild(&mut [1.0], 1).expect("one is regular");
    }

    /// What leaves, in terms that survive a change of basis.
    pub(super) fn left_by(&self, leaving: Leaving) -> Left {
        match leaving {
            Leaving::Constraint(c) => Left::Constraint(c as u32),
            Leaving::Variable { position, .. } => Left::Variable(self.free[position]),
        }
    }

    /// Goes back to the basis before a pivot that made it singular.
    pub(super) fn take_back(&mut self, before: (Vec<u32>, Vec<u32>, Vec<VariablePlace>)) {
        (self.free, self.tight, self.place) = before;
        self.constraints.iter_mut().for_each(|c| c.tight = false);
        for &c in &self.tight {
            self.constraints[c as usize].tight = true;
        }
    }

    /// Computes inverse, multipliers and reduced costs afresh; a basis that has become singular is
    /// given up for the first one.
    pub(super) fn refresh(&mut self) {
        if !self.rebuild() {
            self.start();
        }
        self.price();
    }

    /// Computes the inverse afresh; false when the basis is singular, or so nearly that its
    /// constraints cannot be met.
    pub(super) fn rebuild(&mut self) -> bool {
        let mut block: Vec<f64> = Vec::with_capacity(self.free.len() * self.tight.len());
        for &v in &self.free {
            block.extend(self.tight.iter().map(|&c| self.entry(c as usize, v as usize)));
        }
        self.inverse.rebuild(&mut block, self.free.len()).is_ok() && self.evaluate(true) <= UNMET
    }
}
