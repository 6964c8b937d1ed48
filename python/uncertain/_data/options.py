"""Parameters with a few possible values."""

from __future__ import annotations

from collections.abc import Sequence

from ..exceptions import ParameterError


def check_option(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse what is none of the options."""
    if value not in options:
        listed = ", ".join(f'"{option}"' for option in options)
        raise ParameterError(f"{name}={value!r}: must be one of {listed}")
