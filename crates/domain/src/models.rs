//! Which model a person means.

use crate::agent::Tier;
use crate::ids::ModelName;

/// Words that vendors put into the names of their small models, and of their
/// largest ones.
const FAST: [&str; 12] = [
    "nano", "tiny", "micro", "mini", "small", "haiku", "flash", "lite", "light", "instant", "fast",
    "air",
];
const STRONG: [&str; 7] = ["opus", "pro", "max", "ultra", "large", "heavy", "super"];
/// Words in the names of models that do something else than talk.
const SILENT: [&str; 9] =
    ["embed", "rerank", "minilm", "bge", "tts", "image", "audio", "whisper", "moderation"];
/// Models of at most so many billion parameters are fast, of at least so many strong.
const FAST_BILLIONS: f64 = 4.0;
const STRONG_BILLIONS: f64 = 30.0;

/// Models of fewer parameters show how a board works, and no more.
const LEAST_BILLIONS: f64 = 0.2;

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
            Err(format!("several providers have {written:?}: {}", names.join(", ")))
        }
    }
}

/// A full name that its provider, which has listed all its models, does not have.
pub fn missing(model: &ModelName, available: &[ModelName]) -> String {
    let (provider, name) = model.parts();
    let of_provider = available.iter().filter(|other| other.parts().0 == provider).cloned();
    let near = near(name, &of_provider.collect::<Vec<_>>());
    match near.is_empty() {
        true => format!("{provider} has no model {name:?}"),
        false => format!("{provider} has no model {name:?}; did you mean {}?", near.join(", ")),
    }
}

/// The tier that a vendor's own word for one means, where no model is called that.
pub fn called_tier(written: &str, available: &[ModelName]) -> Option<Tier> {
    let is_model = |name: &ModelName| name.parts().1 == written.trim();
    if available.iter().any(is_model) {
        return None;
    }
    match written.trim().to_lowercase().as_str() {
        "haiku" => Some(Tier::Fast),
        "sonnet" => Some(Tier::Balanced),
        "opus" => Some(Tier::Strong),
        _ => None,
    }
}

fn unknown(written: &str, providers: &[String], available: &[ModelName]) -> String {
    let bare = written.split_once('/').map_or(written, |(_, model)| model);
    let near = near(bare, available);
    if !near.is_empty() {
        return format!("there is no model {written:?}; did you mean {}?", near.join(", "));
    }
    if available.is_empty() {
        return format!("there is no model {written:?}, and no provider has any");
    }
    let names = providers.join(", ");
    format!("there is no model {written:?} at any provider ({names})")
}

/// The names that are like this one, which has no provider in front.
fn near(bare: &str, available: &[ModelName]) -> Vec<String> {
    let bare = bare.to_lowercase();
    let bare = bare.as_str();
    let length = bare.chars().count();
    // Two letters that changed places are two differences.
    let most = (length / 3).max(2).min(length / 2);
    let mut scored: Vec<(usize, &ModelName)> = available
        .iter()
        .filter_map(|name| {
            let own = name.parts().1.to_lowercase();
            let base = own.split(':').next().unwrap_or(&own);
            let distance = distance(bare, &own).min(distance(bare, base));
            let close = own.contains(bare) || distance <= most;
            close.then_some((distance, name))
        })
        .collect();
    scored.sort();
    scored.into_iter().take(NEAR).map(|(_, name)| name.0.clone()).collect()
}

/// Those that are asked where nobody has named any: neither the very smallest nor dated versions
/// of one that is there without its date, unless there is nothing else.
pub fn usual(available: &[ModelName]) -> Vec<ModelName> {
    let is_large = |name: &ModelName| {
        parameters(&name.parts().1.to_lowercase()).is_none_or(|size| size >= LEAST_BILLIONS)
    };
    let is_usual = |name: &&ModelName| is_large(name) && !is_dated_copy(name, available);
    let usual: Vec<ModelName> = available.iter().filter(is_usual).cloned().collect();
    if usual.is_empty() { available.to_vec() } else { usual }
}

/// `gpt-4o-2024-11-20` and `gpt-4-0613`, where `gpt-4o` and `gpt-4` are there.
fn is_dated_copy(name: &ModelName, available: &[ModelName]) -> bool {
    let date = |rest: &str| {
        let digits = rest.chars().filter(char::is_ascii_digit).count();
        matches!(digits, 4 | 6 | 8) && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
    };
    let is_its_copy = |other: &ModelName| {
        let rest = name.0.strip_prefix(&other.0);
        rest.and_then(|rest| rest.strip_prefix('-')).is_some_and(date)
    };
    available.iter().any(is_its_copy)
}

