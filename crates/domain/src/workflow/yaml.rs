//! YAML as a tree in which every node knows its place.
//!
//! The parser hands out events one by one and never calls itself, so depth, size and what
//! aliases expand to are bounded here while the tree grows. JSON is read as the YAML that
//! it is.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

use super::problem::{At, Problems};
use crate::limits;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Node {
    pub at: At,
    pub data: Data,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Key {
    pub at: At,
    pub name: String,
}

impl Node {
    /// What it is, in a word for a person.
    pub fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "true or false",
            Data::Number(_) => "a number",
            Data::Text(_) => "a string",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::List(_) | Data::Map(_) => None,
        }
    }

    pub fn json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(is) => Value::Bool(*is),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => items.iter().map(Node::json).collect(),
            Data::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.name.clone(), value.json()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// Lists and maps in one another, itself included.
    fn depth(&self) -> usize {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => 0,
            Data::List(items) => items.iter().map(Node::depth).max().unwrap_or(0) + 1,
            Data::Map(entries) => {
                entries.iter().map(|(_, value)| value.depth()).max().unwrap_or(0) + 1
            }
        }
    }

    /// Nodes in it, itself included.
    fn size(&self) -> usize {
        match &self.data {
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => 1,
            Data::List(items) => items.iter().fold(1, |sum, item| sum + item.size()),
            Data::Map(entries) => entries.iter().fold(1, |sum, (_, value)| sum + 1 + value.size()),
        }
    }
}

/// The one document of a text. `None`: it is not even YAML, and the problem says why.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Node> {
    if text.len() > limits::WORKFLOW_BYTES {
        let message = format!("the file is longer than {} bytes", limits::WORKFLOW_BYTES);
        problems.error(At::START, "", message);
        return None;
    }
    let mut tree = Tree { problems, open: vec![], anchors: BTreeMap::new(), nodes: 0, root: None };
    for event in Parser::new_from_str(text) {
        let stop = match event {
            Ok((event, span)) => tree.take(event, at(span.start)),
            Err(error) => Err((at(*error.marker()), format!("this is not YAML: {}", error.info()))),
        };
        if let Err((at, message)) = stop {
            tree.problems.error(at, "", message);
            return None;
        }
    }
    let root = tree.root;
    if root.is_none() {
        problems.error(At::START, "", "the file is empty");
    }
    root
}

fn at(marker: Marker) -> At {
    At { line: marker.line().max(1) as u32, column: marker.col() as u32 + 1 }
}

struct Tree<'a> {
    problems: &'a mut Problems,
    /// Lists and maps that have begun and not ended, the innermost last.
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    root: Option<Node>,
}

struct Open {
    node: Node,
    anchor: usize,
    /// In a map: the key whose value comes next.
    key: Option<Key>,
}

/// Why reading ends at once.
type Stop = (At, String);

impl Tree<'_> {
    fn take(&mut self, event: Event<'_>, at: At) -> Result<(), Stop> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => {
                Err((at, "there is a second document; a file can contain only one workflow".into()))
            }
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err((at, "this alias refers to itself".into()));
                };
                self.count(at, node.size(), node.depth())?;
                self.place(Node { at, ..node }, 0)
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(at, 1, 0)?;
                let data = self.scalar(text.into_owned(), style, tag.as_deref(), at);
                self.place(Node { at, data }, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.open(Node { at, data: Data::List(vec![]) }, anchor, tag.as_deref())
            }
            Event::MappingStart(anchor, tag) => {
                self.open(Node { at, data: Data::Map(vec![]) }, anchor, tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { node, anchor, .. }) => self.place(node, anchor),
                None => Ok(()),
            },
        }
    }

    fn open(&mut self, node: Node, anchor: usize, tag: Option<&Tag>) -> Result<(), Stop> {
        self.count(node.at, 1, 1)?;
        self.refuse_tag(tag, node.at);
        self.open.push(Open { node, anchor, key: None });
        Ok(())
    }

    /// So many more values, and lists and maps so deep in those that are open.
    fn count(&mut self, at: At, nodes: usize, depth: usize) -> Result<(), Stop> {
        self.nodes += nodes;
        if self.nodes > limits::WORKFLOW_NODES {
            let most = limits::WORKFLOW_NODES;
            return Err((at, format!("the file has more than {most} values, aliases included")));
        }
        if self.open.len() + depth > limits::WORKFLOW_DEPTH {
            let most = limits::WORKFLOW_DEPTH;
            return Err((at, format!("lists and maps are nested deeper than {most} levels")));
        }
        Ok(())
    }

    fn place(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(Open { node: parent, key, .. }) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut parent.data {
            Data::List(items) => items.push(node),
            Data::Map(entries) => match key.take() {
                Some(key) if entries.iter().any(|(other, _)| other.name == key.name) => {
                    let message = format!("`{}` is given twice", key.name);
                    self.problems.error(key.at, "", message);
                }
                Some(key) => entries.push((key, node)),
                None => {
                    let name = match node.data {
                        Data::Text(text) => text,
                        Data::Bool(is) => is.to_string(),
                        Data::Number(number) => number.to_string(),
                        Data::Null | Data::List(_) | Data::Map(_) => {
                            return Err((node.at, "a key must be a word".into()));
                        }
                    };
                    *key = Some(Key { at: node.at, name });
                }
            },
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => {}
        }
        Ok(())
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, at: At) {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            self.problems.error(at, "", format!("tags such as `{tag}` are not supported"));
        }
    }

    fn scalar(&mut self, text: String, style: ScalarStyle, tag: Option<&Tag>, at: At) -> Data {
        self.refuse_tag(tag, at);
        let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
        if style != ScalarStyle::Plain || is_text {
            return Data::Text(text);
        }
        match text.as_str() {
            "" | "~" | "null" | "Null" | "NULL" => Data::Null,
            "true" | "True" | "TRUE" => Data::Bool(true),
            "false" | "False" | "FALSE" => Data::Bool(false),
            plain => number(plain).map_or(Data::Text(text), Data::Number),
        }
    }
}

/// Numbers as YAML 1.2 has them; what JSON cannot hold stays a text.
fn number(plain: &str) -> Option<Number> {
    let radix = |prefix: &str, base: u32| {
        let digits = plain.strip_prefix(prefix)?;
        i64::from_str_radix(digits, base).ok().map(Number::from)
    };
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(number);
    }
    let digits = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return plain.parse::<i64>().ok().map(Number::from);
    }
    let is_float = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    plain.parse::<f64>().ok().filter(|_| is_float).and_then(Number::from_f64)
}
