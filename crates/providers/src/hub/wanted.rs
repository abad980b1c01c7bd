//! Which files of a repository are meant.

use std::fmt;
use std::str::FromStr;

/// `ORG/REPO`, `ORG/REPO@REVISION`, and behind a colon a quantization or a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    pub repo: String,
    pub revision: String,
    pub which: Which,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    /// The one that is right for most.
    Usual,
    /// `Q4_K_M`, as it stands in the name of the file.
    Quantization(String),
    /// By its path in the repository.
    File(String),
}

const MAIN: &str = "main";
const GGUF: &str = ".gguf";
/// Small and nearly as good as the whole, in the order in which they are taken.
const USUAL: [&str; 7] = ["Q4_K_M", "Q4_K_S", "Q4_0", "Q5_K_M", "Q6_K", "Q8_0", "F16"];

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || {
            format!(
                "{text:?} is not a repository; write ORG/REPO, followed by @REVISION, \
                 :QUANTIZATION or :FILE.gguf if you like"
            )
        };
        let (place, which) = match text.split_once(':') {
            Some((place, which)) => (place, Some(which)),
            None => (text, None),
        };
        let (repo, revision) = place.split_once('@').unwrap_or((place, MAIN));
        let (org, name) = repo.split_once('/').ok_or_else(shape)?;
        let is_plain = |part: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_known)
        };
        if !is_plain(org) || !is_plain(name) || !revision.split('/').all(is_plain) {
            return Err(shape());
        }
        let which = match which {
            None => Which::Usual,
            Some(file) if file.to_lowercase().ends_with(GGUF) => {
                is_path(file).then(|| Which::File(file.to_owned())).ok_or_else(shape)?
            }
            Some(word) if is_plain(word) => Which::Quantization(word.to_owned()),
            Some(_) => return Err(shape()),
        };
        Ok(Wanted { repo: repo.to_owned(), revision: revision.to_owned(), which })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repo)?;
        if self.revision != MAIN {
            write!(f, "@{}", self.revision)?;
        }
        match &self.which {
            Which::Usual => Ok(()),
            Which::Quantization(which) | Which::File(which) => write!(f, ":{which}"),
        }
    }
}

/// Whether this leads to a file inside of a folder, and nowhere else.
pub(super) fn is_path(path: &str) -> bool {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0']);
    path.split('/').all(is_part)
}

/// A file of a repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    pub path: String,
    pub bytes: u64,
    /// In small letters.
    pub sha256: String,
}

/// The files of one model, in order: one, or all parts of one that was split.
pub(super) fn choose(which: &Which, all: Vec<Listed>) -> Result<Vec<Listed>, Vec<String>> {
    let is_model = |file: &Listed| {
        let name = file.path.to_lowercase();
        name.ends_with(GGUF) && !name.contains("mmproj") && !name.contains("imatrix")
    };
    let mut models: Vec<Vec<Listed>> = vec![];
    let mut files: Vec<Listed> = all.into_iter().filter(is_model).collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    for file in files {
        let together = models.iter_mut().find(|model| {
            stem(&model[0].path).is_some_and(|stem| self::stem(&file.path) == Some(stem))
        });
        match together {
            Some(model) => model.push(file),
            None => models.push(vec![file]),
        }
    }
    let named = |word: &str| {
        let of = |model: &&Vec<Listed>| is_of(&model[0].path, word);
        models.iter().find(of).cloned()
    };
    let found = match which {
        Which::File(path) => {
            models.iter().find(|model| model.iter().any(|file| file.path == *path)).cloned()
        }
        Which::Quantization(word) => named(word),
        Which::Usual if models.len() == 1 => models.first().cloned(),
        Which::Usual => USUAL.iter().find_map(|word| named(word)),
    };
    let whole = found.filter(|model| is_whole(model));
    whole.ok_or_else(|| models.iter().map(|model| model[0].path.clone()).collect())
}

/// Whether a file is of this quantization: the word stands in its path by itself, as
/// `Q4_0` does not in `Q4_0_4_8`.
fn is_of(path: &str, word: &str) -> bool {
    let (path, word) = (path.to_uppercase(), word.to_uppercase());
    let is_inside =
        |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    path.match_indices(&word).any(|(at, _)| {
        let bytes = path.as_bytes();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        !is_inside(before) && !is_inside(bytes.get(at + word.len()))
    })
}

