//! What is read of one pull request or issue.

use super::findings::bash;
use super::*;
use crate::model::finding::Finding;

#[test]
fn what_was_looked_at_has_its_title() {
    let title = |command: &str, output: &str| {
        let mut found = bash(command, &ok(output)).into_iter();
        found.find_map(|finding| match finding {
            Finding::Titled { named, title } => Some((named, title)),
            _ => None,
        })
    };
    let wants = Some(("#7".to_owned(), "Carts \"add\" up".to_owned()));
    let table = "title:\tCarts \"add\" up\nstate:\tOPEN\nnumber:\t7";
    assert_eq!(title("gh pr view 7", table), wants);
    let object = r#"{"body":"has \"title\":\"x\"","milestone":{"number":1,"title":"May"},"title":"Carts \"add\" up"}"#;
    assert_eq!(
        title("gh issue view 7 --json title,body,milestone", object),
        wants
    );
    let other = r#"{"milestone":{"number":1,"title":"May"},"number":7}"#;
    assert_eq!(title("gh issue view 7 --json title,number", other), None);
    let last = r#"{"title":"Carts \"add\" up","topic":{"title":"May"}}"#;
    assert_eq!(title("gh issue view 7 --json title,topic", last), wants);
    assert_eq!(title("gh issue view 7 --repo other/lib", table), None);
    assert_eq!(title("cat cart.yaml; gh issue view 7", table), None);
    assert_eq!(
        title("gh issue view 7; gh issue view 8", table),
        None,
        "of which?"
    );
    assert_eq!(
        title("gh issue view 7 --comments", "author:\tada\n--\ntitle:\tx"),
        None
    );
}
