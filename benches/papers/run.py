"""All experiments of this folder, two at a time, with a bar: rewrites the tables and pictures of docs/papers.

    python benches/papers/run.py [--data FOLDER] [--quick] [--jobs 2] [--only gsu_toy,gsu_tv]

--quick tries every script out on little data and writes nothing. Scripts whose data or packages are missing
are named at the end, with what they said; the exit status is 1 if one failed. The whole in one go
(2026-11-22, two cores shared with builds, load 12 to 18) took 82 minutes of processor time, 41 on two idle
cores, and 85 by the clock; --quick takes some 3. MINUTES were measured script by script.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
import page

HERE = Path(__file__).resolve().parent

MINUTES = {
    "gsu_mnist_more": 3.0,
    "gsu_mnist_sizes": 8.0,
    "gsu_mnist_alphas": 1.3,
    "gain_map": 10.0,
    "gsu_wdbc": 4.0,
    "any_learner": 7.0,
    "kepler": 10.0,
    "kepler_seeds": 1.3,
    "gsu_mnist": 20.0,
    "gsu_mnist_why": 2.0,
    "huber_labels": 6.0,
    "gsu_toy": 2.0,
    "huber_uci": 1.4,
    "huber_uci_why": 0.6,
    "gsu_tv_why": 0.3,
    "gsu_standins": 1.3,
    "gsu_standins_printed": 1.0,
    "gsu_tv": 1.0,
    "huber_linear": 0.8,
    "huber_speed": 0.8,
    "measurement_error": 0.6,
    "model_costs": 0.5,
}
"""About how long a script takes: its weight in the bar, and the longest start first."""
OTHERS = 0.2


def scripts() -> dict[str, bool]:
    """Scripts of this folder that take `page.options`, and whether they take --data."""
    found = {}
    for path in HERE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "page.options(" in source and path.stem != "run":
            found[path.stem] = "data=True" in source
    return dict(sorted(found.items(), key=lambda item: -minutes(item[0])))


def minutes(name: str) -> float:
    return MINUTES.get(name, OTHERS)


@dataclass
class Run:
    """One script under way: its process, and files for its words and its progress."""

    name: str
    process: subprocess.Popen[bytes]
    said: Path
    share: Path
    start: float = field(default_factory=time.monotonic)

    def done(self) -> float:
        """Share of the work done, by the script's own account."""
        if self.process.poll() is not None:
            return 1.0
        try:
            return float(self.share.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # not yet, or in the middle of writing
            return 0.0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little data; write nothing")
    parser.add_argument("--data", type=Path, help="folder of Parquet files")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time, one thread each")
    parser.add_argument("--only", help="names of scripts, separated by commas")
    options = parser.parse_args(argv)
    known = scripts()
    names = options.only.split(",") if options.only else list(known)
    unknown = set(names) - set(known)
    if unknown:
        parser.error(f"no such script: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        ended = work(names, options, Path(folder))
    failed = 0
    for run, seconds, said in ended:
        code = run.process.returncode
        failed += code != 0
        last = said.strip().splitlines()[-1:] or [""]
        click.echo(f"{run.name:22} {seconds:7.1f} s   {'ok' if code == 0 else last[0]}")
    return int(failed > 0)


def work(names: list[str], options: argparse.Namespace, folder: Path) -> list[tuple[Run, float, str]]:
    """Run them all; (run, seconds, what it said) in the order of their ends."""
    waiting, running, ended = list(names), [], []
    total = sum(minutes(name) for name in names)
    with click.progressbar(length=1000, label="papers", file=sys.stderr, item_show_func=str) as bar:
        while waiting or running:
            while waiting and len(running) < options.jobs:
                running.append(start(waiting.pop(0), options, folder))
            time.sleep(0.5)
            for run in [r for r in running if r.process.poll() is not None]:
                running.remove(run)
                said = run.said.read_text(encoding="utf-8", errors="replace")
                ended.append((run, time.monotonic() - run.start, said))
            share = sum(minutes(r.name) * r.done() for r in running)
            share += sum(minutes(run.name) for run, _, _ in ended)
            bar.update(int(1000 * share / total) - bar.pos, ", ".join(r.name for r in running))
    return ended


def start(name: str, options: argparse.Namespace, folder: Path) -> Run:
    command = [sys.executable, str(HERE / f"{name}.py")]
    command += ["--quick"] if options.quick else []
    command += ["--data", str(options.data)] if options.data and scripts()[name] else []
    said, share = folder / f"{name}.txt", folder / f"{name}.share"
    environment = {**os.environ, page.PROGRESS: str(share), "OMP_NUM_THREADS": "1"}
    with said.open("wb") as words:
        process = subprocess.Popen(command, stdout=words, stderr=subprocess.STDOUT, env=environment)
    return Run(name, process, said, share)


if __name__ == "__main__":
    sys.exit(main())
