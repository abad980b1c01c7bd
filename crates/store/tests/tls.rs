//! TLS to the database by its URL, as docs/many-nodes.md tells it, with a real server that
//! takes nothing else and certificates made for the test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plenary_store::postgres::{self, Address};
use tempfile::TempDir;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");

/// Signs in over TLS alone; the database `certified` wants a certificate of the client, too.
struct Server {
    folder: TempDir,
    url: String,
}

impl Server {
    fn start() -> Option<Server> {
        std::env::var("PLENARY_TEST_POSTGRES").ok().filter(|url| !url.is_empty())?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        authority(folder.path(), "authority");
        authority(folder.path(), "stranger");
        certificate(folder.path(), "server", "subjectAltName=IP:127.0.0.1");
        certificate(folder.path(), "client", "extendedKeyUsage=clientAuth");

        let place = folder.path().join("server");
        std::fs::create_dir(&place).unwrap();
        for name in ["server.pem", "server.key", "authority.pem"] {
            std::fs::copy(folder.path().join(name), place.join(name)).unwrap();
        }
        let entries = "hostssl certified all 127.0.0.1/32 password clientcert=verify-ca\n\
                       hostssl all all 127.0.0.1/32 password\n";
        std::fs::write(place.join("hba"), entries).unwrap();
        let settings = [("ssl_cert_file", "server.pem"), ("ssl_key_file", "server.key")];
        let settings =
            settings.into_iter().chain([("ssl_ca_file", "authority.pem"), ("hba_file", "hba")]);
        let settings =
            settings.map(|(name, file)| format!("{name}='{}'", place.join(file).display()));
        let mut start = Command::new(SCRIPT);
        start.arg("start").arg(&place).args(["ssl=on", "fsync=off"]).args(settings);
        let started = start.stderr(Stdio::inherit()).output().unwrap();
        assert!(started.status.success());
        let url = String::from_utf8(started.stdout).unwrap().trim().to_owned();
        Some(Server { folder, url })
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// What a node says that is led there by this URL; nothing where all is well.
    async fn refusal(&self, host: &str, database: &str, options: &str) -> Option<String> {
        let url = self.url.replace("127.0.0.1", host);
        let url = url.strip_suffix("/postgres").unwrap();
        let address = Address::of(&format!("{url}/{database}?{options}")).unwrap();
        match postgres::open(&address).await {
            Ok(store) => {
                store.close().await;
                None
            }
            Err(error) => {
                let error = error.to_string();
                let password = url.split([':', '@']).nth(2).unwrap();
                assert!(!error.contains(password), "{error}");
                Some(error)
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new(SCRIPT).arg("stop").arg(self.folder.path().join("server")).status();
    }
}

fn openssl(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    let ran = command.current_dir(folder).args(arguments.split(' ')).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

const KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

fn authority(folder: &Path, name: &str) {
    openssl(
        folder,
        &format!("req -x509 {KEY} -keyout {name}.key -out {name}.pem -subj /CN={name} -days 2"),
    );
}

fn certificate(folder: &Path, name: &str, extension: &str) {
    let extensions: PathBuf = folder.join("extensions");
    std::fs::write(&extensions, extension).unwrap();
    openssl(folder, &format!("req {KEY} -keyout {name}.key -out {name}.csr -subj /CN=plenary"));
    let signed =
        "-CA authority.pem -CAkey authority.key -CAcreateserial -extfile extensions -days 2";
    openssl(folder, &format!("x509 -req -in {name}.csr -out {name}.pem {signed}"));
    std::fs::set_permissions(folder.join(format!("{name}.key")), PermissionsExt::from_mode(0o600))
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_to_the_database_is_as_the_url_says() {
    let Some(server) = Server::start() else { return };
    let known = format!("sslrootcert={}", server.file("authority.pem"));
    let unknown = format!("sslrootcert={}", server.file("stranger.pem"));

    // The first makes the tables, so it is the certain one.
    let full = format!("sslmode=verify-full&{known}");
    assert_eq!(server.refusal("127.0.0.1", "postgres", &full).await, None);
    for options in ["", "sslmode=prefer", "sslmode=require"] {
        assert_eq!(server.refusal("127.0.0.1", "postgres", options).await, None, "{options}");
    }
    let refused = server.refusal("127.0.0.1", "postgres", "sslmode=disable").await.unwrap();
    assert!(refused.contains("no encryption"), "{refused}");

    for mode in ["verify-ca", "verify-full"] {
        let options = format!("sslmode={mode}&{unknown}");
        let refused = server.refusal("127.0.0.1", "postgres", &options).await.unwrap();
        assert!(refused.contains("certificate"), "{mode}: {refused}");
    }
    let other_name = server.refusal("localhost", "postgres", &full).await.unwrap();
    assert!(other_name.contains("certificate"), "{other_name}");
    let any_name = format!("sslmode=verify-ca&{known}");
    assert_eq!(server.refusal("localhost", "postgres", &any_name).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_shows_its_own_certificate_where_the_database_wants_one() {
    let Some(server) = Server::start() else { return };
    let known = format!("sslmode=verify-full&sslrootcert={}", server.file("authority.pem"));
    // There is no such database yet, which only a node is told that may come in.
    let refused = server.refusal("127.0.0.1", "certified", &known).await.unwrap();
    assert!(refused.contains("certificate"), "{refused}");
    let (certificate, key) = (server.file("client.pem"), server.file("client.key"));
    let own = format!("{known}&sslcert={certificate}&sslkey={key}");
    let missing = server.refusal("127.0.0.1", "certified", &own).await.unwrap();
    assert!(missing.contains("does not exist"), "{missing}");
}