/// What the parts of a split model have in common: `model-00002-of-00003.gguf` is a part.
fn stem(path: &str) -> Option<(&str, &str)> {
    let name = path.strip_suffix(GGUF)?;
    let (rest, count) = name.rsplit_once("-of-")?;
    let (stem, part) = rest.rsplit_once('-')?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|b| b.is_ascii_digit());
    (is_number(part) && is_number(count)).then_some((stem, count))
}

fn is_whole(model: &[Listed]) -> bool {
    let wanted = stem(&model[0].path).and_then(|(_, count)| count.parse::<usize>().ok());
    model.len() == wanted.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(text: &str) -> Result<String, String> {
        let wanted: Wanted = text.parse()?;
        Ok(format!("{} {} {:?}", wanted.repo, wanted.revision, wanted.which))
    }

    #[test]
    fn a_repository_may_have_a_revision_and_a_quantization_or_a_file() {
        for (text, expected) in [
            ("org/repo", "org/repo main Usual"),
            ("org/repo@v1.0", "org/repo v1.0 Usual"),
            ("org/repo@refs/pr/1:Q8_0", "org/repo refs/pr/1 Quantization(\"Q8_0\")"),
            ("org/repo:sub/m.gguf", "org/repo main File(\"sub/m.gguf\")"),
        ] {
            assert_eq!(wanted(text).as_deref(), Ok(expected), "{text}");
            assert_eq!(
                text.parse::<Wanted>().map(|wanted| wanted.to_string()).as_deref(),
                Ok(text)
            );
        }
    }

    #[test]
    fn what_leads_elsewhere_names_no_repository() {
        for text in [
            "",
            "repo",
            "/repo",
            "org/",
            "org/repo/more",
            "../repo",
            "org/..",
            "org/re po",
            "org/repo@",
            "org/repo@../x",
            "org/repo:",
            "org/repo:a/../b.gguf",
            "org/repo:/b.gguf",
            "http://elsewhere/x",
            "org/repo@a?b",
            "org/repo:a#b",
        ] {
            assert!(wanted(text).is_err(), "{text}");
        }
    }

    fn listed(path: &str) -> Listed {
        Listed { path: path.into(), bytes: 1, sha256: path.into() }
    }

    fn chosen(which: Which, paths: &[&str]) -> Result<Vec<String>, Vec<String>> {
        let files = choose(&which, paths.iter().map(|path| listed(path)).collect())?;
        Ok(files.into_iter().map(|file| file.path).collect())
    }

    #[test]
    fn the_usual_one_is_small_and_good() {
        let all = ["README.md", "m-Q8_0.gguf", "m-Q4_K_M.gguf", "m-Q4_0_4_8.gguf", "mmproj.gguf"];
        let quantization = |word: &str| Which::Quantization(word.into());
        let cases = [
            (Which::Usual, Ok(vec!["m-Q4_K_M.gguf".to_owned()])),
            (quantization("q8_0"), Ok(vec!["m-Q8_0.gguf".to_owned()])),
            (
                quantization("Q4_0"),
                Err(["m-Q4_0_4_8.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf"].map(str::to_owned).into()),
            ),
            (Which::File("m-Q8_0.gguf".into()), Ok(vec!["m-Q8_0.gguf".to_owned()])),
        ];
        for (which, expected) in cases {
            assert_eq!(chosen(which.clone(), &all), expected, "{which:?}");
        }
        assert_eq!(chosen(Which::Usual, &["only.gguf"]), Ok(vec!["only.gguf".into()]));
        assert_eq!(chosen(Which::Usual, &["README.md"]), Err(vec![]));
    }

    #[test]
    fn a_split_model_comes_whole_or_not_at_all() {
        let parts = ["Q8_0/m-00002-of-00002.gguf", "Q8_0/m-00001-of-00002.gguf", "m-Q4_0.gguf"];
        let which = Which::Quantization("Q8_0".into());
        let whole: Vec<String> = [parts[1], parts[0]].map(str::to_owned).into();
        assert_eq!(chosen(which.clone(), &parts), Ok(whole.clone()));
        assert_eq!(chosen(Which::File(parts[0].into()), &parts), Ok(whole));
        assert!(chosen(which, &parts[..1]).is_err());
    }
}
