"""`make bench`: every comparison side by side in one run, as one table.

    python benches/python/run.py [--update] [--data FILE] [--scale 0.1] [--no-rust]

--update writes the tables into benches/README.md. --data takes the SVM-GSU authors' toy set as Parquet
(columns label, mean, cov_full) instead of random data of its size.
"""

import argparse
import os
import platform
import sys
from itertools import groupby
from pathlib import Path

import denoise
import fits
import gram
import huber
import kernel_svc
import numpy as np
import rust
import scipy
import sklearn

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- results: written by run.py --update -->", "<!-- end of results -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the tables into benches/README.md")
    parser.add_argument("--data", type=Path, help="the authors' toy set as Parquet")
    parser.add_argument("--scale", type=float, default=1.0, help="part of the rows, to try the scripts out")
    parser.add_argument("--no-rust", action="store_true", help="leave out the criterion benches")
    arguments = parser.parse_args()

    text = [machine(), fits_table(fits.run(arguments.scale, arguments.data))]
    text.append(denoise.table(denoise.run(arguments.scale)))
    text.append(gram.table(list(gram.SIZES)))
    text.append(kernel_svc.table([2500]))
    text.append(huber.table(1000))
    if not arguments.no_rust:
        rust.run()
        results = rust.read()
        text += [bandwidth_table(results), rust_table(results)]
    report = "\n\n".join(text)
    print(report)
    if arguments.update:
        before, rest = README.read_text(encoding="utf-8").split(BEGIN)
        README.write_text(f"{before}{BEGIN}\n\n{report}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def machine() -> str:
    cpu = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(": ")[1] for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    return (
        f"{cpu}, {cores} cores, {platform.system()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}. "
        "Command: `make bench`."
    )


def fits_table(rows: list[fits.Row]) -> str:
    lines = [
        "### Fits to a certified gap of 1e-6",
        "",
        "| problem | who | seconds | times ours, whole | times our fit | note |",
        "|---|---|---:|---:|---:|---|",
    ]
    by_problem = groupby(rows, key=lambda row: row[0])
    for problem, group in by_problem:
        members = list(group)
        whole, fit = members[0][2], members[1][2]
        for _, who, seconds, note in members:
            ratios = f"{seconds / whole:.2f} | {seconds / fit:.2f}"
            lines.append(f"| {problem} | {who} | {seconds:.3g} | {ratios} | {note} |")
    return "\n".join(lines)


def bandwidth_table(results: dict[str, tuple[float, float]]) -> str:
    """Passes in bytes of rows per second, and as part of what a plain sum of the same memory reaches."""
    sums = {id.split("/")[-1]: rate for id, (_, rate) in results.items() if id.startswith("memory/sum")}
    lines = [
        "### A pass over the data beside a plain sum of as much memory",
        "",
        f"Plain sum: {', '.join(f'{rate / 1e9:.1f} GB/s ({threads})' for threads, rate in sums.items())}.",
        "",
        "| pass | milliseconds | GB/s | of the plain sum |",
        "|---|---:|---:|---:|",
    ]
    for id, (seconds, rate) in results.items():
        if id.startswith("pass/"):
            _, case, want, threads = id.split("/")
            share = 100 * rate / sums[threads]
            numbers = f"{1e3 * seconds:.1f} | {rate / 1e9:.2f} | {share:.0f} %"
            lines.append(f"| {case}, {want}, {threads} | {numbers} |")
    return "\n".join(lines)


def rust_table(results: dict[str, tuple[float, float]]) -> str:
    lines = ["### Other hot paths", "", "| bench | milliseconds | per second |", "|---|---:|---:|"]
    for id, (seconds, rate) in results.items():
        if not id.startswith(("memory/", "pass/")):
            lines.append(f"| {id} | {1e3 * seconds:.4g} | {rate:,.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
