//! What stands between `{{ … }}`: minijinja, with less in it.
//!
//! Fuel bounds how many instructions a template takes, not what each of them makes. So
//! whatever could make much of little is left out or capped here: no assignments, no
//! macros, no functions, no `*` (which repeats texts), few concatenations, and what
//! comes out has a size. What is named in a template can be told without running it.

use std::collections::BTreeSet;
use std::io::{self, Write};

use minijinja::value::{Rest, Serde, Value as Jinja};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, filters, tests};
use serde_json::Value;

use super::problem::near;
use crate::limits;

const FILTERS: [&str; 37] = [
    "abs",
    "bool",
    "capitalize",
    "count",
    "d",
    "default",
    "dictsort",
    "first",
    "float",
    "groupby",
    "int",
    "items",
    "join",
    "last",
    "length",
    "lines",
    "list",
    "lower",
    "map",
    "max",
    "min",
    "reject",
    "rejectattr",
    "replace",
    "reverse",
    "round",
    "select",
    "selectattr",
    "sort",
    "split",
    "string",
    "sum",
    "times",
    "tojson",
    "trim",
    "unique",
    "upper",
];
const TESTS: [&str; 25] = [
    "boolean",
    "defined",
    "divisibleby",
    "endingwith",
    "eq",
    "even",
    "false",
    "float",
    "ge",
    "gt",
    "in",
    "integer",
    "iterable",
    "le",
    "lt",
    "mapping",
    "ne",
    "none",
    "number",
    "odd",
    "sequence",
    "startingwith",
    "string",
    "true",
    "undefined",
];
const TAGS: [&str; 6] = ["if", "elif", "else", "endif", "for", "endfor"];
const WORDS: [&str; 13] = [
    "and", "or", "not", "in", "is", "if", "elif", "else", "for", "endif", "endfor", "true", "false",
];

/// Whether a text is a template.
pub(crate) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

/// What a template needs to be rendered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Named {
    /// Paths such as `steps.board.id`.
    pub paths: BTreeSet<String>,
    /// It says what is to be when something is not there.
    pub guarded: bool,
}

/// Everything that can be known of a template before it runs.
pub(crate) fn look(text: &str) -> Result<Named, Vec<String>> {
    let mut wrong = vec![];
    let tokens = tokens(text);
    inspect(&tokens, &mut wrong);
    let environment = environment();
    let found = match whole(text) {
        Some(inner) => environment
            .compile_expression(inner)
            .map(|expression| expression.undeclared_variables(true)),
        None => {
            environment.template_from_str(text).map(|template| template.undeclared_variables(true))
        }
    };
    match found {
        Ok(paths) if wrong.is_empty() => {
            let guards = ["default", "d", "is", "if"];
            let guarded = tokens.iter().any(|token| guards.iter().any(|word| token.is_word(word)));
            // `loop` is there inside of loops.
            let paths = paths.into_iter().filter(|path| path != "loop").collect();
            Ok(Named { paths, guarded })
        }
        Ok(_) => Err(wrong),
        Err(error) => {
            wrong.push(words(&error));
            Err(wrong)
        }
    }
}

/// What a template comes to. One that is a single `{{ … }}` keeps its type.
pub(crate) fn render(text: &str, scope: &Value) -> Result<Value, String> {
    let environment = environment();
    let scope = Jinja::from(Serde(scope));
    let mut out = Capped { bytes: vec![] };
    let told = |error: Error| match out_of_size(&error) {
        true => too_large(),
        false => words(&error),
    };
    match whole(text) {
        Some(inner) => {
            let expression = environment.compile_expression(inner).map_err(told)?;
            let value = expression.eval(scope).map_err(told)?;
            if value.is_undefined() {
                return Err(format!("`{}` does not exist", inner.trim()));
            }
            serde_json::to_writer(&mut out, &value).map_err(|error| match error.is_io() {
                true => too_large(),
                false => format!("`{}` returns something that is not data: {error}", inner.trim()),
            })?;
            serde_json::from_slice(&out.bytes).map_err(|error| error.to_string())
        }
        None => {
            let template = environment.template_from_str(text).map_err(told)?;
            template.render_captured_to(scope, &mut out).map_err(told)?;
            Ok(Value::String(String::from_utf8_lossy(&out.bytes).into_owned()))
        }
    }
}

