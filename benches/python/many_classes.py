"""What many classes cost: one-vs-rest hyperplanes with probabilities, on Gaussian clouds with error bars.

    python benches/python/many_classes.py 10x1000x4 30x2000x4 [--fit] [--threads 1]

For each CLASSESxROWSxFEATURES: seconds of the clock and of the processors, and the log loss and the accuracy on as many
new rows. `--fit`: the call `uncertain.fit(table, target, method="gsu")` in place of the estimator alone.
"""

import argparse
import resource
import time
import warnings

import numpy as np

import uncertain
from uncertain import GaussianArray, GSUClassifier


def clouds(n_classes: int, n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, errors and classes of rows: centers about 6 apart, a spread of 1, errors between 0.1 and 1."""
    centers = 4 / n_features**0.5 * np.random.default_rng(1000).standard_normal((n_classes, n_features))
    rng = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, max(n_rows - n_classes, 0))])
    classes = np.concatenate([np.arange(n_classes).repeat(10), classes])[:n_rows] if n_rows >= 10 * n_classes else classes
    errors = rng.uniform(0.1, 1.0, (n_rows, n_features))
    truth = centers[classes] + rng.standard_normal((n_rows, n_features))
    return truth + errors * rng.standard_normal(truth.shape), errors, classes


def frame(means: np.ndarray, errors: np.ndarray, classes: np.ndarray | None = None) -> object:
    """The same rows as a table."""
    import polars

    columns = {f"x{k}": column for k, column in enumerate(means.T)}
    columns |= {f"x{k}_err": column for k, column in enumerate(errors.T)}
    return polars.DataFrame(columns if classes is None else columns | {"kind": [f"c{k:04}" for k in classes]})


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="+")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--plain", action="store_true", help="without probabilities")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("classes x rows x features   clock s   cpu s   log loss   accuracy   MB")
    for size in arguments.sizes:
        n_classes, n_rows, n_features = map(int, size.split("x"))
        means, errors, classes = clouds(n_classes, n_rows, n_features)
        new_means, new_errors, new_classes = clouds(n_classes, n_rows, n_features, seed=1)
        wall, cpu = time.perf_counter(), time.process_time()
        if arguments.fit:
            model = uncertain.fit(frame(means, errors, classes), target="kind", method="gsu")
        else:
            model = GSUClassifier(probability=not arguments.plain, random_state=0, n_jobs=arguments.threads)
            model.fit(GaussianArray(means, std=errors), classes)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if arguments.fit:
            table = model.predict_proba(frame(new_means, new_errors))
            p = table.to_numpy()
        elif arguments.plain:
            p = (model.predict(GaussianArray(new_means, std=new_errors))[:, None] == np.arange(n_classes)).astype(float)
        else:
            p = model.predict_proba(GaussianArray(new_means, std=new_errors))
        own = p[np.arange(n_rows), new_classes]
        loss, accuracy = -np.log(np.maximum(own, 1e-15)).mean(), (p.argmax(1) == new_classes).mean()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{size:>25} {wall:9.2f} {cpu:7.2f} {loss:10.4f} {accuracy:10.4f} {peak:6.0f}", flush=True)


if __name__ == "__main__":
    main()
