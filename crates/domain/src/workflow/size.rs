//! How large a value of a run may be. A log must be able to hold it and give it back, and
//! readers of JSON go only so deep.

use serde::Serialize;
use serde_json::Value;

use crate::limits;

/// What is wrong with the size of a value, if anything is.
pub(crate) fn too_large(value: &Value) -> Option<String> {
    let most = limits::OUTPUT_DEPTH;
    if depth(value, most) > most {
        return Some(format!("this is nested deeper than {most} levels"));
    }
    let (size, most) = (bytes(value), limits::OUTPUT_BYTES);
    (size > most).then(|| format!("this is too large: {size} bytes; at most {most} are allowed"))
}

fn bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// Lists and maps in one another; what is deeper than `most` is not looked at.
fn depth(value: &Value, most: usize) -> usize {
    let inner = |values: &mut dyn Iterator<Item = &Value>| match most {
        0 => 1,
        most => 1 + values.map(|value| depth(value, most - 1)).max().unwrap_or(0),
    };
    match value {
        Value::Array(items) => inner(&mut items.iter()),
        Value::Object(map) => inner(&mut map.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_a_size_and_a_depth() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        let told = |value: &Value| too_large(value).unwrap_or_default();
        assert_eq!(told(&nested(limits::OUTPUT_DEPTH)), "");
        assert_eq!(told(&nested(limits::OUTPUT_DEPTH + 1)), "this is nested deeper than 32 levels");
        assert_eq!(told(&json!("x".repeat(262_142))), "");
        assert_eq!(
            told(&json!("x".repeat(262_143))),
            "this is too large: 262145 bytes; at most 262144 are allowed"
        );
    }
}
