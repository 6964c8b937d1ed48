"""Several rows of one object: what a report promises, and what new objects show.

    python benches/python/groups.py [--draws 20]

A draw is 60 patients with five visits each: a class per patient, twenty values that are their own, and
readings of these with errors of 0.2. Printed are means over draws: the held-out accuracy for single rows and
for whole patients, and the accuracy on 1000 new patients.
"""

import argparse

import numpy as np
import polars as pl

import uncertain


def visits(rng: np.random.Generator, patients: int, each: int, d: int = 20, std: float = 0.2) -> pl.DataFrame:
    """One row per visit."""
    ill = np.arange(patients) % 2
    own = rng.normal(size=(patients, d)) + 0.6 * np.outer(2 * ill - 1, np.arange(d) == 0)
    who = np.repeat(np.arange(patients), each)
    read = own[who] + std * rng.normal(size=(len(who), d))
    columns = {f"f{j}": read[:, j] for j in range(d)} | {
        f"f{j}_err": np.full(len(who), std) for j in range(d)
    }
    return pl.DataFrame(columns | {"patient": who, "label": ill[who]})


def one(method: str, seed: int) -> list[float]:
    """Scores of both reports, and of new patients."""
    rng = np.random.default_rng(seed)
    table, new = visits(rng, 60, 5), visits(rng, 1000, 1)
    grouped = uncertain.fit(table, groups="patient", method=method, meaning="spread")
    reports = [
        grouped.report(table, groups=groups, repeats=2, meanings=False) for groups in (False, "patient")
    ]
    return [*(report.score for report in reports), grouped.score(new)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    print("| method | report on single rows | report on whole patients | new patients |")
    print("|---|---:|---:|---:|")
    for method in ("gsu", "kernel", "huber", "minimax"):
        means = np.mean([one(method, seed) for seed in range(draws)], axis=0)
        print(f"| {method} | {' | '.join(f'{100 * mean:.1f} %' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
