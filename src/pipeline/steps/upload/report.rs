//! What came of a delivery, and of asking a sink what it has.

use crate::model::delivery::Traces;
use crate::model::extraction::GraphCounts;
use crate::model::human::plural;
use crate::model::time::Time;
use crate::pipeline::alarms::{Alarm, Trouble};
use crate::pipeline::tables::TablesReport;
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// Words behind a number of dead letters, with the command that lists them.
pub const DEAD_LETTERS: &str = "failed permanently (sessionmill deliver dead list)";

/// What a delivery did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SinkReport {
    /// The sink's name.
    pub sink: String,
    /// Episodes that are there now and were not before, or in another revision.
    pub delivered: u64,
    /// UTF-8 bytes of them.
    pub bytes: u64,
    /// Found there although an earlier run didn't get to note it.
    pub found: u64,
    /// Attempts that failed and will be repeated.
    pub failed: u64,
    /// Given up in this run.
    pub dead: u64,
    /// Removed there, because they are no more here.
    pub forgotten: u64,
    /// What was made of those, and became of it.
    pub traces: Traces,
    /// No more here, and the sink can't remove them.
    pub kept: u64,
    /// Worked through by the sink: Graphiti took entities and facts from them.
    pub enriched: u64,
    /// There, and still to be worked through.
    pub to_enrich: u64,
    /// Taken by a sink that can't be asked whether they are there.
    pub unverified: u64,
    /// There, beside an older revision that the sink can't remove.
    pub beside: u64,
    /// US dollars that the sink's server spent, as estimated.
    pub usd: f64,
    /// Left out, because one alone costs more than a run may spend.
    pub too_dear: Vec<OverBudget>,
    /// Why the run sent less than it could, where no sink is to blame: `budget` or `time`.
    pub stopped: Option<String>,
    /// Due and not sent in this run.
    pub waiting: u64,
    /// Why the sink was left. Never content.
    pub fault: Option<String>,
    /// It is left alone until then.
    pub paused_until: Option<Time>,
    /// Time won't heal the fault: somebody has to do something.
    #[serde(skip)]
    pub is_lasting: bool,
    /// It was paused: nobody tried.
    #[serde(skip)]
    pub is_untried: bool,
    /// What to type about the fault; empty: look at the sink.
    #[serde(skip)]
    pub hint: String,
    /// What the sink's graph holds of what was made of its episodes, where that changed.
    #[serde(skip)]
    pub counted: Option<GraphCounts>,
    /// Given up in this run or before, and not settled.
    pub dead_letters: u64,
    /// What a folder of tables got; absent for other sinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<TablesReport>,
    /// What has to be told of it, since when; absent where all is well, or time may still heal it.
    #[serde(serialize_with = "document")]
    pub alarm: Option<Alarm>,
}

fn document<S: Serializer>(alarm: &Option<Alarm>, to: S) -> Result<S::Ok, S::Error> {
    alarm.as_ref().map(Alarm::document).serialize(to)
}

impl SinkReport {
    /// What goes on failing, if anything does.
    pub fn trouble(&self) -> Option<Trouble> {
        if let Some(fault) = &self.fault {
            return Some(Trouble {
                reason: fault.clone(),
                waiting: self.waiting,
                unit: "episode",
                is_lasting: self.is_lasting,
                is_untried: self.is_untried,
                hint: match self.hint.as_str() {
                    "" => format!("sessionmill deliver check {}", self.sink),
                    hint => hint.to_owned(),
                },
            });
        }
        (self.dead_letters > 0).then(|| Trouble {
            reason: format!(
                "{} failed permanently",
                plural(self.dead_letters, "episode")
            ),
            waiting: self.waiting,
            unit: "episode",
            is_lasting: true,
            is_untried: false,
            hint: "sessionmill deliver dead list".into(),
        })
    }
}

/// What a sink holds of everything that the store has a receipt of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The sink's name.
    pub sink: String,
    /// There, once, in the revision that was sent.
    pub landed: u64,
    /// Not there, or in another revision.
    pub missing: u64,
    /// There more than once.
    pub twice: u64,
    /// Of those that are there, the ones with an older revision beside them.
    pub beside: u64,
    /// Nobody can say of these whether they are there.
    pub unverified: u64,
    /// Missing ones that wait again.
    pub requeued: u64,
    /// Missing ones whose text was left to the sinks.
    pub without_text: u64,
}

/// An episode that costs more than a run may spend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverBudget {
    /// Which one.
    pub episode: Uuid,
    /// US dollars, as estimated, with nothing before it.
    pub usd: f64,
}
