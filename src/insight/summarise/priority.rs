//! Which fields are worth asking for, by what kind of work a session was (003 § 5, D42).

use super::answer::EnhancedSessionSummary;
use crate::model::activity::ActivityVector;
use crate::model::policy::SummaryPolicy;
use crate::model::summary::Summary;
use crate::rules::extraction::{SummaryField, fields};

/// The priority of a field that no table knows (003-132).
const UNKNOWN: f64 = 0.5;

fn includes(policy: &SummaryPolicy, field: &SummaryField) -> bool {
    match field.name.as_str() {
        "key_decisions" => policy.decisions,
        "errors_resolved" => policy.errors_resolved,
        _ => true,
    }
}

/// The facts without what isn't to be told with a model.
pub fn included(mut facts: Summary, policy: &SummaryPolicy) -> Summary {
    if !policy.decisions {
        facts.decisions.clear();
        facts.more_decisions = 0;
    }
    if !policy.errors_resolved {
        facts.errors_resolved.clear();
    }
    facts
}

/// An answer without what wasn't asked for.
pub fn asked_for(
    mut answer: EnhancedSessionSummary,
    policy: &SummaryPolicy,
) -> EnhancedSessionSummary {
    if !policy.decisions {
        answer.key_decisions.clear();
    }
    if !policy.errors_resolved {
        answer.errors_resolved.clear();
        answer.root_cause_analysis = None;
    }
    answer
}

/// How much a session's work speaks for a field, 0.0 to 1.0 (003-131).
pub fn priority(field: &str, vector: &ActivityVector) -> f64 {
    let known = fields().iter().find(|known| known.name == field);
    known.map_or(UNKNOWN, |known| known.priority(vector))
}

/// The fields that are asked for with their priorities, the highest first; ties in the table's order.
pub fn asked(vector: &ActivityVector, policy: &SummaryPolicy) -> Vec<(&'static SummaryField, f64)> {
    let all = fields().iter().filter(|field| includes(policy, field));
    let mut asked: Vec<_> = all.map(|field| (field, field.priority(vector))).collect();
    asked.retain(|(_, priority)| *priority >= policy.threshold);
    asked.sort_by(|a, b| b.1.total_cmp(&a.1));
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::summarise::tests::{golden, vector};
    use crate::model::activity::Dimension;

    #[test]
    fn every_golden_case_has_its_priorities_and_its_fields() {
        let Some(golden) = golden("extraction_priority") else {
            return;
        };
        for case in golden["cases"].as_array().expect("cases") {
            let vector = vector(&case["vector"]);
            let wants = &case["want"];
            if let Some(unknown) = wants.as_f64() {
                assert_eq!(priority("no_such_field", &vector), unknown);
                continue;
            }
            for (field, wants) in wants["priorities"].as_object().expect("priorities") {
                let found = priority(field, &vector);
                let wants = wants.as_f64().expect("a number");
                assert!((found - wants).abs() < 1e-9, "{} {field}", case["id"]);
            }
            for (threshold, wants) in wants["fields"].as_object().expect("fields") {
                let policy = SummaryPolicy {
                    threshold: threshold.parse().expect("a number"),
                    ..SummaryPolicy::default()
                };
                let found = asked(&vector, &policy);
                let found: Vec<&str> = found.iter().map(|(f, _)| f.name.as_str()).collect();
                assert_eq!(
                    serde_json::json!(found),
                    *wants,
                    "{} {threshold}",
                    case["id"]
                );
            }
        }
    }

    #[test]
    fn what_the_user_leaves_out_is_not_asked_for() {
        let all = ActivityVector::from_values(|_| 1.0).expect("in range");
        let names = |policy: &SummaryPolicy| -> Vec<&str> {
            asked(&all, policy)
                .iter()
                .map(|(f, _)| f.name.as_str())
                .collect()
        };
        let policy = SummaryPolicy::default();
        assert_eq!(names(&policy).len(), 10);
        let no_decisions = names(&SummaryPolicy {
            decisions: false,
            ..policy
        });
        assert!(no_decisions.len() == 9 && !no_decisions.contains(&"key_decisions"));
        let no_errors = names(&SummaryPolicy {
            errors_resolved: false,
            ..policy
        });
        assert!(no_errors.len() == 9 && !no_errors.contains(&"errors_resolved"));
    }

    #[test]
    fn errors_stand_above_discoveries_where_something_was_fixed() {
        let vector = ActivityVector::from_values(|d| match d {
            Dimension::Fixing => 0.9,
            Dimension::Exploring => 0.4,
            _ => 0.0,
        });
        let vector = vector.expect("in range");
        let errors = priority("errors_resolved", &vector);
        assert!((errors - 9.0 / 22.0).abs() < 1e-9);
        assert!(errors > priority("discoveries", &vector));
    }
}
