//! The book: every page of `docs/` as HTML without scripts, with the contents beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The page with the contents. It is the book's first page.
const CONTENTS: &str = "README.md";

/// Files that pages lead to, to be downloaded as they are.
const FILES: [&str; 2] = [".sql", ".json"];

/// The pages by their names, such as `recipes/adr`; the first one has none. Beside them the
/// files that they lead to.
pub fn pages(docs: &Path) -> io::Result<BTreeMap<String, String>> {
    let contents = std::fs::read_to_string(docs.join(CONTENTS))?;
    let nav = nav(&contents);
    let mut names = vec![];
    super::collect(docs, "", &mut names)?;
    let read = |name: &String| std::fs::read_to_string(docs.join(name));
    let pages = names.iter().filter(|name| name.ends_with(".md"));
    let pages = pages.map(|name| Ok((address(name), page(name, &read(name)?, &nav))));
    let files = names.iter().filter(|name| is_file(name));
    pages.chain(files.map(|name| Ok((name.clone(), read(name)?)))).collect()
}

fn is_file(name: &str) -> bool {
    FILES.iter().any(|end| name.ends_with(end))
}

/// `recipes/adr.md` is `recipes/adr`, `errors/README.md` is `errors`.
fn address(name: &str) -> String {
    let name = name.strip_suffix(".md").unwrap_or(name);
    let name = name.strip_suffix("README").unwrap_or(name);
    name.trim_end_matches('/').to_owned()
}

fn page(name: &str, text: &str, nav: &str) -> String {
    let title = text.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{} · Plenary</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\"><body>{nav}<main>\n",
        escaped(title)
    );
    Writer { name, html: &mut html, heading: None, in_head: false }.write(text);
    html.push_str("</main></body></html>\n");
    html
}

/// The headings and links of the contents, without what is said about each.
fn nav(contents: &str) -> String {
    let mut html =
        String::from("<nav aria-label=\"Contents\"><p><a href=\"/docs\">Plenary</a></p>");
    for line in contents.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let _ = write!(html, "<p>{}</p>", escaped(heading));
        } else if let Some(link) = line.strip_prefix("- [") {
            let Some((title, rest)) = link.split_once("](") else { continue };
            let path = rest.split(')').next().unwrap_or_default();
            let _ = write!(html, "<a href=\"/docs/{}\">{}</a>", address(path), escaped(title));
        }
    }
    html.push_str("</nav>");
    html
}

struct Writer<'a> {
    /// The page's own file, from which its links start.
    name: &'a str,
    html: &'a mut String,
    /// Where a heading began, and its words so far.
    heading: Option<(usize, String)>,
    in_head: bool,
}

impl Writer<'_> {
    fn write(&mut self, text: &str) {
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(tag) => self.start(tag),
                Event::End(tag) => self.end(tag),
                Event::Code(words) => {
                    self.words(&words, |words| format!("<code>{words}</code>"));
                }
                // What looks like HTML is shown as it was written.
                Event::Text(words) | Event::Html(words) | Event::InlineHtml(words) => {
                    self.words(&words, |words| words);
                }
                Event::SoftBreak => self.html.push('\n'),
                Event::HardBreak => self.html.push_str("<br>"),
                Event::Rule => self.html.push_str("<hr>"),
                Event::InlineMath(words) | Event::DisplayMath(words) => {
                    self.words(&words, |words| words);
                }
                Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
            }
        }
    }

    fn words(&mut self, words: &str, shown: impl Fn(String) -> String) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(words);
        }
        self.html.push_str(&shown(escaped(words)));
    }

    fn start(&mut self, tag: Tag) {
        match tag {
            Tag::Heading { .. } => self.heading = Some((self.html.len(), String::new())),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                self.html.push_str("<pre><code>");
            }
            Tag::List(Some(first)) => {
                let _ = write!(self.html, "<ol start=\"{first}\">");
            }
            Tag::TableHead => {
                self.in_head = true;
                self.html.push_str("<tr>");
            }
            Tag::Table(_) => self.html.push_str("<div class=\"table\"><table>"),
            Tag::TableCell => self.html.push_str(if self.in_head { "<th>" } else { "<td>" }),
            Tag::Link { dest_url, .. } => match self.link(&dest_url) {
                Some(address) => {
                    let _ = write!(self.html, "<a href=\"{}\">", escaped(&address));
                }
                // What is not in the book has no address here.
                None => self.html.push_str("<a>"),
            },
            // Pictures are left out: their text stands for them.
            Tag::Image { .. } => self.html.push_str("<em>"),
            other => {
                let _ = write!(self.html, "<{}>", element(&other.to_end()));
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let Some((at, words)) = self.heading.take() else { return };
                let level = match level {
                    HeadingLevel::H1 => 1,
                    HeadingLevel::H2 => 2,
                    HeadingLevel::H3 => 3,
                    HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => 4,
                };
                let opening = format!("<h{level} id=\"{}\">", escaped(&anchor(&words)));
                self.html.insert_str(at, &opening);
                let _ = writeln!(self.html, "</h{level}>");
            }
            TagEnd::CodeBlock => self.html.push_str("</code></pre>\n"),
            TagEnd::List(true) => self.html.push_str("</ol>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.html.push_str("</tr>\n");
            }
            TagEnd::Table => self.html.push_str("</table></div>\n"),
            TagEnd::TableCell => {
                self.html.push_str(if self.in_head { "</th>" } else { "</td>" });
            }
            TagEnd::Link => self.html.push_str("</a>"),
            TagEnd::Image => self.html.push_str("</em>"),
            other => {
                let _ = writeln!(self.html, "</{}>", element(&other));
            }
        }
    }

    /// Where a link of this page leads on the server.
    fn link(&self, to: &str) -> Option<String> {
        if to.contains("://") || to.starts_with('#') {
            return Some(to.to_owned());
        }
        let (path, place) = to.split_once('#').unwrap_or((to, ""));
        let mut parts: Vec<&str> = self.name.split('/').collect();
        parts.pop();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                // Above the book.
                ".." => drop(parts.pop()?),
                part => parts.push(part),
            }
        }
        let name = parts.join("/");
        let is_page =
            name.ends_with(".md") || is_file(&name) || !name.rsplit('/').next()?.contains('.');
        let place = if place.is_empty() { String::new() } else { format!("#{place}") };
        is_page.then(|| format!("/docs/{}{place}", address(&name)))
    }
}

fn element(tag: &TagEnd) -> &'static str {
    match tag {
        TagEnd::Paragraph => "p",
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::List(_) => "ul",
        TagEnd::Item => "li",
        TagEnd::TableRow => "tr",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        _ => "div",
    }
}

/// As GitHub makes it, so that a link works in both places.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
