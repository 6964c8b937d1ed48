"""Fuzzing below the border, with cargo-fuzz and the nightly compiler: `make fuzz`.

    python tools/cargo_fuzz.py [--sanitizer none] SECONDS [TARGET ...]
    python tools/cargo_fuzz.py --draw EDGES.svg

Builds the targets of fuzz/ with the address sanitizer and debug assertions (in fuzz/target), and runs each
for its share of the seconds, from fuzz/corpus and from what earlier runs found (in fuzz/target/found). Says
how many inputs it tried and how many edges of the program they reached, and adds to the logs in
fuzz/target/logs, of which `--draw` makes the picture of edges against inputs. Without cargo-fuzz or the
nightly compiler it says so and does nothing. An input that fails is left in fuzz/artifacts/TARGET;
`cargo +nightly fuzz run TARGET FILE` runs it again.
"""

from __future__ import annotations

import argparse
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
TIMEOUT = 60
"""Seconds that one input may take, on the clock of a machine with other work."""
SEEDS = {"load": ("load", "damaged"), "sealed": ("sealed", "load")}
"""Folders of fuzz/corpus that a target starts from, where it is not the one of its name alone: every file of
`load` is a sound model, those of `damaged` are refused or not."""


def missing() -> str | None:
    """What has to be installed first."""
    if shutil.which("cargo-fuzz") is None:
        return "cargo-fuzz (cargo install cargo-fuzz)"
    nightly = subprocess.run(["rustc", "+nightly", "--version"], capture_output=True, check=False)
    return None if nightly.returncode == 0 else "the nightly compiler (rustup toolchain install nightly)"


def binary(target: str) -> Path:
    return FUZZ / "target" / HOST / "release" / target


def build(sanitizer: str) -> None:
    # In one unit, as cargo-fuzz has it, kernels of the dependencies alone take ten minutes.
    flags = {"RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} -Ccodegen-units=16".strip()}
    command = ["cargo", "+nightly", "fuzz", "build", "--sanitizer", sanitizer, "--target", HOST]
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
        f"-timeout={TIMEOUT}",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
        *FORMATS.get(target, []),
        *([found] if keep else []),
        *(folder for folder in seeds if folder.is_dir()),
    ]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    with logs(target).open("a") as log:
        log.writelines(line for line in done.stderr.splitlines(keepends=True) if COUNT.match(line))
    if done.returncode != 0:
        sys.stderr.write(done.stderr[-8000:])
        done.check_returncode()
    tried, edges = curve(done.stderr)[-1]
    return f"{target}: {tried:,} inputs, {edges:,} edges"


# -- the curve of edges against inputs

COUNT = re.compile(r"#(\d+)\t\S+ +cov: (\d+)")
"""What libFuzzer says of every new input, and twice as seldom each time of how many it has tried."""


def logs(target: str) -> Path:
    folder = FUZZ / "target" / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{target}.log"


def curve(log: str) -> list[tuple[int, int]]:
    """(inputs tried so far, edges reached) along one run, or several of one build, one after the other."""
    before, last, points = 0, 0, [(0, 0)]
    for count, edges in COUNT.findall(log):
        before += last if int(count) < last else 0  # another run
        last = int(count)
        points.append((before + last, max(int(edges), points[-1][1])))
    return points


def draw(path: str) -> None:
    """Edges against inputs, all targets that have a log."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
    for target in SHARES:
        if logs(target).exists():
            inputs, edges = zip(*curve(logs(target).read_text())[1:], strict=True)
            axes.semilogx(inputs, edges, drawstyle="steps-post", label=f"{target}: {inputs[-1]:,}")
    axes.set(xlabel="inputs", ylabel="edges reached", ylim=(0, None))
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seconds", nargs="?", type=float, default=600.0)
    parser.add_argument("targets", nargs="*", choices=[[], *SHARES], default=[])
    parser.add_argument("--sanitizer", choices=["address", "none"], default="address")
    parser.add_argument("--draw", metavar="SVG")
    given = parser.parse_args()
    if given.draw:
        draw(given.draw)
        return
    if lacking := missing():
        print(f"SKIPPED: fuzzing below the border needs {lacking}")
        return
    build(given.sanitizer)
    targets = given.targets or list(SHARES)
    whole = sum(SHARES[target] for target in targets)
    for target in targets:
        print(run(target, given.seconds * SHARES[target] / whole), flush=True)


if __name__ == "__main__":
    main()
