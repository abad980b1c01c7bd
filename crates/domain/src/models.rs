//! Which model a person means.

use crate::ids::ModelName;

/// How many near matches an error lists.
const NEAR: usize = 5;

/// Turns what a person wrote into a full name. A name with a known provider in
/// front is taken as it is, because lists of models are not always complete; a
/// bare name must occur exactly once among those available.
pub fn resolve(
    written: &str,
    providers: &[String],
    available: &[ModelName],
) -> Result<ModelName, String> {
    let written = written.trim();
    let full = ModelName(written.to_owned());
    let (provider, model) = full.parts();
    if !model.is_empty() && providers.iter().any(|known| known == provider) {
        return Ok(full);
    }
    let same = |wanted: &str| -> Vec<&ModelName> {
        available.iter().filter(|name| name.parts().1 == wanted).collect()
    };
    let mut found = same(written);
    if found.is_empty() && !written.contains(':') {
        // Ollama calls the default version of a model `name:latest`.
        found = same(&format!("{written}:latest"));
    }
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(unknown(written, providers, available)),
        many => {
            let names: Vec<&str> = many.iter().map(|name| name.0.as_str()).collect();
            Err(format!("{written:?} is offered by several providers: {}", names.join(", ")))
        }
    }
}

fn unknown(written: &str, providers: &[String], available: &[ModelName]) -> String {
    let near = near(written, available);
    if !near.is_empty() {
        return format!("there is no model {written:?}; did you mean {}?", near.join(", "));
    }
    if available.is_empty() {
        return format!("there is no model {written:?}, and no provider lists any");
    }
    let names = providers.join(", ");
    format!("there is no model {written:?} at any provider ({names})")
}

fn near(written: &str, available: &[ModelName]) -> Vec<String> {
    let wanted = written.to_lowercase();
    let bare = wanted.split_once('/').map_or(wanted.as_str(), |(_, model)| model);
    let mut scored: Vec<(usize, &ModelName)> = available
        .iter()
        .filter_map(|name| {
            let own = name.parts().1.to_lowercase();
            let base = own.split(':').next().unwrap_or(&own);
            let distance = distance(bare, &own).min(distance(bare, base));
            let close = own.contains(bare) || distance <= bare.chars().count() / 3;
            close.then_some((distance, name))
        })
        .collect();
    scored.sort();
    scored.into_iter().take(NEAR).map(|(_, name)| name.0.clone()).collect()
}

/// Letters to insert, delete or change between two words.
pub fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let change = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(written: &str, expected: Result<&str, &str>) {
        let providers = ["ollama", "openai", "openrouter"].map(String::from);
        let available = [
            "ollama/llama3.2:latest",
            "ollama/qwen3:8b",
            "openai/gpt-5",
            "openrouter/gpt-5",
            "openrouter/meta/llama-4",
        ]
        .map(|name| ModelName(name.into()));
        let found = resolve(written, &providers, &available);
        let expected = expected.map(|name| ModelName(name.into())).map_err(str::to_owned);
        assert_eq!(found, expected, "{written}");
    }

    #[test]
    fn a_written_name_is_resolved_or_explained() {
        check("ollama/llama3.2", Ok("ollama/llama3.2"));
        check("openai/not-listed", Ok("openai/not-listed"));
        check("llama3.2", Ok("ollama/llama3.2:latest"));
        check(" qwen3:8b ", Ok("ollama/qwen3:8b"));
        check("meta/llama-4", Ok("openrouter/meta/llama-4"));
        check(
            "gpt-5",
            Err("\"gpt-5\" is offered by several providers: openai/gpt-5, openrouter/gpt-5"),
        );
        check(
            "lama3.2",
            Err("there is no model \"lama3.2\"; did you mean ollama/llama3.2:latest?"),
        );
        check(
            "claude",
            Err("there is no model \"claude\" at any provider (ollama, openai, openrouter)"),
        );
    }
}
