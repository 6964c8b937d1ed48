"""Tables and rows that tests share, and the names of what `uncertain.fit` knows."""

from __future__ import annotations

from typing import get_args, get_type_hints

import uncertain

METHODS: tuple[str, ...] = get_args(get_type_hints(uncertain.fit)["method"])[1:]
"""Every method of `uncertain.fit` but "auto"."""
METHODS_OF_NUMBERS = ("gsu", "kernel", "huber", "mixture", "remeasured")
