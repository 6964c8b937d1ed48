"""Parameters with a few possible values."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real

from ..exceptions import ParameterError


def check_options(**given: tuple[object, Sequence[str]]) -> None:
    """`check_option` of several parameters: their values and options."""
    for name, (value, options) in given.items():
        check_option(name, value, options)


def check_option(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse a value that is none of the options."""
    if value not in options:
        listed = ", ".join(f'"{option}"' for option in options)
        raise ParameterError(f"{name}={value!r}: must be one of {listed}")


def number_or_median(name: str, value: object) -> float | None:
    """A bandwidth or scale as a number, None for "median"."""
    if isinstance(value, str) and value == "median":
        return None
    if isinstance(value, Real):
        try:
            return float(value)
        except OverflowError:
            pass
    raise ParameterError(f'{name} = {value!r:.40}: must be a number > 0 or "median"')
