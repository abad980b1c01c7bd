//! Models from a hub, against an imitation of one that speaks real HTTP.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plenary_providers::{Hub, HubError, Pulled, Wanted};
use ring::digest::{SHA256, digest};
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const TOKEN: &str = "hf_secret";

/// A hub and the place where its files lie, each with an address of its own.
#[derive(Clone, Default)]
struct Imitation(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    files: BTreeMap<String, Vec<u8>>,
    /// How the next requests for files go wrong, the first one first.
    faults: Vec<Fault>,
    /// Bytes of files that were sent, and the ranges that were asked for.
    sent: usize,
    ranges: Vec<Option<usize>>,
    /// What the second place was shown that is for the hub only.
    leaked: Vec<String>,
    gated: bool,
    missing: bool,
    /// How the next requests to the hub itself are refused.
    refusals: Vec<u16>,
    /// Addresses of files that the hub has given; each has a signature of its own.
    given: usize,
    /// Signatures up to this one have run out.
    expired: usize,
    /// What the list says in place of the true hash.
    false_hash: Option<String>,
    store: String,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// The connection ends after so many bytes of the body.
    Cut(usize),
    Status(u16),
    /// The address that the hub gave has run out: only a new one is taken.
    Expired,
    /// Ranges are passed over.
    Whole,
}

impl Imitation {
    /// The hub's address.
    async fn start(&self) -> String {
        let store = self.listen(false).await;
        self.0.lock().unwrap().store = store;
        self.listen(true).await
    }

    async fn listen(&self, is_hub: bool) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let own = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.serve(stream, is_hub).await });
            }
        });
        address
    }

    async fn serve(&self, mut stream: TcpStream, is_hub: bool) -> Option<()> {
        loop {
            let mut head = vec![];
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.ok()?);
            }
            let head = String::from_utf8(head).ok()?;
            let path = head.split(' ').nth(1)?.to_owned();
            let header = |name: &str| {
                let is_it = |line: &&str| line.to_lowercase().starts_with(&format!("{name}:"));
                Some(head.lines().find(is_it)?.split_once(':')?.1.trim().to_owned())
            };
            let answer = match is_hub {
                true => self.hub(&path, header("authorization")),
                false => self.file(&path, header("authorization"), header("range")),
            };
            let (status, headers, body, cut) = answer;
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n");
            stream.write_all(head.as_bytes()).await.ok()?;
            stream.write_all(&body[..cut.unwrap_or(length)]).await.ok()?;
            if cut.is_some() {
                return None;
            }
        }
    }

    fn hub(&self, path: &str, token: Option<String>) -> (u16, String, Vec<u8>, Option<usize>) {
        let mut inner = self.0.lock().unwrap();
        if !inner.refusals.is_empty() {
            let status = inner.refusals.remove(0);
            return (status, "retry-after: 0\r\n".into(), vec![], None);
        }
        let said = |value: serde_json::Value| (200, String::new(), value.to_string().into(), None);
        let wrong =
            |status, code: &str| (status, format!("x-error-code: {code}\r\n"), vec![], None);
        if inner.missing {
            return wrong(401, "RepoNotFound");
        }
        if inner.gated && token.as_deref() != Some("Bearer hf_secret") {
            return wrong(403, "GatedRepo");
        }
        match path {
            "/api/models/org/repo/revision/main" => said(json!({ "sha": COMMIT })),
            "/api/models/org/repo/revision/none" => wrong(404, "RevisionNotFound"),
            _ if path.starts_with("/api/models/org/repo/tree/") => {
                // Two pages: the second one has the second half.
                let is_second = path.contains("cursor=2");
                let half = inner.files.len().div_ceil(2);
                let files = inner.files.iter().skip(if is_second { half } else { 0 }).take(half);
                let listed = files.map(|(name, contents)| {
                    let hash = inner.false_hash.clone().unwrap_or_else(|| sha256(contents));
                    json!({ "type": "file", "path": name, "size": contents.len(),
                        "lfs": { "oid": hash, "size": contents.len(), "pointerSize": 1 } })
                });
                let (status, _, body, cut) = said(listed.collect());
                let next = format!("link: <{path}&cursor=2>; rel=\"next\"\r\n");
                (status, if is_second { String::new() } else { next }, body, cut)
            }
            _ => {
                let name = path.strip_prefix(&format!("/org/repo/resolve/{COMMIT}/")).unwrap();
                inner.given += 1;
                let (store, nth) = (&inner.store, inner.given);
                let location = format!("location: {store}/{name}?signature={nth}\r\n");
                (302, location, vec![], None)
            }
        }
    }

    fn file(
        &self,
        path: &str,
        token: Option<String>,
        range: Option<String>,
    ) -> (u16, String, Vec<u8>, Option<usize>) {
        let mut inner = self.0.lock().unwrap();
        inner.leaked.extend(token);
        let from = range.and_then(|range| {
            range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok()
        });
        inner.ranges.push(from);
        let name = path.trim_start_matches('/').split('?').next().unwrap();
        let name = name.replace("%23", "#").replace("%25", "%");
        let contents = inner.files[name.as_str()].clone();
        let nth: usize = path.rsplit_once("signature=").unwrap().1.parse().unwrap();
        if nth <= inner.expired {
            return (403, String::new(), vec![], None);
        }
        let fault = if inner.faults.is_empty() { None } else { Some(inner.faults.remove(0)) };
        match fault {
            Some(Fault::Expired) => {
                inner.expired = inner.given;
                (403, String::new(), vec![], None)
            }
            Some(Fault::Status(status)) => (status, "retry-after: 0\r\n".into(), vec![], None),
            Some(Fault::Whole) => {
                inner.sent += contents.len();
                (200, String::new(), contents, None)
            }
            Some(Fault::Cut(_)) | None => {
                let begin = from.unwrap_or(0);
                let (last, all) = (contents.len() - 1, contents.len());
                let (status, headers) = match from {
                    Some(_) => (206, format!("content-range: bytes {begin}-{last}/{all}\r\n")),
                    None => (200, String::new()),
                };
                let body = contents[begin..].to_vec();
                let cut = match fault {
                    Some(Fault::Cut(bytes)) => Some(bytes),
                    Some(Fault::Status(_) | Fault::Whole | Fault::Expired) | None => None,
                };
                inner.sent += cut.unwrap_or(body.len());
                (status, headers, body, cut)
            }
        }
    }
}

