"""What many classes cost: one-vs-rest hyperplanes with probabilities, on Gaussian clouds with error bars.

    python benches/python/many_classes.py 10x1000x4 30x2000x4 [--fit | --plain] [--threads 1]

For each CLASSESxROWSxFEATURES: seconds of the clock and of the processors, and log loss and accuracy on as
many new rows. `--fit`: the call `uncertain.fit(table, target, method="gsu")` in place of the estimator
alone; `--plain`: the estimator without probabilities.
"""

import argparse
import resource
import time
import warnings

import numpy as np
import polars

import uncertain
from uncertain import GaussianArray, GSUClassifier


def clouds(classes: int, n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, errors and classes of rows: centers about 6 apart, a spread of 1, errors between 0.1 and 1."""
    centers = 4 / d**0.5 * np.random.default_rng(1000).standard_normal((classes, d))
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, max(n - classes, 0))])
    if n >= 10 * classes:  # ten of every class
        codes = np.concatenate([np.arange(classes).repeat(10), codes])[:n]
    errors = rng.uniform(0.1, 1.0, (n, d))
    truth = centers[codes] + rng.standard_normal((n, d))
    return truth + errors * rng.standard_normal(truth.shape), errors, codes


def frame(means: np.ndarray, errors: np.ndarray, codes: np.ndarray | None = None) -> polars.DataFrame:
    """The same rows as a table."""
    columns: dict[str, object] = {f"x{k}": column for k, column in enumerate(means.T)}
    columns |= {f"x{k}_err": column for k, column in enumerate(errors.T)}
    return polars.DataFrame(
        columns if codes is None else columns | {"kind": [f"c{code:04}" for code in codes]}
    )


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="+")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("classes x rows x features   clock s   cpu s   log loss   accuracy   MB")
    for size in given.sizes:
        classes, n, d = map(int, size.split("x"))
        means, errors, codes = clouds(classes, n, d)
        new_means, new_errors, new_codes = clouds(classes, n, d, seed=1)
        new = GaussianArray(new_means, std=new_errors)
        estimator = GSUClassifier(probability=not given.plain, random_state=0, n_jobs=given.threads)
        clock, processor = time.perf_counter(), time.process_time()
        if given.fit:
            model = uncertain.fit(frame(means, errors, codes), target="kind", method="gsu")
        else:
            estimator.fit(GaussianArray(means, std=errors), codes)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        if given.fit:
            p = model.predict_proba(frame(new_means, new_errors)).to_numpy()
        elif given.plain:
            p = (estimator.predict(new)[:, None] == np.arange(classes)).astype(float)
        else:
            p = estimator.predict_proba(new)
        loss = -np.log(np.maximum(p[np.arange(n), new_codes], 1e-15)).mean()
        correct = (p.argmax(axis=1) == new_codes).mean()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{size:>25} {clock:9.2f} {processor:7.2f} {loss:10.4f} {correct:10.4f} {peak:6.0f}", flush=True
        )


if __name__ == "__main__":
    main()
