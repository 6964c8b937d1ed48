#!/usr/bin/env bash
# Compare the fits of tests/rust/golden.rs in this checkout with those of another commit, to the last bit, on this machine.
# golden_rust.sh COMMIT
set -eu
here=$PWD base=$1
folder=$(mktemp -d)
trap 'git worktree remove --force "$folder/base"; rm -rf "$folder"' EXIT
git worktree add --quiet --detach "$folder/base" "$base"
record() {
  (cd "$1" && GOLDEN_WRITE=$2 CARGO_TARGET_DIR=$here/target/golden cargo test --release --locked --quiet --test golden >/dev/null)
}
record "$folder/base" "$folder/base.txt"
record "$here" "$folder/here.txt"
cut -f 1 "$folder/here.txt" | wc -l | xargs printf '%s fits\n'
diff <(cut -f 1 "$folder/base.txt") <(cut -f 1 "$folder/here.txt") || echo "(fits of one side only)"
comm -13 "$folder/base.txt" "$folder/here.txt" | cut -f 1 | sed 's/^/changed: /'
cmp --silent "$folder/base.txt" "$folder/here.txt"
