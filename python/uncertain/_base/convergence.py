"""The warning of a fit that ended before its criterion was met: one wording for all estimators."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

__all__ = ["warn_unless_converged"]


def warn_unless_converged(estimator: Any, name: str, advice: str, *, stacklevel: int = 3) -> None:
    """Say how the worst of its problems ended, with the certified gap where there is one, and what to do.

    Reads `status_`, `optimality_gap_` and `n_iter_`: numbers, or arrays with one for each problem.
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
    warnings.warn(
        f"{name} did not converge ({status[worst]} after {n_iter[worst]} iterations): {certified}tol is "
        f"{estimator.tol:g}; {advice}",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
