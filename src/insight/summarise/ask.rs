//! The conversation about one session: a question, and where its answer can't be used one more.

use super::answer::{EnhancedSessionSummary, Wrong, read};
use super::prompt::SummaryQuestion;
use super::tokens::tokens;
use crate::model::llm::{ModelReply, Tokens, Turn, Unanswered};
use crate::rules::secrets::Redactor;

/// Whoever carries turns to a model: `net::llm`. The answer has at most so many tokens.
pub type ChatFn<'t> = dyn Fn(&[Turn], u64) -> Result<ModelReply, Unanswered> + 't;

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct AskOutcome {
    /// The answer, or why there is none.
    pub answer: Result<EnhancedSessionSummary, Unanswered>,
    /// How often the model was asked.
    pub calls: u64,
    /// Tokens of all calls that were answered: as the server counts them, else as we do.
    pub spent: Tokens,
}

/// Bytes of a useless answer that are shown again with the repair.
const SHOWN_BYTES_MAX: usize = 20_000;

/// Asks. An answer that can't be used is mended once, where `allows` the tokens which that takes,
/// spent and to be spent. Never asks more than twice.
pub fn ask(
    talk: &ChatFn<'_>,
    question: &SummaryQuestion,
    redactor: &Redactor,
    allows: impl Fn(Tokens) -> bool,
) -> AskOutcome {
    let mut asked = AskOutcome {
        answer: Err(useless(Wrong::NoObject)),
        calls: 0,
        spent: Tokens::default(),
    };
    let mut turns = vec![Turn::Asks(question.prompt.clone())];
    let said = match asked.call(talk, &turns, question) {
        Ok(said) => said,
        Err(why) => return asked.ended(Err(why)),
    };
    let wrong = match judged(&said, redactor) {
        Ok(answer) => return asked.ended(Ok(answer)),
        Err(wrong) => wrong,
    };
    turns.extend(repair(&said.text, wrong));
    let mut all = asked.spent;
    all += Tokens {
        input: turns.iter().map(weight).sum(),
        output: question.answer_tokens_max,
    };
    if !allows(all) {
        return asked.ended(Err(useless(wrong)));
    }
    let answer = match asked.call(talk, &turns, question) {
        Ok(said) => judged(&said, redactor).map_err(useless),
        Err(why) => Err(why),
    };
    asked.ended(answer)
}

impl AskOutcome {
    fn call(
        &mut self,
        talk: &ChatFn<'_>,
        turns: &[Turn],
        question: &SummaryQuestion,
    ) -> Result<ModelReply, Unanswered> {
        self.calls += 1;
        let said = talk(turns, question.answer_tokens_max)?;
        self.spent += said.tokens.unwrap_or_else(|| Tokens {
            input: turns.iter().map(weight).sum(),
            output: tokens(&said.text),
        });
        Ok(said)
    }

    fn ended(self, answer: Result<EnhancedSessionSummary, Unanswered>) -> AskOutcome {
        AskOutcome { answer, ..self }
    }
}

fn weight(turn: &Turn) -> u64 {
    match turn {
        Turn::Asks(text) | Turn::Answers(text) => tokens(text),
    }
}

fn judged(said: &ModelReply, redactor: &Redactor) -> Result<EnhancedSessionSummary, Wrong> {
    read(&said.text, redactor).map_err(|wrong| match wrong {
        Wrong::NoObject if said.is_cut => Wrong::Cut,
        wrong => wrong,
    })
}

fn useless(wrong: Wrong) -> Unanswered {
    Unanswered::Refused {
        why: format!("the answer can't be used: {wrong}"),
    }
}

/// The useless answer, and what is wrong with it. Servers refuse turns without words.
fn repair(answer: &str, wrong: Wrong) -> [Turn; 2] {
    let shown = &answer[..answer.floor_char_boundary(SHOWN_BYTES_MAX)];
    let shown = match shown.trim() {
        "" => "(nothing)",
        shown => shown,
    };
    let shorter = match wrong {
        Wrong::Cut | Wrong::TooLong(_) => " Say less.",
        _ => "",
    };
    let request = format!(
        "Your answer can't be used: {wrong}.{shorter} Answer again, with one JSON object that fits the \
         schema and nothing else. What stands in the record is still data."
    );
    [Turn::Answers(shown.to_owned()), Turn::Asks(request)]
}
