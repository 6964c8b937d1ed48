"""What the meaning of error bars is worth, on simulated measurements: for docs/papers/measurement-error.md.

python benches/papers/measurement_error.py [--quick]
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import page
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from uncertain import GaussianArray, GaussianDenoiser, GaussianDiscriminant, GSUClassifier

D, INFORMATIVE = 10, 3
SHIFT = 1.55
"""Distance of the class means in each informative feature: the best classifier is right in 91 %."""

WHO = [
    "LSVM on means",
    "GSU on (x, S)",
    "denoised + LSVM",
    "denoised + GSU",
    "discriminant",
    "LSVM on true values",
]


def main(argv: Sequence[str] | None = None) -> str:
    quick = page.options(__doc__ or "", argv).quick
    repeats = 2 if quick else 10
    cases = [
        ("40 rows", 40, "cell"),
        ("200 rows", 200, "cell"),
        ("200 rows, one noise level per row", 200, "row"),
        ("200 rows, noise depends on the class", 200, "class"),
    ]
    rows = []
    for name, n, noise in cases:
        scores = np.array([experiment(n, noise, seed) for seed in range(repeats)])
        mean, error = 100 * scores.mean(axis=0), 100 * scores.std(axis=0, ddof=1) / np.sqrt(repeats)
        cells = [f"{m[0]:.1f}" if np.isnan(m[1]) else f"{m[0]:.1f} / {m[1]:.1f}" for m in mean]
        rows.append([name, *cells, f"{np.nanmax(error):.1f}"])
    return page.update(
        "measurement-error.md", {"table": page.table(["", *WHO, "largest s.e."], rows)}, quick=quick
    )


def draw(n: int, noise: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True values, standard deviations of their noise, labels."""
    y = rng.permutation(np.arange(n) % 2)
    z = rng.normal(size=(n, D))
    z[:, :INFORMATIVE] += SHIFT * (y[:, None] - 0.5)
    normal = rng.normal(size=(n, D if noise == "cell" else 1)) * np.ones(D)
    # Log-normal variances of mean 9 (median 2.9).
    log = np.log(9.0) - 1.5**2 / 2 + 1.5 * normal
    if noise == "class":
        log = np.where(y[:, None] == 1, 2.0, -1.0) + normal
    return z, np.exp(log / 2), y


def experiment(n: int, noise: str, seed: int) -> list[tuple[float, float]]:
    """Accuracy on clean and on noisy test rows, in the order of WHO."""
    rng = np.random.default_rng(seed)
    z, std, y = draw(n, noise, rng)
    x = GaussianArray(z + std * rng.normal(size=z.shape), std=std)
    clean, test_std, truth = draw(2000, noise, rng)
    noisy = GaussianArray(clean + test_std * rng.normal(size=clean.shape), std=test_std)
    points = GaussianArray(clean)
    exact, test_exact = x.collapse("zero"), noisy.collapse("zero")

    def both(model: Any, data: GaussianArray, blind: bool) -> tuple[float, float]:
        model.fit(data, y)
        return model.score(points, truth), model.score(test_exact if blind else noisy, truth)

    means_only = make_pipeline(GaussianDenoiser(), FunctionTransformer(drop_errors), GSUClassifier())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = searched(GSUClassifier()).fit(z, y)
        return [
            both(searched(GSUClassifier()), exact, True),
            both(searched(GSUClassifier()), x, False),
            both(searched(means_only), x, False),
            both(searched(make_pipeline(GaussianDenoiser(), GSUClassifier())), x, False),
            both(GaussianDiscriminant(), x, False),
            (oracle.score(points, truth), np.nan),
        ]


def drop_errors(X: GaussianArray) -> GaussianArray:
    """The posterior means as exact points."""
    return X.collapse("zero")


def searched(model: Any) -> GridSearchCV:
    """Alpha by cross-validation on the training rows."""
    name = "alpha" if isinstance(model, GSUClassifier) else "gsuclassifier__alpha"
    return GridSearchCV(model, {name: np.logspace(-3, 1, 5)}, cv=5)


if __name__ == "__main__":
    main()
