"""Fuzzing below the border, with cargo-fuzz and the nightly compiler: `make fuzz`.

    python tools/cargo_fuzz.py SECONDS [TARGET ...]

Builds the targets of fuzz/ with the address sanitizer and debug assertions (in fuzz/target), and runs each
for its share of the seconds, from fuzz/corpus and from what earlier runs found (in fuzz/target/found). Says
how many inputs it tried and how many edges of the program they reached. Without cargo-fuzz or the nightly
compiler it says so and does nothing. An input that fails is left in fuzz/artifacts/TARGET;
`cargo +nightly fuzz run TARGET FILE` runs it again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FUZZ = ROOT / "fuzz"
HOST = "x86_64-unknown-linux-gnu"
SHARES = {"load": 1, "sealed": 6, "gaussians": 3, "fit": 4}
"""Targets and their shares of the time: nearly all that can go wrong is behind the checksum."""
FORMATS = {
    "load": [f"-dict={FUZZ / 'model.dict'}", "-max_len=8192"],
    "sealed": [f"-dict={FUZZ / 'model.dict'}", "-max_len=8192"],
    "fit": ["-max_len=600", "-len_control=0"],
}
"""What libFuzzer is told of a target's inputs."""
SEEDS = {"sealed": ("sealed", "load")}
"""Folders of fuzz/corpus that a target starts from, where it is not the one of its name."""


def missing() -> str | None:
    """What has to be installed first."""
    if shutil.which("cargo-fuzz") is None:
        return "cargo-fuzz (cargo install cargo-fuzz)"
    nightly = subprocess.run(["rustc", "+nightly", "--version"], capture_output=True, check=False)
    return None if nightly.returncode == 0 else "the nightly compiler (rustup toolchain install nightly)"


def binary(target: str) -> Path:
    return FUZZ / "target" / HOST / "release" / target


def build() -> None:
    # In one unit, as cargo-fuzz has it, kernels of the dependencies alone take ten minutes.
    flags = {"RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} -Ccodegen-units=16".strip()}
    command = ["cargo", "+nightly", "fuzz", "build", "--target", HOST]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | flags)


def run(target: str, seconds: float, *, keep: bool = True) -> str:
    """One target for so long; a line about it. Raises CalledProcessError for an input that fails."""
    found = FUZZ / "target" / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    artifacts = FUZZ / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    seeds = [FUZZ / "corpus" / name for name in SEEDS.get(target, (target,))]
    command = [
        binary(target),
        f"-max_total_time={max(1, round(seconds))}",
        f"-artifact_prefix={artifacts}/",
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
        *FORMATS.get(target, []),
        *([found] if keep else []),
        *(folder for folder in seeds if folder.is_dir()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr[-8000:])
        done.check_returncode()
    edges = re.findall(r"cov: (\d+)", done.stderr)
    tried = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    return f"{target}: {int(tried[1]) if tried else 0:,} inputs, {edges[-1] if edges else 0} edges"


def main() -> None:
    seconds, targets = float(sys.argv[1]), sys.argv[2:] or list(SHARES)
    if lacking := missing():
        print(f"SKIPPED: fuzzing below the border needs {lacking}")
        return
    build()
    whole = sum(SHARES[target] for target in targets)
    for target in targets:
        print(run(target, seconds * SHARES[target] / whole), flush=True)


if __name__ == "__main__":
    main()
