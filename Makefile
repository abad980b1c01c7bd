# Every verb of this repository. `make` alone lists them.

.PHONY: help build try serve install test agents lint fmt snapshots reference web bench dist

help: ## list the verbs
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1	/'

build: ## the program, as target/release/plenary; ENGINE=off leaves the embedded model out
	cargo build --release -p plenary $$(scripts/engine)

try: ## build, and convene a board with whatever models this machine has
	@scripts/try

serve: build ## REST and live events on http://127.0.0.1:7171
	./target/release/plenary serve

install: ## plenary on your path
	cargo install --locked --path crates/app --features pages $$(scripts/engine | sed s,plenary/,,)

test: ## everything that CI checks
	@scripts/test

agents: ## the stories with the real Claude Code, Codex, Gemini and opencode alone
	cargo build --workspace $$(scripts/engine) --bins
	@scripts/agents

lint: ## formatting and clippy
	cargo fmt --all --check
	cargo clippy --workspace $$(scripts/engine) --all-targets -- -D warnings

fmt: ## format the source
	cargo fmt --all

snapshots: ## take over changed snapshots, to be read in the diff
	INSTA_UPDATE=always cargo nextest run --workspace $$(scripts/engine) || true

reference: ## docs/reference, after a change of commands, routes, tools, settings or steps
	PLENARY_REFERENCE=write cargo nextest run --workspace $$(scripts/engine) -E 'binary(reference)'

web: ## the client and the built interface in crates/server/ui, after a change in web/ or the API
	cargo build --workspace $$(scripts/engine) --bins
	@scripts/web-build

bench: ## the measurements of bench/README.md
	cargo build --release -p plenary -p plenary-bench
	for what in store posts conflicts board v1 readers idle reads memory load discussions workflows crash; do ./target/release/plenary-bench $$what || exit 1; done

dist: ## packages in target/dist, of a smaller and faster program; slow to build
	@scripts/dist
	@scripts/dist-check target/dist
