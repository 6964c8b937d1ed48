"""Roles of columns as the model file writes them: plain lists, strings and dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .bars import KINDS


def to_plain(value: object) -> Any:
    """For JSON: pairs of names as a list of [a, b, column]."""
    if isinstance(value, Mapping):
        if any(isinstance(key, tuple) for key in value):
            return [[*key, column] for key, column in value.items()]
        return {feature: list(c) if isinstance(c, (tuple, list)) else c for feature, c in value.items()}
    return list(value) if isinstance(value, tuple) else value


def from_plain(value: object) -> Any:
    """Inverse of `to_plain`."""
    if isinstance(value, (list, tuple)):
        if all(isinstance(entry, (list, tuple)) and len(entry) == 3 for entry in value):
            return {(a, b): column for a, b, column in value}
        return tuple(value)
    if isinstance(value, dict):
        return {feature: tuple(c) if isinstance(c, list) else c for feature, c in value.items()}
    return value


def fits(role: str, value: object) -> bool:
    """Is this a value for the role?"""
    if role in ("features", "ignored", "exact", "categorical", "draws"):
        return _are_names(value)
    if role == "errors":
        known = isinstance(value, dict) and value.keys() <= set(KINDS)
        return known and all(_is_error(kind, own) for kind, own in value.items())  # type: ignore[attr-defined]
    if role == "corr":
        return value is None or _is_error(role, value)
    if role in ("limits", "target_corr", "target_cov"):
        return isinstance(value, dict) and all(isinstance(n, str) for pair in value.items() for n in pair)
    if role == "distributions":
        return isinstance(value, dict) and all(isinstance(n, str) and _are_names(v) for n, v in value.items())
    if role == "automatic":
        return isinstance(value, bool)
    if role == "modes" and value is not True:
        return _are_names(value)
    of_values = role in ("groups", "sample_weight", "offset", "event", "modes")
    return value is None or isinstance(value, str) or (of_values and value is True)


def _is_error(kind: str, value: object) -> bool:
    """A column, or columns of features; of pairs of them."""
    if not isinstance(value, dict):
        return isinstance(value, str)
    if kind in ("cov", "corr"):
        pairs = all(_are_names(key) and len(key) == 2 for key in value)
        return pairs and all(isinstance(column, str) for column in value.values())
    return all(
        isinstance(name, str) and (isinstance(column, str) or (_are_names(column) and len(column) == 2))
        for name, column in value.items()
    )


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)
