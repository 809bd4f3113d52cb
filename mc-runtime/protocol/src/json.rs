//! Messages as text. Not by `serde_json`: its `impl PartialEq<Value> for u64` and the like, once they are among the crates of a test, make code ambiguous that is not without them.

use serde::Serialize;
use serde::de::DeserializeOwned;
use struson::reader::JsonStreamReader;
use struson::serde::{JsonReaderDeserializer, JsonWriterSerializer};
use struson::writer::{JsonStreamWriter, JsonWriter as _};

/// One line, without its end.
pub(crate) fn to_text(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let mut writer = JsonStreamWriter::new(&mut text);
    value.serialize(&mut JsonWriterSerializer::new(&mut writer)).expect("messages are plain data");
    writer.finish_document().expect("a `Vec` takes everything");
    String::from_utf8(text).expect("JSON is text")
}

/// The value that the text holds, and nothing besides.
pub(crate) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    use struson::reader::JsonReader as _;
    let mut reader = JsonStreamReader::new(text.as_bytes());
    let value = T::deserialize(&mut JsonReaderDeserializer::new(&mut reader)).map_err(|error| error.to_string())?;
    reader.consume_trailing_whitespace().map_err(|error| error.to_string())?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Message, Replayed, Task, TestInfo};
    use crate::options::Options;
    use crate::outcome::{Bound, Failure, FailureKind, Outcome, Site, Spot, Verdict};

    #[test]
    fn messages_are_read_as_they_were_written_and_as_any_json_is() {
        let failure = Failure {
            kind: FailureKind::DataRace,
            message: "\"both\"\n\t\u{1}\u{1f980}\\".to_owned(),
            thread: "T2".to_owned(),
            site: Some(Site { file: "src/lib.rs".to_owned(), line: 7 }),
            schedule: "mc1.abc".to_owned(),
            execution: u64::MAX,
        };
        let spot = Spot { thread: "main".to_owned(), site: None };
        let bounds = vec![Bound { spot: Some(spot), ..Bound::new("max_events", 1, 2) }];
        let outcome =
            Outcome { bounds, failures: vec![failure.clone()], seconds: 1.5e-7, ..Outcome::of(Verdict::Failed) };
        let options = vec![("expect".to_owned(), "leak".to_owned())];
        let test = TestInfo { name: "t".to_owned(), file: "f".to_owned(), line: 1, ignored: true, options };
        let messages = [
            Message::Started,
            Message::Tests { tests: vec![test] },
            Message::Progress { executions: 1, blocked: 0, estimate: Some(2.5), frontier: 3 },
            Message::Progress { executions: 1, blocked: 0, estimate: Some(1e18), frontier: 3 },
            Message::Progress { executions: 1, blocked: 0, estimate: None, frontier: 3 },
            Message::Failure(failure.clone()),
            Message::Done(outcome),
            Message::Replayed(Replayed::Failed(failure)),
            Message::Replayed(Replayed::Passed),
        ];
        for message in messages {
            let text = to_text(&message);
            assert_eq!(text.lines().count(), 1);
            let again: Message = from_text(&text).unwrap();
            assert_eq!(format!("{again:?}"), format!("{message:?}"));
            let other: Message = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{other:?}"), format!("{message:?}"));
            let other: Message = from_text(&serde_json::to_string_pretty(&message).unwrap()).unwrap();
            assert_eq!(format!("{other:?}"), format!("{message:?}"));
        }
        let task = Task::Check { options: Options::default() };
        let again: Task = from_text(&to_text(&task)).unwrap();
        assert_eq!(format!("{again:?}"), format!("{task:?}"));
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in ["", "{", "\"sparkle\"", "{\"sparkle\":{}}", "\"started\" more", "running 1 test"] {
            assert!(from_text::<Message>(text).is_err(), "{text}");
        }
        // Fields that are not known belong to a newer version.
        assert!(from_text::<Message>("{\"tests\":{\"more\":[1,{}],\"tests\":[]}}").is_ok());
    }
}