/// The model that a tier means when nobody has said: of the provider that comes
/// first, the first model whose name speaks for that tier, else of the nearest one.
pub fn of_tier(tier: Tier, available: &[ModelName]) -> Option<&ModelName> {
    let talks = |name: &&ModelName| {
        let own = name.parts().1.to_lowercase();
        !SILENT.iter().any(|word| own.contains(word))
    };
    let first = available.iter().find(talks).or(available.first())?;
    let ours = available.iter().filter(talks);
    let ours: Vec<&ModelName> = ours.filter(|name| name.parts().0 == first.parts().0).collect();
    // Between two neighbours the smaller one costs less when it is wrong.
    let order = match tier {
        Tier::Fast => [Tier::Fast, Tier::Balanced, Tier::Strong],
        Tier::Balanced => [Tier::Balanced, Tier::Fast, Tier::Strong],
        Tier::Strong => [Tier::Strong, Tier::Balanced, Tier::Fast],
    };
    let of = |tier: Tier| ours.iter().copied().find(|name| tier_of(name.parts().1) == tier);
    order.into_iter().find_map(of).or(Some(first))
}

/// What a model's own name says about it: a word for small wins over everything
/// else, because vendors put it behind the name of the large one.
fn tier_of(name: &str) -> Tier {
    let name = name.to_lowercase();
    let words: Vec<&str> = words(&name).collect();
    let billions = parameters(&name);
    let says = |all: &[&str]| words.iter().any(|word| all.contains(word));
    if says(&FAST) || billions.is_some_and(|size| size <= FAST_BILLIONS) {
        return Tier::Fast;
    }
    let flagship = match words.as_slice() {
        ["gpt", version, ..] => version.starts_with('5'),
        ["o1" | "o3", ..] => true,
        [..] => false,
    };
    if says(&STRONG) || flagship || billions.is_some_and(|size| size >= STRONG_BILLIONS) {
        return Tier::Strong;
    }
    Tier::Balanced
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    let own = name.rsplit('/').next().unwrap_or(name);
    own.split(|letter: char| !letter.is_alphanumeric() && letter != '.')
}

/// In billions, as a name in small letters says it.
fn parameters(name: &str) -> Option<f64> {
    words(name).filter_map(billions).reduce(f64::max)
}

