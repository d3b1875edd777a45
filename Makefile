# Everything a fresh machine needs is a Rust toolchain and a C linker; cargo fetches the rest.
.PHONY: test lint docs bench

# Everything that must hold: format, lints, documentation, all tests.
test: lint docs
	cargo test --workspace --quiet

lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet

# The tables of the papers that exist so far, with pass or fail.
bench:
	cargo run --release --quiet -- bench --out runs/bench
