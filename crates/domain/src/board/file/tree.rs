//! TOML and JSON as one tree. In TOML every node knows its place.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits;
use crate::reject::Wrong;

pub struct Node {
    pub at: Option<At>,
    pub data: Data,
}

pub enum Data {
    Nothing,
    Bool(bool),
    Whole(i64),
    Number(f64),
    Text(String),
    Date,
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

pub struct Key {
    pub at: Option<At>,
    pub name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct At {
    line: usize,
    column: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl Node {
    /// What it is, in a word for a person.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Nothing => "nothing",
            Data::Bool(_) => "true or false",
            Data::Whole(_) | Data::Number(_) => "a number",
            Data::Text(_) => "a string",
            Data::Date => "a date",
            Data::List(_) => "a list",
            Data::Map(_) => "a table",
        }
    }
}

/// The tree of a file, as far as it could be read, and what is wrong with how it is
/// written. Without a tree that is all there is to say.
pub fn parse(text: &str) -> (Option<Node>, Vec<Wrong>) {
    let fault = |problem: String| (None, vec![Wrong::new("file", problem)]);
    let (length, most) = (text.len(), limits::BOARD_FILE_BYTES);
    if length > most {
        return fault(format!("is {length} bytes long; at most {most} are allowed"));
    }
    match text.trim_start().strip_prefix('\u{feff}').unwrap_or(text.trim_start()).chars().next() {
        None => fault("is empty".to_owned()),
        Some('{') => json(text),
        Some(_) => toml(text),
    }
}

fn json(text: &str) -> (Option<Node>, Vec<Wrong>) {
    match serde_json::from_str::<Node>(text.trim_start_matches('\u{feff}')) {
        Ok(node) => (Some(node), vec![]),
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let words = error.to_string();
            let words = words.split(" at line ").next().unwrap_or_default();
            let problem = format!("is not JSON: {words} (line {line}, column {column})");
            (None, vec![Wrong::new("file", problem)])
        }
    }
}

/// Whatever is wrong with how it is written is told at once. Where that is so, what could
/// be read of the rest is looked at too.
fn toml(text: &str) -> (Option<Node>, Vec<Wrong>) {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let fault = |error: &toml::de::Error| {
        let at = error.span().map(|span| format!(" ({})", lines.at(span.start)));
        let words = error.message().trim().replace('\n', ", ");
        Wrong::new("file", format!("is not TOML: {words}{}", at.unwrap_or_default()))
    };
    let wrong: Vec<Wrong> = errors.iter().map(fault).collect();
    let span = table.span();
    let data = map(table.get_ref(), &lines);
    (Some(Node { at: Some(lines.at(span.start)), data }), wrong)
}

fn map(table: &DeTable<'_>, lines: &Lines<'_>) -> Data {
    let mut entries: Vec<(usize, (Key, Node))> = table
        .iter()
        .map(|(key, value)| {
            let start = key.span().start;
            let key = Key { at: Some(lines.at(start)), name: key.get_ref().to_string() };
            (start, (key, node(value, lines)))
        })
        .collect();
    entries.sort_by_key(|(start, _)| *start);
    Data::Map(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let data = match value.get_ref() {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(number) => {
            let found = i64::from_str_radix(number.as_str(), number.radix());
            found.map_or(Data::Number(f64::INFINITY), Data::Whole)
        }
        DeValue::Float(number) => Data::Number(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(is) => Data::Bool(*is),
        DeValue::Datetime(_) => Data::Date,
        DeValue::Array(items) => Data::List(items.iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(table) => map(table, lines),
    };
    Node { at: Some(lines.at(value.span().start)), data }
}

/// Where lines begin.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Lines { text, starts: [0].into_iter().chain(starts).collect() }
    }

    fn at(&self, byte: usize) -> At {
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.text.get(start..byte).map_or(1, |before| before.chars().count() + 1);
        At { line, column }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let data = from.deserialize_any(Json)?;
        Ok(Node { at: None, data })
    }
}

struct Json;

impl<'de> Visitor<'de> for Json {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Data, E> {
        Ok(Data::Nothing)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Data, E> {
        Ok(Data::Bool(is))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Data, E> {
        Ok(Data::Whole(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Data, E> {
        Ok(i64::try_from(number).map_or(Data::Number(number as f64), Data::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Data, E> {
        Ok(Data::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Data::List(list))
    }

    /// A key that stands there twice is kept twice, so that it can be told of.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Data, A::Error> {
        let mut map = vec![];
        while let Some((name, value)) = entries.next_entry()? {
            map.push((Key { at: None, name }, value));
        }
        Ok(Data::Map(map))
    }
}
