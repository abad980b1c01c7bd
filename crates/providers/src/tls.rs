//! Whom encrypted connections trust: whoever the system does.
//!
//! Reading the system's certificates takes longer than all else that a command does
//! at its start, and most talk to this machine only. So they are read when a server
//! first shows one of its own, not when a client is made.

use std::sync::{Arc, LazyLock};

use reqwest::{Client, ClientBuilder};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::crypto::{verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// Chooses the cryptography of every TLS connection of this process. Calling it
/// again changes nothing.
pub fn install_tls() {
    // Somebody else may have chosen a provider before; that one serves too.
    let _ = ring::default_provider().install_default();
}

/// A client of HTTP/1.1, with all else as it usually is.
pub fn client_builder() -> ClientBuilder {
    Client::builder().tls_backend_preconfigured(client_config()).http1_only()
}

/// How encrypted connections for HTTP/1.1 are made.
pub(crate) fn client_config() -> ClientConfig {
    install_tls();
    let verifier = Arc::new(Lazily(provider()));
    let config = ClientConfig::builder().dangerous().with_custom_certificate_verifier(verifier);
    let mut config = config.with_no_client_auth();
    config.alpn_protocols = vec!["http/1.1".into()];
    config
}

fn provider() -> Arc<CryptoProvider> {
    CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()))
}

static SYSTEM: LazyLock<Result<Verifier, Error>> = LazyLock::new(|| Verifier::new(provider()));

#[derive(Debug)]
struct Lazily(Arc<CryptoProvider>);

impl ServerCertVerifier for Lazily {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let system = SYSTEM.as_ref().map_err(Clone::clone)?;
        system.verify_server_cert(certificate, intermediates, server, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
