#!/usr/bin/env bash
# Checks that the core builds for wasm32-unknown-unknown, in one thread and without a clock. Says NOT RUN, and ends with 0, where the
# target cannot be had: not installed, not installable with rustup, and no sources of std to build it from.
set -euo pipefail
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
check=(check --quiet -p stiction --no-default-features --target "$target")

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; }

if ! has_target && command -v rustup >/dev/null; then
  echo "rustup target add $target" >&2
  timeout 300 rustup target add "$target" >&2 || true
fi
if has_target; then
  cargo "${check[@]}"
  echo "builds with the installed target"
elif command -v rustup >/dev/null && rustup component list --installed 2>/dev/null | grep -q '^rust-src'; then
  RUSTC_BOOTSTRAP=1 cargo "${check[@]}" -Z build-std=std,panic_abort
  echo "builds with std built from rust-src"
elif [ -x /usr/bin/rustc ] && [ -x /usr/bin/cargo ] && [ -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src" ]; then
  # Debian's packages rustc-web, cargo-web and rust-web-src.
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 /usr/bin/cargo "${check[@]}" --target-dir target/wasm -Z build-std=std,panic_abort
  echo "builds with std built from Debian's sources"
else
  echo "NOT RUN: the target $target is not installed and cannot be had (rustup target add $target)"
fi