fn sha256(contents: &[u8]) -> String {
    digest(&SHA256, contents).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn model(length: usize) -> Vec<u8> {
    b"GGUF".iter().copied().chain((0..length).map(|nth| (nth % 251) as u8)).collect()
}

struct Story {
    hub: Imitation,
    address: String,
    folder: TempDir,
    vars: Vec<(&'static str, String)>,
}

impl Story {
    async fn of(files: &[(&str, Vec<u8>)]) -> Story {
        let hub = Imitation::default();
        let named = files.iter().map(|(name, contents)| ((*name).to_owned(), contents.clone()));
        hub.0.lock().unwrap().files = named.collect();
        let address = hub.start().await;
        Story { hub, address, folder: tempfile::tempdir().unwrap(), vars: vec![] }
    }

    fn faults(self, faults: &[Fault]) -> Story {
        self.hub.0.lock().unwrap().faults = faults.to_vec();
        self
    }

    fn client(&self) -> Hub {
        let env = |name: &str| match name {
            "HF_ENDPOINT" => Some(self.address.clone()),
            "HF_HOME" => Some(self.folder.path().to_string_lossy().into_owned()),
            other => self.vars.iter().find(|(name, _)| *name == other).map(|(_, v)| v.clone()),
        };
        let hub = Hub::from_env(&env).unwrap();
        hub.hurried(Duration::from_millis(1), Duration::from_secs(20))
    }

    async fn pull(&self, what: &str) -> Result<Pulled, HubError> {
        let wanted: Wanted = what.parse().unwrap();
        self.client().pull(&wanted, &mut |_, _| {}).await
    }

    fn cache(&self) -> std::path::PathBuf {
        self.folder.path().join("hub/models--org--repo")
    }

    fn sent(&self) -> usize {
        self.hub.0.lock().unwrap().sent
    }
}

fn read(place: &Path) -> Vec<u8> {
    std::fs::read(place).unwrap()
}

#[tokio::test]
async fn a_model_comes_into_the_cache_that_other_tools_share() {
    let contents = model(100_000);
    let story = Story::of(&[("m-Q4_K_M.gguf", contents.clone()), ("m-Q8_0.gguf", model(9))]).await;
    let pulled = story.pull("org/repo").await.unwrap();
    let place = story.cache().join("snapshots").join(COMMIT).join("m-Q4_K_M.gguf");
    let expected = Pulled {
        files: vec![place.clone()],
        commit: COMMIT.into(),
        bytes: 100_004,
        loaded: 100_004,
    };
    assert_eq!(pulled, expected);
    assert_eq!(read(&place), contents);
    let link = format!("../../blobs/{}", sha256(&contents));
    assert_eq!(std::fs::read_link(&place).unwrap().to_str(), Some(link.as_str()));
    assert_eq!(read(&story.cache().join("refs/main")), COMMIT.as_bytes());
    // The second time nothing is brought, and without a network nothing is asked.
    assert_eq!(story.pull("org/repo").await.unwrap(), Pulled { loaded: 0, ..expected.clone() });
    let offline = Story { vars: vec![("HF_HUB_OFFLINE", "1".into())], ..story };
    assert_eq!(offline.pull("org/repo").await.unwrap(), Pulled { loaded: 0, ..expected });
    assert!(matches!(offline.pull("org/repo:Q8_0").await, Err(HubError::Offline)));
}

#[tokio::test]
async fn a_cache_may_begin_with_the_home_folder_and_be_read_only() {
    let mut story = Story::of(&[("m.gguf", model(500))]).await;
    let home = story.folder.path().to_owned();
    story.vars = vec![("HOME", home.to_str().unwrap().into()), ("HF_HUB_CACHE", "~/shared".into())];
    let pulled = story.pull("org/repo").await.unwrap();
    let repo = home.join("shared/models--org--repo");
    assert!(pulled.files[0].starts_with(&repo), "{pulled:?}");
    // Root may write everywhere, so that the time tells whether something was written.
    let reference = std::fs::File::options().write(true).open(repo.join("refs/main")).unwrap();
    reference.set_modified(std::time::UNIX_EPOCH).unwrap();
    story.pull("org/repo").await.unwrap();
    let at = reference.metadata().unwrap().modified().unwrap();
    assert_eq!(at, std::time::UNIX_EPOCH);
}

#[tokio::test]
async fn what_was_cut_goes_on_where_it_broke_off() {
    let contents = model(50_000);
    let status = Fault::Status;
    let faults = [Fault::Cut(10_000), status(503), status(429), Fault::Cut(7), status(403)];
    let story = Story::of(&[("m.gguf", contents.clone())]).await.faults(&faults);
    let pulled = story.pull("org/repo").await.unwrap();
    assert_eq!(read(&pulled.files[0]), contents);
    assert_eq!(story.sent(), contents.len());
    let (ten, more) = (Some(10_000), Some(10_007));
    assert_eq!(story.hub.0.lock().unwrap().ranges, [None, ten, ten, ten, more, more]);
}

#[tokio::test]
async fn a_killed_download_goes_on_in_the_next_process() {
    let contents = model(50_000);
    let story = Story::of(&[("m.gguf", contents.clone())]).await;
    let part = story.cache().join(format!("blobs/{}.incomplete", sha256(&contents)));
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    std::fs::write(&part, &contents[..20_000]).unwrap();
    let pulled = story.pull("org/repo").await.unwrap();
    assert_eq!((read(&pulled.files[0]), pulled.loaded), (contents, 30_004));
    assert_eq!(story.sent(), 30_004);
    assert!(!part.exists());
}

#[tokio::test]
async fn a_damaged_part_of_an_earlier_process_is_brought_again() {
    let contents = model(50_000);
    let story = Story::of(&[("m.gguf", contents.clone())]).await;
    let part = story.cache().join(format!("blobs/{}.incomplete", sha256(&contents)));
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    let mut damaged = contents[..20_000].to_vec();
    damaged[1_000] ^= 1;
    std::fs::write(&part, damaged).unwrap();
    let pulled = story.pull("org/repo").await.unwrap();
    assert_eq!((read(&pulled.files[0]), pulled.loaded), (contents, 50_004));
    assert_eq!(story.hub.0.lock().unwrap().ranges, [Some(20_000), None]);
}

#[tokio::test]
async fn a_server_without_ranges_sends_all_of_it_again() {
    let contents = model(5_000);
    let story = Story::of(&[("m.gguf", contents.clone())]).await;
    let story = story.faults(&[Fault::Cut(1_000), Fault::Whole]);
    assert_eq!(read(&story.pull("org/repo").await.unwrap().files[0]), contents);
}

#[tokio::test]
async fn what_is_not_what_the_hub_says_is_not_kept() {
    let story = Story::of(&[("m.gguf", model(500))]).await;
    let hash = "0".repeat(64);
    story.hub.0.lock().unwrap().false_hash = Some(hash.clone());
    let Err(HubError::Wrong(why)) = story.pull("org/repo").await else { panic!("it was taken") };
    assert!(why.contains("SHA-256"), "{why}");
    assert!(!story.cache().join("blobs").join(&hash).exists());
    // The next try does not go on from it.
    let part = story.cache().join(format!("blobs/{hash}.incomplete"));
    assert_eq!(read(&part), b"");

    let page = b"<html>Sign in</html>".to_vec();
    let story = Story::of(&[("m.gguf", page)]).await;
    let Err(HubError::Wrong(why)) = story.pull("org/repo").await else { panic!("it was taken") };
    assert!(why.contains("GGUF"), "{why}");
}

#[tokio::test]
async fn the_token_goes_to_the_hub_and_to_nobody_else() {
    let mut story = Story::of(&[("m.gguf", model(500))]).await;
    story.hub.0.lock().unwrap().gated = true;
    assert!(matches!(story.pull("org/repo").await, Err(HubError::Gated)));
    story.vars = vec![("HF_TOKEN", TOKEN.into())];
    story.pull("org/repo").await.unwrap();
    assert_eq!(story.hub.0.lock().unwrap().leaked, [""; 0]);
}

#[tokio::test]
async fn missing_gated_and_wrong_revisions_are_told_apart() {
    let story = Story::of(&[("m-Q8_0.gguf", model(5)), ("m-Q4_0.gguf", model(6))]).await;
    assert!(matches!(story.pull("org/repo@none").await, Err(HubError::NoRevision)));
    let Err(HubError::NoFile(there)) = story.pull("org/repo:Q2_K").await else { panic!("found") };
    assert_eq!(there, ["m-Q4_0.gguf", "m-Q8_0.gguf"]);
    story.hub.0.lock().unwrap().missing = true;
    assert!(matches!(story.pull("org/repo").await, Err(HubError::Missing)));
}

#[tokio::test]
async fn a_split_model_comes_with_all_its_parts() {
    let names = ["Q8_0/m-00001-of-00002.gguf", "Q8_0/m-00002-of-00002.gguf"];
    let (first, second) = (model(4_000), model(3_000));
    let story = Story::of(&[(names[0], first.clone()), (names[1], second.clone())]).await;
    let pulled = story.pull("org/repo:q8_0").await.unwrap();
    let contents: Vec<_> = pulled.files.iter().map(|place| read(place)).collect();
    assert_eq!(contents, [first, second]);
    assert!(pulled.files[0].ends_with(names[0]) && pulled.files[1].ends_with(names[1]));
}

#[tokio::test]
async fn a_name_may_have_what_means_something_in_an_address() {
    let contents = model(3_000);
    let story = Story::of(&[("50%25-#1.gguf", contents.clone())]).await;
    assert_eq!(read(&story.pull("org/repo").await.unwrap().files[0]), contents);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_pulls_at_once_bring_it_once() {
    let contents = model(300_000);
    let story = Story::of(&[("m.gguf", contents.clone())]).await;
    let (one, other) = tokio::join!(story.pull("org/repo"), story.pull("org/repo"));
    let loaded = [one.unwrap().loaded, other.unwrap().loaded];
    assert_eq!(loaded.iter().sum::<u64>(), contents.len() as u64);
    assert_eq!(story.sent(), contents.len());
}

#[tokio::test]
async fn who_waits_for_another_pull_is_told_how_far_it_is() {
    let contents = model(50_000);
    let story = Story::of(&[("m.gguf", contents.clone())]).await;
    let hash = sha256(&contents);
    let blobs = story.cache().join("blobs");
    std::fs::create_dir_all(&blobs).unwrap();
    std::fs::write(blobs.join(format!("{hash}.incomplete")), &contents[..20_000]).unwrap();
    let locks = story.folder.path().join("hub/.locks/models--org--repo");
    std::fs::create_dir_all(&locks).unwrap();
    let lock = std::fs::File::create(locks.join(format!("{hash}.lock"))).unwrap();
    lock.lock().unwrap();
    // The other one gives up as soon as it has been seen.
    let (mut other, mut told) = (Some(lock), vec![]);
    let mut tell = |bytes: u64, _: u64| {
        told.push(bytes);
        other.take();
    };
    let (hub, wanted) = (story.client(), "org/repo".parse().unwrap());
    let pulling = tokio::time::timeout(Duration::from_secs(60), hub.pull(&wanted, &mut tell));
    let pulled = pulling.await.expect("the other one is seen").unwrap();
    assert_eq!((read(&pulled.files[0]), pulled.loaded), (contents, 30_004));
    assert_eq!(told.first(), Some(&20_000));
}

#[tokio::test]
async fn a_hub_that_stays_away_is_given_up() {
    let story = Story::of(&[("m.gguf", model(50))]).await.faults(&[Fault::Status(500); 9]);
    assert!(matches!(story.pull("org/repo").await, Err(HubError::Unreachable(_))));
    let nobody = Story { address: "http://127.0.0.1:1".into(), ..story };
    assert!(matches!(nobody.pull("org/repo").await, Err(HubError::Unreachable(_))));
}

/// Addresses of files are good for a while only; a long download outlives its own.
#[tokio::test]
async fn an_address_that_has_run_out_is_asked_for_anew() {
    let contents = model(50_000);
    let faults = [Fault::Cut(20_000), Fault::Expired];
    let story = Story::of(&[("m.gguf", contents.clone())]).await.faults(&faults);
    assert_eq!(read(&story.pull("org/repo").await.unwrap().files[0]), contents);
    assert_eq!(story.sent(), contents.len());
    let inner = story.hub.0.lock().unwrap();
    assert!(inner.given >= 3 && inner.expired >= 1, "{} given", inner.given);
}

#[tokio::test]
async fn a_hub_that_wants_a_pause_gets_it_and_one_that_refuses_is_told() {
    let story = Story::of(&[("m.gguf", model(500))]).await;
    story.hub.0.lock().unwrap().refusals = vec![429, 503];
    story.pull("org/repo").await.unwrap();
    for (status, token, expected) in [
        (401, Some(TOKEN), "Token"),
        (401, None, "Missing"),
        (403, Some(TOKEN), "Token"),
        (403, None, "Gated"),
        (404, Some(TOKEN), "Missing"),
        (410, None, "Refused(410)"),
    ] {
        let mut story = Story::of(&[("m.gguf", model(500))]).await;
        story.vars = token.map(|token| ("HF_TOKEN", token.to_owned())).into_iter().collect();
        story.hub.0.lock().unwrap().refusals = vec![status];
        let told = format!("{:?}", story.pull("org/repo").await.unwrap_err());
        assert_eq!(told, expected, "{status}");
    }
}
