"""Tables and rows that tests share, and the names of what `uncertain.fit` knows."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import uncertain

METHODS: tuple[str, ...] = get_args(get_type_hints(uncertain.fit)["method"])[1:]
"""Every method of `uncertain.fit` but "auto"."""
METHODS_OF_NUMBERS = ("gsu", "kernel", "huber", "mixture", "remeasured")


def quick(method: str, *, regression: bool = False) -> dict[str, Any]:
    """The method, with a tenth of the trees where it has any."""
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return {"method": method} | ({"estimator": kind(max_iter=10)} if method == "remeasured" else {})
