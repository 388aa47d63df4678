# The commands that people and CI type. They stay few; what they do grows inside.

CARGO ?= cargo

.PHONY: help demo test check fmt bench eval install

help: ## print this
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## index the fixture sessions into a throw-away home, search them, show the stats
	@$(CARGO) build --release --quiet
	@scripts/demo target/release/sessionmill

test: ## run all tests
	$(CARGO) test

check: ## format and lints, as CI checks them
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings

fmt: ## format the code
	$(CARGO) fmt

bench: ## measure speed and size; prints the table of docs/performance.md
	$(CARGO) bench

eval: ## measure the rules against labelled examples (TRUTH=DIR); the table of docs/activity.md
	@$(CARGO) build --release --quiet
	@target/release/sessionmill eval --truth $(or $(TRUTH),../shared/truth)

install: ## build the program and put it into ~/.cargo/bin
	$(CARGO) install --locked --path .
