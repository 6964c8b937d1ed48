"""The attributes that say how a fit ended, and the warning if it did not converge."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from .._data.typing import Keywords
from .._data.warn import warn

REPORT = {"objective_": "objective", "optimality_gap_": "gap", "n_iter_": "n_iter", "status_": "status"}
"""Attributes, and what the core calls them."""


def keep_reports(estimator: BaseEstimator, fits: list[Keywords]) -> None:
    """Set `objective_`, `optimality_gap_`, `n_iter_` and `status_`: of one problem, or arrays of several."""
    for attribute, name in REPORT.items():
        values = [fit[name] for fit in fits]
        setattr(estimator, attribute, values[0] if len(values) == 1 else np.array(values))


def warn_unless_converged(estimator: BaseEstimator, advice: str) -> None:
    """Warn how the worst of its problems ended, with the certified gap where there is one, and what to do.

    Reads the attributes that `keep_reports` sets.
    """
    status, gap, n_iter = (
        np.atleast_1d(getattr(estimator, a)) for a in ("status_", "optimality_gap_", "n_iter_")
    )
    late = np.flatnonzero(~np.isin(status, ["converged", "steps_done"]))
    if not late.size:
        return
    worst = late[np.argmax(np.nan_to_num(gap[late]))]
    certified = (
        ""
        if np.isnan(gap[worst])
        else f"the objective is within a certified {gap[worst]:.2g} (relative) of the minimum, but "
    )
    name = type(estimator).__name__
    method = f"(method={estimator.method!r})" if hasattr(estimator, "method") else ""
    warn(
        f"{name}{method} did not converge ({status[worst]} after {n_iter[worst]} iterations): {certified}tol "
        f"is {estimator.tol:g}; {advice}",
        ConvergenceWarning,
    )
