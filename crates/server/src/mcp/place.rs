//! Which record an agent works on.
//!
//! Clients start agents with other variables than the user has, so that two may be in
//! two folders unawares. It shows when one does not find what the other made: whoever
//! opens something, and whoever finds nothing, is told where that is.

use serde_json::{Value, json};

use super::call::Answer;
use super::row::Row;

pub fn told(place: Option<String>, row: &Row, answer: Answer) -> Answer {
    let Some(place) = place else { return answer };
    let words = format!("This is {place}.");
    match answer {
        Ok(mut answer) if opens(row) || finds_nothing(row, &answer) => {
            match answer["next"].as_array_mut() {
                Some(next) => next.push(json!(words)),
                None => answer["next"] = json!([words]),
            }
            Ok(answer)
        }
        Err(mut error) if error["code"] == "not-found" => {
            let hint = error["hint"].as_str().map(|hint| format!("{hint} ")).unwrap_or_default();
            error["hint"] = json!(hint + &words);
            Err(error)
        }
        other => other,
    }
}

/// A route that changes something and names nothing that is there makes something new.
fn opens(row: &Row) -> bool {
    row.method.changes() && is_about_all(row)
}

fn finds_nothing(row: &Row, answer: &Value) -> bool {
    is_about_all(row) && answer[row.items].as_array().is_some_and(Vec::is_empty)
}

fn is_about_all(row: &Row) -> bool {
    !row.path.contains('{')
}
