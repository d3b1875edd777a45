#!/usr/bin/env bash
# Installs what the tests of the page need, where it is missing: node, npm, Chromium (Debian's packages) and the packages
# of viewer/package-lock.json.
set -euo pipefail
cd "$(dirname "$0")/../viewer"
missing=()
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
[ -n "${CHROMIUM:-}" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
  || command -v google-chrome >/dev/null || missing+=(chromium)
if [ ${#missing[@]} -gt 0 ]; then
  sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  echo "installing ${missing[*]}"
  if ! command -v apt-get >/dev/null; then
    echo "error: the tests of the page need ${missing[*]}; install them (CHROMIUM=path names a browser)," >&2
    echo "or leave these tests out: make test BROWSER=skip" >&2
    exit 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  get="$sudo apt-get -qq -o Acquire::Retries=3"
  if ! { $get update && $get install -y --no-install-recommends "${missing[@]}" >/dev/null; }; then
    echo "error: ${missing[*]} could not be installed; the tests of the page need them" >&2
    echo "install them otherwise, or leave these tests out: make test BROWSER=skip" >&2
    exit 1
  fi
fi
if ! cmp -s package-lock.json node_modules/.installed-lock; then
  # Not `npm ci`: it refuses a lock file without the optional packages of other platforms.
  npm install --no-save --no-audit --no-fund --loglevel=error
  cp package-lock.json node_modules/.installed-lock
fi
