"""Several rows of one object: what a report promises, and what new objects show.

    python benches/python/groups.py [--draws 20]

A draw is 60 patients with five visits each: a class per patient, twenty values that are their own, and
readings of these with errors of 0.2. Reported are means over draws: the held-out accuracy (with its standard
error, as the report gives it) for single rows and for whole patients, the accuracy on 1000 new patients, and
the log-loss of their probabilities, calibrated either way (ln 2 = 0.693 is knowing nothing).
"""

import argparse

import numpy as np
import polars as pl
from sklearn.metrics import log_loss

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
    """Scores and standard errors of both reports, truth, and both log-losses."""
    rng = np.random.default_rng(seed)
    table, new = visits(rng, 60, 5), visits(rng, 1000, 1)
    grouped = uncertain.fit(table, groups="patient", method=method, meaning="spread")
    found = []
    for groups in (False, "patient"):
        report = grouped.report(table, groups=groups, repeats=2, meanings=False)
        found += [report.score, report.score_se]
    losses = [
        log_loss(new["label"], model.predict_proba(new).to_numpy())
        for model in (uncertain.fit(table, method=method, meaning="spread"), grouped)
    ]
    return [*found, grouped.score(new), *losses]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    print("| method | report, rows | report, patients | new patients | log-loss, rows | log-loss, patients |")
    print("|---|---:|---:|---:|---:|---:|")
    spreads = []
    for method in ("gsu", "kernel", "huber", "minimax"):
        all_draws = np.array([one(method, seed) for seed in range(draws)])
        a, a_se, b, b_se, truth, loose, whole = all_draws.mean(axis=0)
        reports = f"{100 * a:.1f} +- {100 * a_se:.1f} % | {100 * b:.1f} +- {100 * b_se:.1f} %"
        print(f"| {method} | {reports} | {100 * truth:.1f} % | {loose:.3f} | {whole:.3f} |", flush=True)
        spreads.append(f"{method} {100 * all_draws[:, 2].std(ddof=1):.1f}")
    print(f"\nStandard deviation over draws of the score of whole patients, in %: {', '.join(spreads)}")


if __name__ == "__main__":
    main()