/// A text that names one secret and is otherwise as it stands: what is before the secret,
/// its name, and what is after it. A secret is put in where the request is sent, so no
/// expression can be worked out beside it.
pub(crate) fn secret(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (inner, after) = rest.split_once("}}")?;
    let name = inner.trim().strip_prefix("secrets.")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !is_template(before) && !is_template(after)).then_some((before, name, after))
}

/// The expression of a text that is one whole `{{ … }}` and nothing else.
fn whole(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    // `{{-` is a mark for the space before it, and no minus.
    if inner.starts_with('-') || inner.ends_with('-') {
        return None;
    }
    environment().compile_expression(inner).is_ok().then_some(inner)
}

fn environment<'source>() -> Environment<'source> {
    let mut env = Environment::empty();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(limits::TEMPLATE_FUEL));
    env.add_filter("abs", filters::abs);
    env.add_filter("bool", filters::bool);
    env.add_filter("capitalize", filters::capitalize);
    env.add_filter("count", filters::length);
    env.add_filter("d", filters::default);
    env.add_filter("default", filters::default);
    env.add_filter("dictsort", filters::dictsort);
    env.add_filter("first", filters::first);
    env.add_filter("float", filters::float);
    env.add_filter("groupby", filters::groupby);
    env.add_filter("int", filters::int);
    env.add_filter("items", filters::items);
    env.add_filter("join", join);
    env.add_filter("last", filters::last);
    env.add_filter("length", filters::length);
    env.add_filter("lines", filters::lines);
    env.add_filter("list", filters::list);
    env.add_filter("lower", filters::lower);
    env.add_filter("map", filters::map);
    env.add_filter("max", filters::max);
    env.add_filter("min", filters::min);
    env.add_filter("reject", filters::reject);
    env.add_filter("rejectattr", filters::rejectattr);
    env.add_filter("replace", replace);
    env.add_filter("reverse", filters::reverse);
    env.add_filter("round", filters::round);
    env.add_filter("select", filters::select);
    env.add_filter("selectattr", filters::selectattr);
    env.add_filter("sort", filters::sort);
    env.add_filter("split", filters::split);
    env.add_filter("string", filters::string);
    env.add_filter("sum", filters::sum);
    env.add_filter("times", times);
    env.add_filter("tojson", tojson);
    env.add_filter("trim", filters::trim);
    env.add_filter("unique", filters::unique);
    env.add_filter("upper", filters::upper);
    env.add_test("boolean", tests::is_boolean);
    env.add_test("defined", tests::is_defined);
    env.add_test("divisibleby", tests::is_divisibleby);
    env.add_test("endingwith", tests::is_endingwith);
    env.add_test("eq", tests::is_eq);
    env.add_test("even", tests::is_even);
    env.add_test("false", tests::is_false);
    env.add_test("float", tests::is_float);
    env.add_test("ge", tests::is_ge);
    env.add_test("gt", tests::is_gt);
    env.add_test("in", tests::is_in);
    env.add_test("integer", tests::is_integer);
    env.add_test("iterable", tests::is_iterable);
    env.add_test("le", tests::is_le);
    env.add_test("lt", tests::is_lt);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("ne", tests::is_ne);
    env.add_test("none", tests::is_none);
    env.add_test("number", tests::is_number);
    env.add_test("odd", tests::is_odd);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("startingwith", tests::is_startingwith);
    env.add_test("string", tests::is_string);
    env.add_test("true", tests::is_true);
    env.add_test("undefined", tests::is_undefined);
    env
}

