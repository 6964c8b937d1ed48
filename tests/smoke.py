"""What an installed wheel must do, with whatever libraries are there: ``python -I tests/smoke.py``.

Needs no pytest, no Rust and no source tree. Every result is compared with NumPy's or scikit-learn's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import distribution, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import uncertain
from uncertain import GaussianArray, GaussianDiscriminant, GaussianScaler, GSUClassifier, RobustSVC
from uncertain.kernels import probabilistic_rbf
from uncertain.losses import expected_hinge


def check_package() -> None:
    """Version, type marker, licences and the extension, as a stranger gets them."""
    package = distribution("uncertain-learn")
    assert uncertain.__version__ == version("uncertain-learn") == package.version
    assert (files("uncertain") / "py.typed").is_file(), "py.typed is not in the wheel"
    assert (files("uncertain") / "_uncertain.pyi").is_file()
    names = {Path(str(path)).name for path in package.files or []}
    assert {"LICENSE", "THIRD-PARTY-LICENSES.txt"} <= names, sorted(names)
    assert "site-packages" in str(files("uncertain")), f"imported from {files('uncertain')}"
    assert package.metadata["License-Expression"] == "Apache-2.0"
    assert "Homepage, https://uncertain.example" in package.metadata.get_all("Project-URL")


def rows(n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Means, standard deviations and labels."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    std = rng.uniform(0.05, 2.0, (n, 3))
    return y[:, None] + std * rng.standard_normal((n, 3)), std, y


def check_numbers() -> None:
    """Closed forms and limits against NumPy, SciPy and scikit-learn."""
    draws = np.random.default_rng(1).standard_normal(2_000_000)
    for d, s in ((0.3, 0.5), (-1.0, 2.0)):
        monte_carlo = np.maximum(0.0, d + s * draws).mean()
        assert abs(float(expected_hinge(np.array([d]), np.array([s]))[0]) - monte_carlo) < 5e-3
    means, std, y = rows()
    exact = GaussianArray(means)
    own = GaussianDiscriminant().fit(exact, y).predict_proba(exact)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(means, y).predict_proba(means)
    assert np.abs(own - theirs).max() < 1e-3
    gram = probabilistic_rbf(exact, sigma=1.5)
    distance = np.square(means[:, None] - means[None]).sum(axis=2)
    assert np.abs(gram / gram[0, 0] - np.exp(-distance / (2 * 1.5**2))).max() < 1e-9
    hard = RobustSVC(C=1.0, radius=0.0).fit(exact, y).decision_function(means)
    soft = SVC(C=1.0, kernel="linear", tol=1e-8).fit(means, y).decision_function(means)
    assert np.corrcoef(hard, soft)[0, 1] > 0.999
    noisy = GaussianArray(means, std=std)
    pipeline = make_pipeline(GaussianScaler(), GSUClassifier())
    assert cross_val_score(pipeline, noisy, y, cv=5).mean() > 0.6
    assert np.max(pipeline.fit(noisy, y)[-1].optimality_gap_) <= 1e-6


def check_tables() -> list[str]:
    """A dict of columns, and a table of every library that is installed; the model file of one fits all."""
    means, std, y = rows()
    columns = {f"x{j}": means[:, j] for j in range(3)} | {f"x{j}_err": std[:, j] for j in range(3)}
    columns["kind"] = np.where(y == 1, "a", "b")
    model = uncertain.fit(columns, target="kind", method="gsu")
    reference = np.asarray(model.predict(columns))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model.safetensors")
        again = uncertain.load(Path(folder) / "model.safetensors")
    assert np.array_equal(np.asarray(again.predict(columns)), reference)
    makers = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}
    present = [name for name in makers if find_spec(name) is not None]
    for name in present:
        module = __import__(name)
        table = getattr(module, makers[name])(columns)
        assert type(table).__module__.partition(".")[0] == name
        assert np.array_equal(np.asarray(again.predict(table)), reference), name
        assert np.array_equal(
            np.asarray(uncertain.fit(table, target="kind", method="gsu").predict(table)), reference
        )
    return present


def check_command_line() -> None:
    """Fit and predict from files."""
    means, std, y = rows(60)
    text = ["x,x_err,kind"] + [
        f"{m},{s},{'ab'[k]}" for m, s, k in zip(means[:, 0], std[:, 0], y, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "table.csv").write_text("\n".join(text))

        def command(*words: str) -> subprocess.CompletedProcess[str]:
            call = [sys.executable, "-I", "-m", "uncertain", *words]
            return subprocess.run(call, cwd=folder, capture_output=True, text=True)

        assert uncertain.__version__ in command("--version").stdout
        done = command("fit", "table.csv", "--target", "kind", "--method", "gsu")
        assert not done.returncode, done.stderr
        done = command("predict", "model.safetensors", "table.csv")
        assert not done.returncode and len(done.stdout.splitlines()) == 61, done


def main() -> None:
    check_package()
    check_numbers()
    present = check_tables()
    check_command_line()
    names = ("numpy", "scipy", "scikit-learn", *present)
    found = {"python": sys.version.split()[0]} | {name: version(name) for name in names}
    sys.stdout.write(f"smoke tests passed: {json.dumps(found)}\n")


if __name__ == "__main__":
    main()
