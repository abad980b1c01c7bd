use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// The head of a request that has no body.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let byte = stream.read_u8().await.unwrap();
        head.push(byte.into());
    }
    head
}

async fn answer(stream: &mut TcpStream, body: &str) {
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.unwrap();
}

async fn get(client: &Client, url: &str) -> Result<String, Lost> {
    let (method, headers) = (Method::GET, HeaderMap::new());
    let asked = Asked { method, url: url.to_owned(), headers, body: None };
    let mut answer = client.send(&asked).await?;
    let mut body = vec![];
    while let Some(chunk) = answer.chunk().await? {
        body.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8(body).unwrap())
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for body in ["one", "two", "three"] {
            head(&mut stream).await;
            answer(&mut stream, body).await;
        }
    });
    let client = Client::new(false);
    for expected in ["one", "two", "three"] {
        assert_eq!(get(&client, &format!("http://{address}/x")).await.unwrap(), expected);
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        for body in ["one", "two"] {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            answer(&mut stream, body).await;
        }
    });
    let client = Client::new(false);
    assert_eq!(get(&client, &format!("http://{address}")).await.unwrap(), "one");
    assert_eq!(get(&client, &format!("http://{address}")).await.unwrap(), "two");
    server.await.unwrap();
}

#[tokio::test]
async fn a_body_that_breaks_off_is_lost() {
    let (listener, address) = listen().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        let half = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n5\r\ntw";
        stream.write_all(half.as_bytes()).await.unwrap();
    });
    let got = get(&Client::new(false), &format!("http://{address}")).await;
    assert!(matches!(got, Err(Lost::Cut)), "{got:?}");
}

#[tokio::test]
async fn what_cannot_be_reached_says_why() {
    let (listener, address) = listen().await;
    drop(listener);
    let client = Client::new(false);
    let refused = get(&client, &format!("http://{address}")).await;
    assert!(matches!(refused, Err(Lost::Connect(_))), "{refused:?}");
    for url in ["", "ftp", "/x", "mailto:a@b"] {
        let wrong = get(&client, url).await;
        assert!(matches!(wrong, Err(Lost::Address)), "{url}: {wrong:?}");
    }
}

#[tokio::test]
async fn a_name_in_the_address_is_shown_to_the_server_and_not_repeated_elsewhere() {
    let (listener, address) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = head(&mut stream).await;
        answer(&mut stream, "").await;
        head
    });
    get(&Client::new(false), &format!("http://a%40b:c+d@{address}/x?y=1#z")).await.unwrap();
    // `a@b:c+d`
    let expected = format!(
        "GET /x?y=1 HTTP/1.1\r\nhost: {address}\r\naccept: */*\r\n\
         authorization: Basic YUBiOmMrZA==\r\n\r\n"
    );
    assert_eq!(server.await.unwrap(), expected);
}

/// What a proxy is told first by whoever asks for this.
async fn through_proxy(url: &str) -> String {
    let (listener, address) = listen().await;
    let proxy = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = head(&mut stream).await;
        answer(&mut stream, "").await;
        head
    });
    let matcher = Matcher::builder().all(format!("http://me:word@{address}")).no("near.example");
    let client = Client::reaching(Reach::new(Some(matcher.build())));
    let _ = get(&client, url).await;
    proxy.await.unwrap()
}

#[tokio::test]
async fn a_proxy_makes_plain_requests_and_lets_encrypted_ones_through() {
    let plain = through_proxy("http://far.example/x").await;
    assert_eq!(
        plain,
        "GET http://far.example/x HTTP/1.1\r\nhost: far.example\r\naccept: */*\r\n\
         proxy-authorization: Basic bWU6d29yZA==\r\n\r\n"
    );
    let encrypted = through_proxy("https://far.example/x").await;
    assert!(encrypted.starts_with("CONNECT far.example:443 HTTP/1.1\r\n"), "{encrypted}");
    let word = "proxy-authorization: basic bwu6d29yza==";
    assert!(encrypted.to_lowercase().contains(word), "{encrypted}");
}
