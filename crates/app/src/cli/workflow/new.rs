//! `plenary workflow new`: a file to start from, and the schema for editors.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plenary_domain::workflow::{self, Checked};

use crate::api::ApiError;
use crate::cli::{exit, usage};
use crate::terminal;

const SCHEMA: &str = "workflow.schema.json";
/// By this comment editors find the schema.
const MARK: &str = "# yaml-language-server: $schema=workflow.schema.json\n";

#[derive(Args)]
pub struct New {
    /// Its name; written to NAME.yaml
    #[arg(value_name = "NAME")]
    name: String,
    /// Start from an example
    #[arg(long, value_enum, value_name = "EXAMPLE")]
    from: Option<Example>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Example {
    /// Specialists decide a question on a whiteboard; the record includes dissent
    Adr,
    /// A change is reviewed from several angles, and the outcome is written to a file
    ReviewADiff,
    /// A board advises, and a person approves
    PanelThenPerson,
    /// Every week a council talks for a day, and the minutes are written up
    WeeklyCouncil,
}

impl Example {
    fn name(self) -> &'static str {
        match self {
            Example::Adr => "adr",
            Example::ReviewADiff => "review-a-diff",
            Example::PanelThenPerson => "panel-then-person",
            Example::WeeklyCouncil => "weekly-council",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Example::Adr => include_str!("../../../../../examples/adr.yaml"),
            Example::ReviewADiff => include_str!("../../../../../examples/review-a-diff.yaml"),
            Example::PanelThenPerson => {
                include_str!("../../../../../examples/panel-then-person.yaml")
            }
            Example::WeeklyCouncil => include_str!("../../../../../examples/weekly-council.yaml"),
        }
    }

    /// The example under another name.
    fn named(self, name: &str) -> String {
        let own = self.name();
        let text = self.text().replace(&format!("examples/{own}.yaml"), &format!("{name}.yaml"));
        let text = text.replacen(&format!("\nname: {own}\n"), &format!("\nname: {name}\n"), 1);
        format!("{MARK}{text}")
    }
}

impl New {
    pub fn run(&self) -> Result<u8, ApiError> {
        let name = &self.name;
        let text = match self.from {
            Some(example) => example.named(name),
            None => MARK.to_owned() + &include_str!("new.yaml").replace("NAME", name),
        };
        let Checked { definition, problems } = workflow::check(&text);
        if let Some(problem) = problems.first() {
            return Err(usage(format!("NAME: {}", problem.message)));
        }
        let inputs = definition.map(|definition| definition.inputs).unwrap_or_default();
        let needed = inputs.iter().filter(|input| input.required && input.default.is_none());
        let needed: String = needed.map(|input| format!(" --input {}=…", input.name)).collect();
        let file = PathBuf::from(format!("{name}.yaml"));
        write(&file, &text)?;
        if !Path::new(SCHEMA).exists() {
            let schema = serde_json::to_string_pretty(&workflow::schema()).unwrap_or_default();
            write(Path::new(SCHEMA), &(schema + "\n"))?;
        }
        let file = file.display();
        terminal::say(&format!("Written to {file}"));
        for (command, more) in [("check", ""), ("test", ""), ("run", needed.as_str())] {
            terminal::note(&format!("  → plenary workflow {command} {file}{more}"));
        }
        Ok(exit::DONE)
    }
}

/// Nothing is overwritten.
fn write(file: &Path, text: &str) -> Result<(), ApiError> {
    let created = std::fs::File::create_new(file);
    let written =
        created.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| {
        let shown = file.display();
        usage(match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                format!("{shown} already exists; choose another name")
            }
            _ => format!("cannot write {shown}: {error}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_can_be_called_otherwise() {
        for example in Example::value_variants() {
            let text = example.named("mine");
            let Checked { definition, problems } = workflow::check(&text);
            assert_eq!(definition.map(|definition| definition.name).as_deref(), Some("mine"));
            assert_eq!(problems, []);
            assert!(!text.contains("examples/"), "{text}");
        }
    }
}
