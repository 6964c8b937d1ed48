"""Units of astropy's Quantities: error bars in the unit of their means, or an error.

Nothing here imports astropy: a Quantity brings its unit along, and units convert themselves.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from ..exceptions import UnitError
from .numbers import float_array
from .typing import Floats

Unit: TypeAlias = Any
"""A unit of astropy."""

POWERS = {"std": 1, "factor": 1, "var": 2, "cov": 2, "precision": -2}
"""The power of the means' unit in which each kind of uncertainty is."""


def find_unit(values: object) -> Unit:
    """The unit of a Quantity or of a column of astropy; None without one, and for plain numbers."""
    unit = getattr(values, "unit", None)
    if not (hasattr(unit, "to_string") and hasattr(unit, "physical_type")):
        return None
    return unit if str(unit) else None


def bare(values: Any) -> Any:
    """The numbers of a Quantity, anything else as it is."""
    return values.value if hasattr(values, "to_value") and hasattr(values, "unit") else values


def errors_in(unit: Unit, values: object, name: str) -> Floats:
    """The numbers of an argument `name` for means in this unit (None: plain numbers).

    Of logarithmic units such as mag(AB) only differences have errors, and those are in mag: a unit of errors
    that is written with the zero point is taken without it.
    """
    numbers, power = float_array(bare(values), name), POWERS[name]
    own_unit = find_unit(values)
    if own_unit is None and unit is None:
        return numbers
    if own_unit is None:
        wanted = _difference(unit) ** power
        raise UnitError(
            f"means are in {unit}, but {name} has no unit: pass it as a Quantity ({name} * "
            f"u.Unit({str(wanted)!r}) if that is its unit), or both as plain numbers"
        )
    own_unit = _difference(own_unit)
    wanted = (own_unit**0 if unit is None else _difference(unit)) ** power
    try:
        factor = abs(float(own_unit.to(wanted)))
    except (ValueError, TypeError):  # astropy's UnitConversionError is both
        means = "have no unit" if unit is None else f"are in {unit}"
        raise UnitError(
            f"{name} is in {own_unit}, but means {means}: {name} must be in a unit that converts to "
            f"{str(wanted) or 'a plain number'}"
        ) from None
    return numbers if factor == 1.0 else numbers * factor


def _difference(unit: Unit) -> Unit:
    """The unit of differences: mag for mag(AB)."""
    return getattr(unit, "function_unit", unit)
