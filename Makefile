# A fresh machine needs a Rust toolchain and a C linker; cargo fetches the rest. The tests of the page in a browser
# install node and Chromium from Debian's packages where they are missing.
.PHONY: test viewer-test lint docs bench

# Everything that must hold: format, lints, documentation, all tests.
test: lint docs
	cargo test --workspace --quiet
	$(MAKE) viewer-test

# The page: the committed bundle is what its sources build, and it works in a browser. A machine on which node or Chromium
# cannot be installed fails; `make test BROWSER=skip` says that this is known and leaves these tests out.
viewer-test:
ifeq ($(BROWSER),skip)
	@echo "NOT RUN: the tests of the page in a browser (BROWSER=skip)" >&2
else
	scripts/viewer-tools.sh
	cargo build --quiet
	cd viewer && npm run --silent check && npm test --silent
endif

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# The tables of the papers that exist so far, with pass or fail.
bench:
	cargo run --release --quiet -- bench --out runs/bench
