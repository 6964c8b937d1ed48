#!/usr/bin/env bash
# Compare predictions of this checkout with those of another commit, to the last bit, on this machine.
# golden.sh COMMIT PYTHON: both run tests/golden/predictions.py of this checkout.
set -eu
here=$PWD base=$1 python=$2 extension=python/uncertain/_uncertain.abi3.so
folder=$(mktemp -d)
trap 'git worktree remove --force "$folder/base"; rm -rf "$folder"' EXIT
git worktree add --quiet --detach "$folder/base" "$base"
if git diff --quiet "$base" -- rust Cargo.toml Cargo.lock; then
  cp "$extension" "$folder/base/$extension"
else
  (cd "$folder/base" && CARGO_TARGET_DIR=$here/target/golden PYO3_PYTHON=$python \
    cargo build --release --locked --quiet -p uncertain-python)
  cp target/golden/release/lib_uncertain.so "$folder/base/$extension"
fi
record() {
  PYTHONPATH=$1/python "$python" tests/golden/predictions.py record "$2" 2>"$folder/log" || { tail -20 "$folder/log" >&2; exit 1; }
}
record "$folder/base" "$folder/base.npz"
record "$here" "$folder/here.npz"
"$python" tests/golden/predictions.py compare "$folder/base.npz" "$folder/here.npz"
