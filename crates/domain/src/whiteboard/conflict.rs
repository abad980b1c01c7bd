//! Posts that get in each other's way. The cost grows with the posts plus the
//! conflicts found: nothing compares every post with every other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Post, PostId, Severity};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub kind: Kind,
    /// Of a cascade collision: the post that reaches the other's target.
    pub first: PostId,
    pub second: PostId,
    /// What they meet in: a place (`src/a.rs 12-40`), a file, or a finding.
    pub over: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The same file, at lines that intersect or at the same symbol.
    DirectOverlap,
    /// One post's cascade reaches the file that the other targets.
    CascadeCollision,
    /// The same finding, with different severities.
    SeverityDisagreement,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::DirectOverlap => "direct_overlap",
            Kind::CascadeCollision => "cascade_collision",
            Kind::SeverityDisagreement => "severity_disagreement",
        }
    }
}

/// At most `most` of them; the first that is left out ends the search.
pub fn conflicts<'a>(posts: impl IntoIterator<Item = &'a Post>, most: usize) -> Vec<Conflict> {
    let posts: Vec<&Post> = posts.into_iter().filter(|post| !post.withdrawn).collect();
    let mut found = Found { conflicts: vec![], most };
    let _ = overlaps(&posts, &mut found)
        .and_then(|()| collisions(&posts, &mut found))
        .and_then(|()| disagreements(&posts, &mut found));
    found.conflicts
}

struct Found {
    conflicts: Vec<Conflict>,
    most: usize,
}

/// There is no room for more.
struct Full;

impl Found {
    fn add(&mut self, kind: Kind, first: &Post, second: &Post, over: String) -> Result<(), Full> {
        if self.conflicts.len() >= self.most {
            return Err(Full);
        }
        let (first, second) = (first.id.clone(), second.id.clone());
        self.conflicts.push(Conflict { kind, first, second, over });
        Ok(())
    }
}

/// A place in a file: lines, both ends included, or a symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Location<'a> {
    Lines(u64, u64),
    Symbol(&'a str),
}

/// `12`, `12-40`, `L12-L40`, `12:40`, `12..40`, `lines 12 to 40`; all else is a symbol.
pub(crate) fn location(text: &str) -> Location<'_> {
    let text = text.trim();
    lines(text).map_or(Location::Symbol(text), |(from, to)| Location::Lines(from, to))
}

fn lines(text: &str) -> Option<(u64, u64)> {
    let lower = text.to_ascii_lowercase();
    let bare = lower.trim_start_matches('#');
    let bare = bare.strip_prefix("lines").or(bare.strip_prefix("line")).unwrap_or(bare).trim();
    let number = |part: &str| -> Option<u64> {
        let part = part.trim();
        let part = part.strip_prefix('l').unwrap_or(part);
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    if let Some(line) = number(bare) {
        return Some((line, line));
    }
    let marks = [" to ", "..=", "..", "-", "–", ":", ","];
    let (from, to) = marks.iter().find_map(|mark| bare.split_once(mark))?;
    let (from, to) = (number(from)?, number(to)?);
    Some((from.min(to), from.max(to)))
}

/// A path as one writes it and as another does: `./src/a.rs`, `src/a.rs`.
fn file(path: &str) -> &str {
    let path = path.trim();
    path.strip_prefix("./").unwrap_or(path)
}

/// What belongs to a word, in the order in which the words came: the same board gives
/// the same conflicts in the same order, and nothing is sorted for that.
#[derive(Default)]
struct Groups<'a, T> {
    places: HashMap<&'a str, usize>,
    all: Vec<(&'a str, T)>,
}

impl<'a, T: Default> Groups<'a, T> {
    fn of(&mut self, word: &'a str) -> &mut T {
        let place = *self.places.entry(word).or_insert_with(|| {
            self.all.push((word, T::default()));
            self.all.len() - 1
        });
        &mut self.all[place].1
    }
}

fn overlaps(posts: &[&Post], found: &mut Found) -> Result<(), Full> {
    let mut symbols: HashMap<(&str, &str), Vec<&Post>> = HashMap::new();
    let mut ranges: Groups<Vec<(u64, u64, &Post)>> = Groups::default();
    for post in posts {
        let content = &post.content;
        let (Some(path), Some(place)) = (&content.target_file, &content.target_location) else {
            continue;
        };
        let path = file(path);
        match location(place) {
            Location::Lines(from, to) => ranges.of(path).push((from, to, post)),
            Location::Symbol(symbol) => {
                // The first of each pair comes earlier on the board.
                let same = symbols.entry((path, symbol)).or_default();
                for other in same.iter() {
                    let over = format!("{path} {symbol}");
                    found.add(Kind::DirectOverlap, other, post, over)?;
                }
                same.push(post);
            }
        }
    }
    ranges.all.into_iter().try_for_each(|(path, ranges)| intersections(path, ranges, found))
}

/// A sweep over the lines: whatever is still open when a range begins meets it.
fn intersections<'a>(
    path: &str,
    mut ranges: Vec<(u64, u64, &'a Post)>,
    found: &mut Found,
) -> Result<(), Full> {
    ranges.sort_by_key(|(from, to, _)| (*from, *to));
    let mut open: BTreeMap<(u64, usize), &'a Post> = BTreeMap::new();
    for (place, (from, to, post)) in ranges.into_iter().enumerate() {
        open = open.split_off(&(from, 0));
        for ((end, _), other) in &open {
            let last = to.min(*end);
            let over = if last == from {
                format!("{path} {from}")
            } else {
                format!("{path} {from}-{last}")
            };
            found.add(Kind::DirectOverlap, other, post, over)?;
        }
        open.insert((to, place), post);
    }
    Ok(())
}

fn collisions(posts: &[&Post], found: &mut Found) -> Result<(), Full> {
    let mut targets: HashMap<&str, Vec<&Post>> = HashMap::new();
    for post in posts {
        if let Some(path) = &post.content.target_file {
            targets.entry(file(path)).or_default().push(post);
        }
    }
    for post in posts {
        let reached: BTreeSet<&str> =
            post.content.cascade_targets.iter().map(|path| file(path)).collect();
        for path in reached {
            for other in targets.get(path).into_iter().flatten() {
                if other.id != post.id {
                    found.add(Kind::CascadeCollision, post, other, path.to_owned())?;
                }
            }
        }
    }
    Ok(())
}

fn disagreements(posts: &[&Post], found: &mut Found) -> Result<(), Full> {
    let mut findings: Groups<BTreeMap<Severity, Vec<&Post>>> = Groups::default();
    for post in posts {
        let Some(severity) = post.content.severity else { continue };
        let named: BTreeSet<&str> = post.content.finding_refs.iter().map(|f| f.trim()).collect();
        for finding in named {
            findings.of(finding).entry(severity).or_default().push(post);
        }
    }
    for (finding, by_severity) in findings.all {
        let groups: Vec<Vec<&Post>> = by_severity.into_values().collect();
        for (place, group) in groups.iter().enumerate() {
            for (one, other) in group
                .iter()
                .flat_map(|one| groups[place + 1..].iter().flatten().map(move |two| (one, two)))
            {
                found.add(Kind::SeverityDisagreement, one, other, finding.to_owned())?;
            }
        }
    }
    Ok(())
}
