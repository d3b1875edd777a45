# A fresh machine needs a Rust toolchain and a C linker; cargo fetches the rest. The tests of the page in a browser
# install node and Chromium from Debian's packages where they are missing. Every part says how long it took.
.PHONY: test quick nightly viewer-test lint docs bench

TIMED = @scripts/timed

# Everything that must hold: format, lints, documentation, all tests, and that the tests notice small errors.
test: lint docs
	$(TIMED) "build of tests" cargo test --workspace --quiet --no-run
	$(TIMED) "tests" cargo test --workspace --quiet
	$(TIMED) "small errors" scripts/mutants.sh
	$(TIMED) "page" $(MAKE) --no-print-directory viewer-test

# While editing: format, lints, and the tests that end soon. SLOW names the others, which take most of the time.
SLOW = snapshot_resume::a_resumed thread_count:: soft_mixed:: filled_bin:: cr_nonlinear::soft_balls cr_nonlinear::stacked \
  cr_nonlinear::cloth read_outs:: gradients::stick gradients::penalty gradients::contact solvers_agree:: row_laws::whoever \
  verdict::absurd time_of_impact::known soft_scaling:: newton::soft_bodies soft_cantilever:: judge:: same_bits:: gallery \
  recordings::ten_seconds examples::
quick:
	$(TIMED) "modules" scripts/modules.py
	$(TIMED) "format" cargo fmt --all --check
	$(TIMED) "clippy" cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(TIMED) "build of tests" cargo test --workspace --quiet --no-run
	$(TIMED) "quick tests" cargo test --workspace --quiet -- $(SLOW:%=--skip %)

# What takes too long for every change; writes docs/nightly.md.
nightly:
	scripts/nightly.sh

# The page: the committed bundle is what its sources build, and it works in a browser. A machine on which node or Chromium
# cannot be installed fails; `make test BROWSER=skip` says that this is known and leaves these tests out.
viewer-test:
ifeq ($(BROWSER),skip)
	@echo "NOT RUN: the tests of the page in a browser (BROWSER=skip)" >&2
else
	scripts/viewer-tools.sh
	cargo build --release --quiet
	cd viewer && npm run --silent check && STICTION=$(CURDIR)/target/release/stiction npm test --silent
endif

lint:
	$(TIMED) "modules" scripts/modules.py
	$(TIMED) "format" cargo fmt --all --check
	$(TIMED) "clippy" cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(TIMED) "clippy, one thread" cargo clippy -p stiction --no-default-features --quiet -- -D warnings

docs:
	$(TIMED) "rustdoc" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# The tables of the papers that exist so far, with pass or fail.
bench:
	cargo run --release --quiet -p stiction-bench -- --out runs/bench