/// What is not there is no empty list and no `null`.
fn there(value: &Jinja) -> Result<(), Error> {
    match value.is_undefined() {
        true => Err(Error::from(ErrorKind::UndefinedError)),
        false => Ok(()),
    }
}

/// The library's own would take a separator as often as there are items.
fn join(value: &Jinja, rest: Rest<Jinja>) -> Result<String, Error> {
    let between = rest.first().map(Jinja::to_string).unwrap_or_default();
    there(value)?;
    let mut joined = String::new();
    for (place, item) in value.try_iter()?.enumerate() {
        if place > 0 {
            joined.push_str(&between);
        }
        joined.push_str(&item.to_string());
        capped(joined.len())?;
    }
    Ok(joined)
}

fn replace(text: String, from: String, to: String) -> Result<String, Error> {
    let found = if from.is_empty() { text.len() + 1 } else { text.matches(&from).count() };
    capped(found.saturating_mul(to.len()).saturating_add(text.len()))?;
    Ok(text.replace(&from, &to))
}

fn times(value: f64, factor: f64) -> Jinja {
    let product = value * factor;
    let whole = product.fract() == 0.0 && product.abs() < 9e15;
    if whole { Jinja::from(product as i64) } else { Jinja::from(product) }
}

/// The library's own escapes for HTML, which a prompt is not.
fn tojson(value: &Jinja) -> Result<String, Error> {
    there(value)?;
    let mut out = Capped { bytes: vec![] };
    serde_json::to_writer_pretty(&mut out, value)
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    Ok(String::from_utf8_lossy(&out.bytes).into_owned())
}

fn capped(bytes: usize) -> Result<(), Error> {
    match bytes > limits::OUTPUT_BYTES {
        true => Err(Error::new(ErrorKind::InvalidOperation, TOO_LARGE)),
        false => Ok(()),
    }
}

const TOO_LARGE: &str = "more than the size limit";

fn too_large() -> String {
    format!("comes to more than {} bytes", limits::OUTPUT_BYTES)
}

fn out_of_size(error: &Error) -> bool {
    error.kind() == ErrorKind::WriteFailure || error.detail() == Some(TOO_LARGE)
}

struct Capped {
    bytes: Vec<u8>,
}

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > limits::OUTPUT_BYTES {
            return Err(io::Error::other(TOO_LARGE));
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn words(error: &Error) -> String {
    match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "takes too long to evaluate".to_owned(),
        (ErrorKind::UndefinedError, None) => "uses something that does not exist".to_owned(),
        (ErrorKind::UndefinedError, Some(detail)) => {
            format!("uses something that does not exist: {detail}")
        }
        (_, Some(detail)) => detail.to_owned(),
        (kind, None) => kind.to_string(),
    }
}

// ---------------------------------------------------------------------------
// What the library would only notice when it runs

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token<'a> {
    /// `{%`, with the word behind it.
    Tag(&'a str),
    Word(&'a str),
    Text(&'a str),
    Sign(char),
    /// `}}` or `%}`.
    End,
}

impl Token<'_> {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Token::Word(own) if *own == word)
    }
}

/// The tokens inside of all `{{ … }}` and `{% … %}`, as far as they matter here.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = vec![];
    let mut rest = text;
    while let Some(start) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let is_tag = rest[start..].starts_with("{%");
        let end = if is_tag { "%}" } else { "}}" };
        rest = rest[start + 2..].trim_start_matches(['-', '+']).trim_start();
        if is_tag {
            let (word, after) = word(rest);
            tokens.push(Token::Tag(word));
            rest = after;
        }
        while !rest.is_empty() && !rest.trim_start_matches('-').starts_with(end) {
            let Some(first) = rest.chars().next() else { break };
            rest = match first {
                '"' | '\'' => {
                    let (text, after) = quoted(&rest[1..], first);
                    tokens.push(Token::Text(text));
                    after
                }
                first if first.is_alphabetic() || first == '_' => {
                    let (word, after) = word(rest);
                    tokens.push(Token::Word(word));
                    after
                }
                first => {
                    if !first.is_whitespace() {
                        tokens.push(Token::Sign(first));
                    }
                    &rest[first.len_utf8()..]
                }
            };
        }
        tokens.push(Token::End);
        rest = rest.trim_start_matches('-').strip_prefix(end).unwrap_or(rest);
    }
    tokens
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

