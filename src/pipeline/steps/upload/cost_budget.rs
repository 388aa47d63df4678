//! What a run may have others spend on a language model, and when that is spent.

use super::report::{OverBudget, SinkReport};
use crate::model::delivery::OutboundEpisode;
use crate::model::extraction::{Estimate, Extraction};

/// A budget in the hands of one sink.
pub(super) struct CostBudget {
    extraction: Option<Extraction>,
    usd_max: Option<f64>,
    spent: Estimate,
}

impl CostBudget {
    /// Full. Without `extraction` nothing costs anything.
    pub(super) fn new(extraction: Option<Extraction>, usd_max: Option<f64>) -> CostBudget {
        CostBudget {
            extraction,
            usd_max,
            spent: Estimate::default(),
        }
    }

    /// The first of these that the rest of the budget pays; noted in `done`, and that it was not
    /// enough for all. One that no budget of this size ever pays keeps the others from nothing.
    pub(super) fn pays(
        &mut self,
        outbound_episodes: Vec<OutboundEpisode>,
        done: &mut SinkReport,
    ) -> Vec<OutboundEpisode> {
        let Some(extraction) = self.extraction else {
            return outbound_episodes;
        };
        let is_too_much = |estimate: &Estimate| self.usd_max.is_some_and(|max| estimate.usd > max);
        let mut paid = Vec::with_capacity(outbound_episodes.len());
        for outbound in outbound_episodes {
            let bytes = outbound.content.len() as u64;
            let mut alone = Estimate::default();
            alone.add(Some(&extraction), bytes);
            if is_too_much(&alone) {
                let (episode, usd) = (outbound.id, alone.usd);
                done.too_dear.push(OverBudget { episode, usd });
                continue;
            }
            let mut then = self.spent.clone();
            then.add(Some(&extraction), bytes);
            if is_too_much(&then) {
                done.stopped = Some("budget".into());
                break;
            }
            done.usd += then.usd - self.spent.usd;
            self.spent = then;
            paid.push(outbound);
        }
        paid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::extraction::Finds;
    use crate::model::time::Time;
    use uuid::Uuid;

    fn outbound(bytes: usize) -> OutboundEpisode {
        OutboundEpisode {
            id: Uuid::from_u128(bytes as u128),
            revision: 1,
            group: String::new(),
            name: String::new(),
            content: "x".repeat(bytes),
            source_description: String::new(),
            session: String::new(),
            namespace: String::new(),
            project: String::new(),
            valid_at: Time(0),
            created_at: Time(0),
            attempts: 0,
        }
    }

    #[test]
    fn one_that_no_budget_pays_is_named_and_keeps_the_others_from_nothing() {
        let extraction = Extraction {
            context: 0,
            usd_per_million_input: 100.0,
            usd_per_million_output: 0.0,
            finds: Finds::ASSUMED,
        };
        let mut small = Estimate::default();
        small.add(Some(&extraction), 20);
        let two = small.usd * 2.5;
        let mut purse = CostBudget::new(Some(extraction), Some(two));
        let mut done = SinkReport::default();
        let outbound_episodes = [900_000, 10, 20, 30].map(outbound).to_vec();
        let paid = purse.pays(outbound_episodes, &mut done);
        let paid: Vec<usize> = paid.iter().map(|outbound| outbound.content.len()).collect();
        assert_eq!(paid, [10, 20]);
        assert_eq!(done.stopped.as_deref(), Some("budget"));
        let [dear] = done.too_dear.as_slice() else {
            panic!("{done:?}");
        };
        assert_eq!(dear.episode, Uuid::from_u128(900_000));
        assert!(dear.usd > 60.0 && done.usd < two, "{done:?}");
    }
}
