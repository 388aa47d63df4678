//! What a run may have others spend on a language model, and when that is spent.

use super::Delivered;
use crate::model::delivery::Parcel;
use crate::model::extraction::{Estimate, Extraction};

/// A budget in the hands of one sink.
pub(super) struct Purse {
    extraction: Option<Extraction>,
    usd_max: Option<f64>,
    spent: Estimate,
}

impl Purse {
    /// Full. Without `extraction` nothing costs anything.
    pub(super) fn new(extraction: Option<Extraction>, usd_max: Option<f64>) -> Purse {
        Purse {
            extraction,
            usd_max,
            spent: Estimate::default(),
        }
    }

    /// The first of these that the rest of the budget pays; noted in `done`, and that it was not
    /// enough for all.
    pub(super) fn pays(&mut self, mut parcels: Vec<Parcel>, done: &mut Delivered) -> Vec<Parcel> {
        let Some(extraction) = self.extraction else {
            return parcels;
        };
        let mut paid = 0;
        for parcel in &parcels {
            let mut then = self.spent.clone();
            then.add(Some(&extraction), parcel.content.len() as u64);
            if self.usd_max.is_some_and(|most| then.usd > most) {
                done.stopped = Some("budget".into());
                break;
            }
            done.usd += then.usd - self.spent.usd;
            self.spent = then;
            paid += 1;
        }
        parcels.truncate(paid);
        parcels
    }
}
