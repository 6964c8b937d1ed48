"""The words among which a caller of `uncertain.fit` chooses: for its signature, its checks, the command line.

Nothing is imported here: the help of the command line must not take two seconds.
"""

from __future__ import annotations

from typing import Literal, get_args

MethodName = Literal[
    "auto", "gsu", "kernel", "huber", "discriminant", "minimax", "mixture", "law", "usvc", "tsvc", "ausvc",
    "mpsvc", "psvm", "remeasured",
]  # fmt: skip
Task = Literal["auto", "classification", "regression"]
Meaning = Literal["auto", "spread", "measurement"]
"""Meaning of error bars."""
OnMissing = Literal["auto", "error", "point", "impute"]
"""Treatment of missing values and error bars."""
HandleUnknown = Literal["error", "ignore"]
"""Treatment of a category that was not in the fit."""
Arms = Literal["auto", "moments", "shape"]
"""The moments that are kept of asymmetric error bars."""
Effort = Literal["fast", "normal", "high"]

OPTIONS: dict[str, tuple[str, ...]] = {
    "method": get_args(MethodName), "task": get_args(Task), "meaning": get_args(Meaning),
    "on_missing": get_args(OnMissing), "handle_unknown": get_args(HandleUnknown), "arms": get_args(Arms),
    "effort": get_args(Effort),
}  # fmt: skip
"""Arguments of `uncertain.fit` with a few words, of which the first is the default unless it is said."""