fn quoted(text: &str, mark: char) -> (&str, &str) {
    let mut escaped = false;
    for (place, letter) in text.char_indices() {
        if letter == mark && !escaped {
            return (&text[..place], &text[place + mark.len_utf8()..]);
        }
        escaped = letter == '\\' && !escaped;
    }
    (text, "")
}

fn inspect(tokens: &[Token<'_>], wrong: &mut Vec<String>) {
    let joins = tokens.iter().filter(|t| matches!(t, Token::Sign('~' | '+'))).count();
    if joins > limits::TEMPLATE_JOINS {
        let most = limits::TEMPLATE_JOINS;
        wrong.push(format!("joins {joins} texts with `~` or `+`; at most {most} are allowed"));
    }
    if tokens.contains(&Token::Sign('*')) {
        wrong.push("`*` is not available; write `x | times(2)`".into());
    }
    for (place, token) in tokens.iter().enumerate() {
        let before = |back: usize| place.checked_sub(back).and_then(|place| tokens.get(place));
        let after = |far: usize| tokens.get(place + far);
        match token {
            Token::Tag(tag) if !TAGS.contains(tag) => {
                wrong.push(format!("`{{% {tag} %}}` is not supported; use `if` or `for`"));
            }
            Token::Word(word) if before(1) == Some(&Token::Sign('|')) => {
                known("filter", word, &FILTERS, wrong);
                let given = match *word {
                    "map" => Some((after(2), &FILTERS[..], "filter")),
                    "select" | "reject" => Some((after(2), &TESTS[..], "test")),
                    "selectattr" | "rejectattr" => Some((after(4), &TESTS[..], "test")),
                    _ => None,
                };
                if let Some((Some(Token::Text(name)), all, what)) = given {
                    known(what, name, all, wrong);
                }
            }
            Token::Word("not") if before(1).is_some_and(|token| token.is_word("is")) => {}
            Token::Word(word)
                if before(1).is_some_and(|token| token.is_word("is"))
                    || (before(1).is_some_and(|token| token.is_word("not"))
                        && before(2).is_some_and(|token| token.is_word("is"))) =>
            {
                known("test", word, &TESTS, wrong);
            }
            Token::Word(word) if after(1) == Some(&Token::Sign('(')) && !WORDS.contains(word) => {
                wrong.push(format!(
                    "there is no function `{word}`; filters are written `x | {word}`"
                ));
            }
            Token::Tag(_) | Token::Word(_) | Token::Text(_) | Token::Sign(_) | Token::End => {}
        }
    }
}

fn known(what: &str, name: &str, all: &[&str], wrong: &mut Vec<String>) {
    if all.contains(&name) {
        return;
    }
    wrong.push(match near(name, all.iter().copied()).first() {
        Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
        None => format!("there is no {what} `{name}`; available: {}", all.join(", ")),
    });
}

#[cfg(test)]
mod tests_of_expressions {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<Value, &str>) {
        let scope = json!({
            "inputs": { "topic": "tea", "list": ["a", "b"], "n": 2, "no": null, "big": "x".repeat(200_000) },
            "steps": { "one": { "id": "b-1", "votes": [{ "vote": "accept" }, { "vote": "reject" }] } },
        });
        assert_eq!(
            render(text, &scope).map_err(|error| error.to_string()),
            expected.map_err(str::to_owned),
            "{text}"
        );
    }

    #[test]
    fn one_whole_expression_keeps_its_type() {
        check("{{ inputs.list }}", Ok(json!(["a", "b"])));
        check("{{ inputs.n == 2 }}", Ok(json!(true)));
        check("  {{ inputs.n }} ", Ok(json!(2)));
        check("{{ inputs.no }}", Ok(json!(null)));
        check("{{ {'a': {'b': inputs.n}} }}", Ok(json!({ "a": { "b": 2 } })));
        check("{{ '}} {{' }}", Ok(json!("}} {{")));
        check(
            "{{ steps.one.votes | selectattr('vote', 'eq', 'accept') | list | length }}",
            Ok(json!(1)),
        );
        check("{{ inputs.n | times(1.5) }}", Ok(json!(3)));
    }

    #[test]
    fn other_templates_are_texts() {
        check("{{ inputs.n }}{{ inputs.n }}", Ok(json!("22")));
        check("n is {{ inputs.n }}", Ok(json!("n is 2")));
        check("{{- inputs.n }}", Ok(json!("2")));
        check("{% for x in inputs.list %}- {{ x }}{% endfor %}", Ok(json!("- a- b")));
        check("{{ inputs.list | join(', ') }}!", Ok(json!("a, b!")));
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        check("{{ inputs.nothing }}", Err("`inputs.nothing` does not exist"));
        assert!(render("x {{ inputs.nothing }}", &json!({ "inputs": {} })).is_err());
        assert!(render("{{ inputs.no.more }}", &json!({ "inputs": { "no": null } })).is_err());
        check("{{ inputs.nothing | default('tea') }}", Ok(json!("tea")));
        let passes = |name: &&&str| {
            let text = format!("x {{{{ inputs.nothing | {name} }}}}");
            render(&text, &json!({ "inputs": {} })).is_ok()
        };
        let all: Vec<&&str> = FILTERS.iter().filter(passes).collect();
        assert_eq!(all, [&"d", &"default"]);
    }

    #[test]
    fn little_does_not_become_much() {
        let large = "comes to more than 262144 bytes";
        check("{{ inputs.big ~ inputs.big }}", Err(large));
        check("{{ inputs.big }}{{ inputs.big }}", Err(large));
        check("{{ inputs.big | replace('x', inputs.big) | length }}", Err(large));
        check("{{ inputs.big | list | join(inputs.big) | length }}", Err(large));
        check("{{ inputs.big | tojson ~ inputs.big }}", Err(large));
        let nested = "{% for a in inputs.big %}{% for b in inputs.big %}{% endfor %}{% endfor %}";
        check(nested, Err("takes too long to evaluate"));
    }

    #[test]
    fn what_would_fail_when_it_runs_is_seen_before() {
        let seen = |text: &str| look(text).map(|named| named.paths.into_iter().collect::<Vec<_>>());
        assert_eq!(
            seen("{% for p in steps.a %}{{ p.x }}{{ loop.index }}{% endfor %}{{ inputs.t }}"),
            Ok(vec!["inputs.t".into(), "steps.a".into()])
        );
        for wrong in [
            "{{ range(9) }}",
            "{{ 'x' * 9 }}",
            "{% set a = 1 %}",
            "{% macro a() %}{% endmacro %}",
            "{{ a | indent(9) }}",
            "{{ a | uper }}",
            "{{ a is evn }}",
            "{{ a is not evn }}",
            "{{ a.b() }}",
            "{{ a",
            "{{ }}",
            "{% if a %}",
            "{{ a | map('uper') }}",
            "{{ a | select('evn') }}",
            "{{ a | selectattr('x', 'equal') }}",
            "{{ a~a~a~a~a~a~a~a~a~a~a~a~a~a~a~a~a~a }}",
        ] {
            assert!(look(wrong).is_err(), "{wrong}");
        }
        for right in [
            "{% if a %} {{ (b | last).c }}{% endif %}",
            "{{ a if b is defined else (c) }}",
            "{{ not (a) }}",
            "{{ 'it''s' }} *",
            "{{ a | map(attribute='x') }}",
        ] {
            assert!(look(right).is_ok(), "{right}: {:?}", look(right));
        }
    }
}
