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

METHOD_NAMES: tuple[str, ...] = get_args(MethodName)
TASKS: tuple[str, ...] = get_args(Task)
MEANINGS: tuple[str, ...] = get_args(Meaning)
ON_MISSING: tuple[str, ...] = get_args(OnMissing)
HANDLE_UNKNOWN: tuple[str, ...] = get_args(HandleUnknown)
ARMS: tuple[str, ...] = get_args(Arms)
EFFORTS: tuple[str, ...] = get_args(Effort)
