//! Routes, and what the OpenAPI document says of each, from the same declaration.
//!
//! Every start of the program makes the routes, and hardly any shows the document,
//! which takes far longer to compose. So that is done by whoever first asks for it.

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use crate::{App, Document};

#[derive(Default)]
pub struct Routes {
    pub router: Router<App>,
    descriptions: Vec<Describe>,
}

/// The methods of one path.
pub struct Route {
    pub path: String,
    pub methods: MethodRouter<App>,
    pub describe: Describe,
}

type Describe = fn() -> UtoipaMethodRouter<App>;

impl Routes {
    pub fn new() -> Self {
        Routes::default()
    }

    pub fn routes(mut self, Route { path, methods, describe }: Route) -> Self {
        self.router = self.router.route(&path, methods);
        self.descriptions.push(describe);
        self
    }

    pub fn merge(mut self, others: Routes) -> Self {
        self.router = self.router.merge(others.router);
        self.descriptions.extend(others.descriptions);
        self
    }

    pub fn document(self) -> OpenApi {
        let empty = OpenApiRouter::with_openapi(Document::openapi());
        let all = self.descriptions.into_iter();
        all.fold(empty, |document, describe| document.routes(describe())).into_openapi()
    }
}

/// Handlers that share a path, each declared by `utoipa::path`.
macro_rules! routes {
    ($($first:ident)::+ $(, $($other:ident)::+)* $(,)?) => {{
        use utoipa_axum::PathItemExt as _;
        let methods = axum::routing::MethodRouter::new();
        let methods = $crate::http::routes::routes!(@on methods, $($first)::+);
        $( let methods = $crate::http::routes::routes!(@on methods, $($other)::+); )*
        $crate::http::routes::Route {
            path: utoipa_axum::routes!(@path [path()] of $($first)::+),
            methods,
            describe: || utoipa_axum::routes!($($first)::+ $(, $($other)::+)*),
        }
    }};
    (@on $methods:ident, $($handler:ident)::+) => {
        utoipa_axum::routes!(@path [methods()] of $($handler)::+)
            .iter()
            .fold($methods, |methods, method| {
                methods.on(method.to_method_filter(), $($handler)::+)
            })
    };
}
pub(crate) use routes;
