//! The words before an operation: which sentence of them says why. What people say counts more than what
//! agents say.

use crate::model::exchange::{ItemKind, words_of};
use crate::model::git::Reason;
use crate::rules::rollbacks::reasons;
use uuid::Uuid;

/// Something that was said before an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// A prompt, an aside, the agent's words, or a call's digest.
    pub kind: ItemKind,
    /// As it stands in the episode: `User: …`.
    pub text: String,
    /// The session's id.
    pub session: String,
    /// The episode that has it.
    pub episode: Uuid,
    /// The line of its record.
    pub line: u64,
}

impl Utterance {
    fn is_by_user(&self) -> bool {
        matches!(self.kind, ItemKind::Prompt | ItemKind::Aside)
    }
}

/// What people say weighs so much more than what agents say.
const USER_FACTOR: u32 = 2;

/// The sentence that says why, in what was said before an operation, in order; of several that say as
/// much the last one. `None`: nobody said why.
pub fn why(spoken: &[Utterance]) -> Option<Reason> {
    let mut best: Option<(u32, Reason)> = None;
    for said in spoken.iter().filter(|said| said.kind != ItemKind::Digest) {
        let factor = if said.is_by_user() { USER_FACTOR } else { 1 };
        for weighed in reasons(words_of(&said.text)) {
            let weight = weighed.weight * factor;
            if best.as_ref().is_some_and(|(most, _)| *most > weight) {
                continue;
            }
            let reason = Reason {
                sentence: weighed.sentence.to_owned(),
                by_user: said.is_by_user(),
                session: said.session.clone(),
                episode: said.episode,
                line: said.line,
            };
            best = Some((weight, reason));
        }
    }
    best.map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: ItemKind, text: &str, line: u64) -> Utterance {
        Utterance {
            kind,
            text: text.to_owned(),
            session: "s".into(),
            episode: Uuid::nil(),
            line,
        }
    }

    #[test]
    fn the_documents_conversation_says_why() {
        let spoken = [
            said(
                ItemKind::Agent,
                "Agent: I've implemented the new caching layer using Redis...",
                1,
            ),
            said(
                ItemKind::Prompt,
                "User: Actually this won't work with our serverless architecture",
                2,
            ),
            said(
                ItemKind::Agent,
                "Agent: You're right, I should rollback and use a different approach",
                3,
            ),
            said(ItemKind::Prompt, "User: git reset --hard HEAD~5", 4),
        ];
        let reason = why(&spoken).unwrap();
        assert_eq!(
            reason.sentence,
            "Actually this won't work with our serverless architecture"
        );
        assert_eq!((reason.by_user, reason.line), (true, 2));
        assert_eq!(why(&spoken[..1]), None);
    }
}
