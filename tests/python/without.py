"""The same work on every kind of table, where libraries are missing: ``python without.py polars``.

A library is missing when no finder finds it, as in an environment that never had it; nothing is patched in
the package. Prints JSON: what came out of each kind of table.
"""

import json
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

N = 24


def hide(modules: list[str]) -> None:
    """Let imports of these top-level modules fail, and `find_spec` say that they are not there."""

    class Without(PathFinder):
        @classmethod
        def find_spec(cls, name: str, path: Any = None, target: Any = None) -> Any:
            hidden = name.partition(".")[0] in modules
            return None if hidden else PathFinder.find_spec(name, path, target)

    place = sys.meta_path.index(PathFinder)
    sys.meta_path[place] = Without


def there(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


def columns() -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(3)
    kind = np.repeat(["star", "quasar"], N // 2)
    return {
        "g": rng.normal(20.0, 1.0, N) + 2.0 * (kind == "star"), "g_err": rng.uniform(0.01, 0.5, N),
        "r": rng.normal(19.0, 1.0, N), "r_err": rng.uniform(0.01, 0.5, N), "kind": kind,
    }  # fmt: skip


def tables() -> dict[str, Any]:
    """The same columns in every kind of table that can be made here."""
    import numpy as np

    plain = columns()
    structured = np.empty(N, dtype=[(name, values.dtype) for name, values in plain.items()])
    for name, values in plain.items():
        structured[name] = values
    made: dict[str, Any] = {
        "dict": plain,
        "dict of lists": {name: values.tolist() for name, values in plain.items()},
        "dict of masked": {
            n: np.ma.array(v, mask=False) if v.dtype.kind == "f" else v for n, v in plain.items()
        },
        "structured": structured,
        "recarray": structured.view(np.recarray),
    }
    if there("polars"):
        import polars

        made["polars"] = polars.DataFrame(plain)
    if there("pandas"):
        import pandas

        made["pandas"] = pandas.DataFrame(plain)
        made["pandas nullable"] = pandas.DataFrame(plain).astype(
            dict.fromkeys(("g", "g_err", "r", "r_err"), "Float64")
        )
    if there("pyarrow"):
        import pyarrow

        made["pyarrow"] = pyarrow.table(plain)
        made["batch"] = made["pyarrow"].to_batches()[0]
    if there("astropy"):
        from astropy.table import QTable, Table

        made["astropy"], made["qtable"] = Table(plain), QTable(plain)
    if there("narwhals") and there("pandas"):
        import narwhals

        made["narwhals"] = narwhals.from_native(made["pandas"])
    if there("duckdb") and there("pyarrow"):
        import duckdb

        source = made["pyarrow"]
        made["duckdb"] = duckdb.from_arrow(source)
    return made


def plain_list(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def named(table: Any) -> list[str]:
    for attribute in ("colnames", "column_names"):
        if hasattr(table, attribute):
            return list(getattr(table, attribute))
    dtype = getattr(table, "dtype", None)
    if getattr(dtype, "names", None):
        return list(dtype.names)
    return list(table if isinstance(table, dict) else table.columns)


def of_table(table: Any) -> dict[str, Any]:
    """Fit, predict, append and report."""
    import uncertain

    model = uncertain.fit(table, target="kind", method="gsu", meaning="spread")
    return {
        "predicted": plain_list(model.predict(table)),
        "coef": model.coef_.round(9).tolist(),
        "probability": [round(p, 9) for p in plain_list(model.predict_proba(table)["star"])],
        "appended": named(model.predict(table, append=True)),
        "verdict": bool(model.report(table, folds=2, repeats=1).verdict),
    }


def of_gaps() -> dict[str, Any]:
    """Masked values, lists with gaps, ragged lists, strings where numbers belong."""
    import numpy as np

    from uncertain import AsGaussians
    from uncertain.exceptions import UncertainError

    masked = columns()
    masked["g"] = np.ma.array(masked["g"], mask=np.arange(N) % 5 == 0)
    lists = {"mean": [[1.0, 2.0], None, [3.0, 4.0]], "std": [[0.1, 0.2], [0.3, 0.4], [0.5, None]]}
    found: dict[str, Any] = {}
    scalar: dict[str, Any] = {"features": ["g", "r"], "std": "{}_err"}
    for name, table, roles in (("masked", masked, scalar), ("lists", lists, {"mean": "mean", "std": "std"})):
        read = AsGaussians(**roles, on_missing="impute").fit_transform(table)
        found[name] = [read.gaussians.means.round(9).tolist(), read.missing.tolist()]
    wrong: dict[str, Any] = {
        "masked": (masked, scalar),
        "ragged": ({"mean": [[1.0, 2.0], [3.0]]}, {"mean": "mean"}),
        "text": ({"mean": ["a", "b"]}, {"mean": "mean"}),
        "mixed": ({"mean": [[1.0], "b"]}, {"mean": "mean"}),
    }
    for name, (table, roles) in wrong.items():
        try:
            AsGaussians(**roles).fit_transform(table)
            found[f"{name} refused"] = False
        except UncertainError as error:
            found[f"{name} refused"] = str(error).partition(":")[0]
    return found


def of_the_rest() -> dict[str, Any]:
    """What has a table of its own: replicates, the choice; and what cannot be done."""
    import numpy as np

    import uncertain
    from uncertain.exceptions import UncertainError
    from uncertain.uncertainty import from_replicates

    rng = np.random.default_rng(0)
    table = {"star": np.repeat(np.arange(8), 5), "x": rng.normal(size=40), "y": rng.normal(size=40)}
    lists = from_replicates(table, by="star", of="mean", columns="lists")
    model = uncertain.fit(columns(), target="kind", effort="fast")
    saved = Path("model.safetensors")
    model.save(saved)
    found: dict[str, Any] = {
        "replicates": {name: list(np.shape(values)) for name, values in lists.items()},
        "leaderboard": named(model.leaderboard_),
        "loaded": plain_list(uncertain.load(saved).predict(columns()))
        == plain_list(model.predict(columns())),
    }
    try:
        uncertain.fit("catalogue.csv", target="kind")
    except (UncertainError, FileNotFoundError) as error:
        found["path"] = f"{type(error).__name__}: {error}"
    return found


def work() -> dict[str, Any]:
    """All of it."""
    found: dict[str, Any] = {name: of_table(table) for name, table in tables().items()}
    return found | {"gaps": of_gaps(), "rest": of_the_rest()}


if __name__ == "__main__":
    hide(sys.argv[1:])
    sys.stdout.write(json.dumps(work()))
