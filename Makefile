# The commands of this project. Each works on a fresh clone and builds what it needs first.
# Needs only Rust and Python; everything else goes into .venv and target/.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

PYTHON ?= python3
RUST_MINIMUM := 1.89

VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
EXTENSION := python/uncertain/_uncertain.$(if $(filter Windows_NT,$(OS)),pyd,abi3.so)
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)

# PyO3's build scripts look at the environment, and any change compiles its whole tree again. So each profile has
# one environment: release is maturin's (it adds variables of its own), dev serves clippy and rustdoc, which only check.
PY_ENV := VIRTUAL_ENV=$(abspath $(VENV))
CHECK_ENV := PYO3_PYTHON=$(abspath $(BIN)/python)

.PHONY: help demo test install dev lint format typing test-rust test-instruction-sets \
	test-python relations golden golden-rust fuzz sanitize sanitize-python miri bench arena arena-check docs docs-look wheel smoke \
	workflows release-check clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: install ## train on real data with error bars, print a table, write demo.png
	$(BIN)/uncertain demo

test: install lint typing test-rust test-instruction-sets test-python ## every check: lint, types, Rust tests, Python tests, README snippets

install: $(EXTENSION) ## make .venv with everything in it and a release build of the extension

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "uncertain needs Python 3.11 or newer, and $(PYTHON) is missing or older:" \
		     "install one, or name it: make install PYTHON=python3.12" >&2; exit 1; }
	@command -v cargo >/dev/null || { \
		echo "uncertain needs Rust $(RUST_MINIMUM) or newer, and cargo is not on the PATH:" \
		     "install Rust with rustup, then run make again." >&2; exit 1; }
	@version=$$(rustc --version | cut -d ' ' -f 2); printf '%s\n' $(RUST_MINIMUM) "$$version" | sort -VC || { \
		echo "uncertain needs Rust $(RUST_MINIMUM) or newer, and this is $$version: run rustup update." >&2; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt maturin
	$(PY_ENV) $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--no-build-isolation --editable '.[dev]'
	touch $@

$(EXTENSION): $(RUST_SOURCES) | $(VENV)/.installed
	$(PY_ENV) $(BIN)/maturin develop --release --locked --skip-install
	touch $@

dev: ## build the extension in place, incrementally: for work on the Rust code, or a Python environment of your own
	CARGO_INCREMENTAL=1 cargo build --release --locked -p uncertain-python
	cp target/release/lib_uncertain.so $(EXTENSION).new
	mv $(EXTENSION).new $(EXTENSION)

lint: install ## rustfmt, clippy (also without optional features) and rustdoc with warnings as errors, ruff, docstrings, torn sentences
	cargo fmt --all --check
	$(CHECK_ENV) cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked -p uncertain-learn --no-default-features --lib --example predict -- -D warnings
	$(CHECK_ENV) RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/check_docstrings.py
	$(BIN)/python tools/check_torn.py
	$(BIN)/python tools/check_ceilings.py

format: install ## write what `make lint` wants, where a tool can
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

typing: install ## mypy, and the extension's stub against the extension
	$(BIN)/mypy
	$(BIN)/stubtest uncertain._uncertain --mypy-config-file pyproject.toml

# The binding has no tests of its own here: with it cargo gives dependencies the features that they have in the
# extension, and compiles neither them nor the core again (tests/python/test_metadata.py).
RUST_TESTED := -p uncertain-learn -p uncertain-simd -p uncertain-python
test-rust: ## unit, integration and documentation tests of the Rust crate
	cargo test --release --locked $(RUST_TESTED)

# Those that this machine has beside the best one, which the tests above used. All tests are repeated: most modules call
# vector kernels somewhere, a list of those that do not would go stale, and the repetition is half a minute of processor time.
INSTRUCTION_SETS = $(shell grep -qw avx512dq /proc/cpuinfo 2>/dev/null && echo avx2) \
	$(shell grep -qw avx2 /proc/cpuinfo 2>/dev/null && echo scalar)
test-instruction-sets: ## the Rust tests again with the vector kernels of every other instruction set of this machine
	@for set in $(INSTRUCTION_SETS); do echo "UNCERTAIN_SIMD=$$set"; UNCERTAIN_SIMD=$$set \
		cargo test --release --locked --quiet $(RUST_TESTED) --tests || exit 1; done

test-python: install ## pytest, the README's snippets among it
	$(BIN)/pytest -n 2

relations: install ## what must not change an answer (units, weights, order, ...), for every method; `make test` takes a sample
	RELATIONS=all $(BIN)/pytest -n 2 tests/python/test_relations.py

golden: install ## predictions of this checkout against those of BASE=commit, to the last bit
	@test -n "$(BASE)" || { echo "make golden BASE=commit: which commit?" >&2; exit 2; }
	bash tools/golden.sh $(BASE) $(abspath $(BIN)/python)

golden-rust: ## fits of the Rust crate in this checkout against those of BASE=commit, to the last bit
	@test -n "$(BASE)" || { echo "make golden-rust BASE=commit: which commit?" >&2; exit 2; }
	bash tools/golden_rust.sh $(BASE)

FUZZ_SECONDS ?= 600
fuzz: install ## minutes of fuzzing through Python, and as many of the Rust crate with cargo-fuzz (FUZZ_SECONDS=600)
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/pytest -q tests/python/test_fuzz.py
	$(BIN)/python tools/cargo_fuzz.py $(FUZZ_SECONDS)

# With a target of its own, build scripts and macros are not instrumented.
SANITIZED := x86_64-unknown-linux-gnu
sanitize: ## the Rust tests under the address sanitizer (nightly compiler, Linux on x86-64)
	@rustc +nightly --version >/dev/null 2>&1 || { \
		echo "make sanitize needs the nightly compiler: rustup toolchain install nightly" >&2; exit 1; }
	RUSTFLAGS=-Zsanitizer=address cargo +nightly test --release --locked --target $(SANITIZED) \
		--target-dir target/sanitize -p uncertain-learn -p uncertain-simd --lib --tests

# The extension is built with the sanitizer, its runtime (GCC's, of the same interface) is loaded before Python, and a copy
# of the package comes before the one in place. Leaks are Python's own, at its end.
BORDER := $(addprefix tests/python/test_,array.py array_states.py arrow.py arrow_types.py mixture_array.py \
	mixture_tables.py carried_errors.py gsu.py huber_units.py kernels.py exchanged_parts.py fuzz.py \
	preprocessing.py missing.py draws.py)
sanitize-python: install ## the Python tests of the border under the address sanitizer (nightly compiler and GCC, Linux on x86-64)
	$(PY_ENV) PYO3_PYTHON=$(abspath $(BIN)/python) RUSTFLAGS="-Zsanitizer=address" CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
		cargo +nightly build --release --locked --target $(SANITIZED) --target-dir target/sanitize -p uncertain-python
	rm -rf target/sanitize/python && mkdir -p target/sanitize/python
	cp -r python/uncertain target/sanitize/python
	cp target/sanitize/$(SANITIZED)/release/lib_uncertain.so target/sanitize/python/uncertain/$(notdir $(EXTENSION))
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONMALLOC=malloc \
		PYTHONPATH=target/sanitize/python $(BIN)/python -m pytest -q -n 0 -p no:cacheprovider $(BORDER) -k "not 256_megabytes"

miri: ## the vector kernels under Miri, without and with AVX2 (nightly compiler with miri and rust-src; hours)
	@cargo +nightly miri --version >/dev/null 2>&1 || { \
		echo "make miri needs Miri: rustup toolchain install nightly --component miri --component rust-src" >&2; exit 1; }
	for features in "" "-Ctarget-feature=+avx2,+fma"; do \
		RUSTFLAGS="$$features" PROPTEST_CASES=3 MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-deterministic-floats" \
		cargo +nightly miri test --locked --target-dir target/miri -p uncertain-simd --lib || exit 1; done

bench: install ## the measurements of benches/README.md (quiet machine, about 10 minutes)
	$(BIN)/python benches/python/run.py

DATA ?= ../shared/data
arena: install ## every method on every table with error bars that is in DATA=folder (about 45 minutes on 2 cores)
	PYTHONPATH=benches $(BIN)/python -m arena run --data $(DATA)

arena-check: install ## is uncertain.fit worse than in the stored result of the arena? (DATA=folder)
	PYTHONPATH=benches $(BIN)/python -m arena check --data $(DATA) --out /dev/null

docs: $(VENV)/.docs ## the site with its gallery and the Rust documentation, in docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(CHECK_ENV) RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps
	rm -rf docs/_build/html/rust && cp -r target/doc docs/_build/html/rust

docs-look: $(VENV)/.docs ## open every page of the built site in Chromium: cut code, contrast, console, ... (after make docs)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'playwright>=1.50'
	$(BIN)/python tools/look_at_docs.py

$(VENV)/.docs: pyproject.toml constraints.txt | $(EXTENSION)
	$(PY_ENV) $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--no-build-isolation --editable '.[docs]'
	touch $@

wheel: install ## the wheel that would be published, in dist/
	$(PY_ENV) $(BIN)/maturin build --release --locked --out dist

smoke: wheel ## the wheel in empty environments without Rust, with the oldest and the newest dependencies
	$(BIN)/python tools/smoke_wheel.py dist

$(VENV)/.release: pyproject.toml | $(EXTENSION)
	$(PY_ENV) $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		--no-build-isolation --editable '.[release]'
	touch $@

workflows: $(VENV)/.release ## what can be checked of .github without running it: schema, zizmor
	$(BIN)/python tools/release_check.py workflows

release-check: $(VENV)/.release ## everything before a release: wheel, licences, advisories, crates; publishes nothing
	$(PY_ENV) $(BIN)/python tools/release_check.py

clean: ## remove everything that was built
	rm -rf $(VENV) target dist docs/_build docs/gallery_pages docs/reference/generated $(EXTENSION) demo.png
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