/// Parameters in billions: `70b`, `1.5b`, `8x7b`, `135m`, `1t`, and `e4b`, which
/// Gemma has.
fn billions(word: &str) -> Option<f64> {
    let word = word.strip_prefix('e').unwrap_or(word);
    let (size, unit) = match word.chars().last()? {
        'm' => (word.strip_suffix('m')?, 0.001),
        'b' => (word.strip_suffix('b')?, 1.0),
        't' => (word.strip_suffix('t')?, 1000.0),
        _ => return None,
    };
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| plain(text));
    match size.split_once('x') {
        Some((experts, each)) => Some(number(experts)? * number(each)? * unit),
        None => Some(number(size)? * unit),
    }
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
    fn what_a_provider_does_not_have_is_explained_by_what_it_has() {
        let available = ["ollama/llama3:8b", "openrouter/meta/llama-4", "openrouter/z-ai/glm"]
            .map(|name| ModelName(name.into()));
        for (name, expected) in [
            (
                "openrouter/meta/lama-4",
                "openrouter has no model \"meta/lama-4\"; did you mean openrouter/meta/llama-4?",
            ),
            ("ollama/meta/llama-4", "ollama has no model \"meta/llama-4\""),
        ] {
            assert_eq!(missing(&ModelName(name.into()), &available), expected);
        }
    }

    #[test]
    fn a_written_name_is_resolved_or_explained() {
        check("ollama/llama3.2", Ok("ollama/llama3.2"));
        check("openai/not-listed", Ok("openai/not-listed"));
        check("llama3.2", Ok("ollama/llama3.2:latest"));
        check(" qwen3:8b ", Ok("ollama/qwen3:8b"));
        check("meta/llama-4", Ok("openrouter/meta/llama-4"));
        check("gpt-5", Err("several providers have \"gpt-5\": openai/gpt-5, openrouter/gpt-5"));
        check(
            "lama3.2",
            Err("there is no model \"lama3.2\"; did you mean ollama/llama3.2:latest?"),
        );
        check("qewn3", Err("there is no model \"qewn3\"; did you mean ollama/qwen3:8b?"));
        check(
            "claude",
            Err("there is no model \"claude\" at any provider (ollama, openai, openrouter)"),
        );
    }

    #[test]
    fn a_vendors_word_is_a_tier_where_no_model_is_called_that() {
        let check = |written: &str, available: &[&str], tier: Option<Tier>| {
            let all = available.iter().map(|name| ModelName((*name).to_owned()));
            assert_eq!(called_tier(written, &all.collect::<Vec<_>>()), tier, "{written}");
        };
        check("haiku", &[], Some(Tier::Fast));
        check(" Sonnet ", &["ollama/qwen3:8b"], Some(Tier::Balanced));
        check("opus", &["anthropic/claude-opus-4-1"], Some(Tier::Strong));
        check("sonnet", &["claude/sonnet"], None);
        // Which of the two is for the one who asks to say.
        check("sonnet", &["claude/sonnet", "mine/sonnet"], None);
        check("gpt", &[], None);
        check("claude/sonnet", &[], None);
    }

    #[test]
    fn a_models_name_tells_its_tier() {
        let names = [
            (Tier::Fast, "gpt-5-mini gpt-5-nano gpt-4o-mini gpt-4.1-nano o4-mini"),
            (Tier::Fast, "claude-haiku-4-5 claude-3-5-haiku-20241022 haiku"),
            (Tier::Fast, "gemini-2.5-flash gemini-2.5-flash-lite mistral-small-latest"),
            (Tier::Fast, "llama3.2:3b gemma3:4b qwen2.5:1.5b smollm2-135m gemma3n:e4b phi3:mini"),
            (Tier::Fast, "meta-llama/llama-3.2-1b-instruct grok-4-fast nemotron-3-nano:30b"),
            (Tier::Balanced, "gpt-4o gpt-4.1 claude-sonnet-4-5 sonnet default llama3.2:latest"),
            (Tier::Balanced, "qwen3:8b gemma3:27b gpt-oss:20b deepseek-chat ministral-8b-latest"),
            (Tier::Balanced, "llama-3.1-8b-instruct-q4_k_m qwen2.5-7b-instruct-1m codestral:22b"),
            (Tier::Strong, "gpt-5 gpt-5.1 gpt-5-codex gpt-5-pro o1 o3 o1-pro"),
            (Tier::Strong, "claude-opus-4-1 opus gemini-2.5-pro mistral-large-latest qwen3-max"),
            (Tier::Strong, "llama3.3:70b mixtral:8x7b gpt-oss-120b deepseek-r1:671b kimi-k2:1t"),
        ];
        for (tier, names) in names {
            for name in names.split(' ') {
                assert_eq!(tier_of(name), tier, "{name}");
            }
        }
    }

    #[test]
    fn whoever_names_no_model_gets_one_of_the_usual() {
        let check = |available: &[&str], expected: &[&str]| {
            let named = |names: &[&str]| -> Vec<ModelName> {
                names.iter().map(|name| ModelName((*name).to_owned())).collect()
            };
            assert_eq!(usual(&named(available)), named(expected), "{available:?}");
        };
        check(&["local/smollm2-135m"], &["local/smollm2-135m"]);
        check(&["ollama/a", "local/smollm2-135m"], &["ollama/a"]);
        check(
            &["o/smollm2:135m", "local/gemma-270m", "local/qwen2.5-7b-instruct-1m"],
            &["local/gemma-270m", "local/qwen2.5-7b-instruct-1m"],
        );
        check(
            &[
                "o/gpt-4o-2024-11-20",
                "o/gpt-4o",
                "o/gpt-4-0613",
                "o/gpt-4",
                "o/opus-4-1",
                "o/opus-4",
            ],
            &["o/gpt-4o", "o/gpt-4", "o/opus-4-1", "o/opus-4"],
        );
        check(&["o/gpt-4-0613", "p/gpt-4"], &["o/gpt-4-0613", "p/gpt-4"]);
        check(&[], &[]);
    }

    fn check_tiers(available: &[&str], expected: [Option<&str>; 3]) {
        let names: Vec<ModelName> =
            available.iter().map(|name| ModelName((*name).to_owned())).collect();
        let found = Tier::ALL.map(|tier| of_tier(tier, &names).map(|name| name.0.as_str()));
        assert_eq!(found, expected, "{available:?}");
    }

    #[test]
    fn a_tier_means_a_model_of_the_first_provider() {
        check_tiers(&[], [None; 3]);
        check_tiers(&["lab/x"], [Some("lab/x"); 3]);
        check_tiers(
            &["a/gpt-5", "a/gpt-5-mini", "a/gpt-5-nano", "a/gpt-4o", "b/opus"],
            [Some("a/gpt-5-mini"), Some("a/gpt-4o"), Some("a/gpt-5")],
        );
        // The nearest tier, and of two that are as near the smaller one.
        check_tiers(
            &["o/qwen3:32b", "o/gemma3:4b", "b/sonnet"],
            [Some("o/gemma3:4b"), Some("o/gemma3:4b"), Some("o/qwen3:32b")],
        );
        check_tiers(
            &["o/qwen3:8b", "o/gemma3:4b"],
            [Some("o/gemma3:4b"), Some("o/qwen3:8b"), Some("o/qwen3:8b")],
        );
        // What cannot talk is passed over, unless there is nothing else.
        check_tiers(&["o/mxbai-embed-large:latest", "o/llama3.3:70b"], [Some("o/llama3.3:70b"); 3]);
        check_tiers(&["o/nomic-embed-text:latest", "p/haiku"], [Some("p/haiku"); 3]);
        check_tiers(&["o/nomic-embed-text:latest"], [Some("o/nomic-embed-text:latest"); 3]);
    }
}
