"""``alpha="auto"``, ``C="auto"``: penalties by cross-validation on a path.

The path is the core's: the same five folds for every penalty, whole groups held out where there are groups,
each fit starting from that of the stronger penalty before. The choice is the strongest penalty whose
held-out loss is within one standard error (of the difference, over the folds) of the best. With few rows that
is too strong, as standard errors are large where every row is needed: below `FEW_ROWS` an alpha is the best
itself. C is not: most machines with a C count mistakes, and the fewest are luck.
"""

import json
from typing import TypeAlias

import numpy as np

from .._data.options import refuse_if
from .._data.targets import target_scale
from .._data.typing import Booleans, Floats, Keywords, Limits
from .._uncertain import Gaussians, penalty_path
from .run import Report

AUTO = "auto"

FitRows: TypeAlias = (
    Gaussians | tuple[Gaussians, Booleans | None] | tuple[Gaussians, Booleans | None, Limits | None]
)
"""Rows as the core fits them: complete, with marks of missing features, and with marks of limits."""

PATHS: dict[str, Floats] = {
    "gsu": np.geomspace(1.0, 1e-6, 13),  # beyond 1 no row is outside of its margin, and w keeps its direction
    "gsu-regression": np.geomspace(10.0, 1e-6, 15),
    "robust": np.geomspace(1e-3, 1e3, 13),
    "kernel-svc": np.geomspace(1e-3, 1e3, 13),
    "kernel-svr": np.geomspace(1e-3, 1e3, 13),
}
"""The penalties tried by kind of model, the strongest first: two per factor of ten; those beside a sum of
residuals are for a target of scale 1."""

FEW_ROWS = 300
"""Below it the alpha of the least held-out loss is taken."""


def choose(
    kind: str, name: str, parameters: str, rows: FitRows, report: Report | None, arguments: Keywords
) -> tuple[float, dict[str, Floats]]:
    """The penalty of that name, and the path shown as `path_`."""
    online = "partial_fit sees one batch at a time and cannot cross-validate: use fit, or a number"
    refuse_if(arguments.get("online"), f'{name} = "auto": {online}')
    path = PATHS[kind]
    if kind == "kernel-svr":
        path = path * target_scale(arguments["targets"], arguments.get("weights"))
    elif kind == "gsu-regression" and "epsilon_insensitive" in json.loads(parameters)["loss"]:
        path = path / target_scale(arguments["targets"], arguments.get("weights"))
    path_arguments = {k: v for k, v in arguments.items() if k not in ("online", "before")}
    losses, means, errors, chosen = penalty_path(
        kind, parameters, rows, path.tolist(), report=report, **path_arguments
    )
    shown = {name: path.copy(), "mean_loss": means, "standard_error": errors, "fold_losses": losses}
    if name == "alpha" and _counted(rows, arguments) < FEW_ROWS:
        chosen = int(np.argmin(means))
    return float(path[chosen]), shown


def _counted(rows: FitRows, arguments: Keywords) -> int:
    """Rows that have a weight."""
    weights = arguments.get("weights")
    gaussians = rows[0] if isinstance(rows, tuple) else rows
    return gaussians.n_rows if weights is None else int(np.count_nonzero(weights))
