//! Server-sent events as our own server writes them.

/// One event: its id if it has one, its name and its data.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServerEvent {
    pub id: Option<u64>,
    pub name: String,
    pub data: String,
}

/// Takes bytes in any portions and gives whole events.
#[derive(Default)]
pub struct Decoder {
    line: Vec<u8>,
    event: ServerEvent,
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        let mut events = vec![];
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let line = String::from_utf8_lossy(&line);
            if line.is_empty() {
                let event = std::mem::take(&mut self.event);
                if !event.name.is_empty() {
                    events.push(event);
                }
            } else if let Some((field, value)) = line.split_once(": ") {
                match field {
                    "id" => self.event.id = value.parse().ok(),
                    "event" => self.event.name = value.to_owned(),
                    "data" => self.event.data.push_str(value),
                    _ => {}
                }
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_portions_give_the_same_events() {
        let text =
            ": plenary\n\nid: 7\nevent: stopped\ndata: {\"a\":\"ü\"}\n\nevent: delta\ndata: {}\n\n";
        let expected = vec![
            ServerEvent { id: Some(7), name: "stopped".into(), data: "{\"a\":\"ü\"}".into() },
            ServerEvent { id: None, name: "delta".into(), data: "{}".into() },
        ];
        for size in 1..text.len() {
            let mut decoder = Decoder::default();
            let events: Vec<_> =
                text.as_bytes().chunks(size).flat_map(|chunk| decoder.push(chunk)).collect();
            assert_eq!(events, expected, "in portions of {size}");
        }
    }
}
