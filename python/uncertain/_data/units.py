"""Units, which are astropy's: error bars in the unit of their means, columns in the unit that is wanted.

A Quantity brings its unit along, and units convert themselves: nothing here imports astropy unless a column
has a unit.
"""

from typing import Any, TypeAlias

import numpy as np

from ..exceptions import ColumnError, UnitError
from .numbers import float_array
from .typing import Array, Floats, NativeColumn

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


def bare(values: NativeColumn) -> NativeColumn:
    """The numbers of a Quantity, anything else as it is."""
    return values.value if hasattr(values, "to_value") and hasattr(values, "unit") else values


def errors_in(unit: Unit, values: object, name: str) -> Floats:
    """The numbers of an argument `name` for means in this unit (None: plain numbers).

    Of logarithmic units such as mag(AB) only differences have errors, and those are in mag: a unit of errors
    that is written with the zero point is taken without it.
    """
    numbers, power = float_array(bare(values), name, narrow=True), POWERS[name]
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
    return numbers if factor == 1.0 else np.multiply(numbers, factor, dtype=np.float64)


def as_unit(unit: object) -> Unit:
    """A unit, or its name, as astropy's unit; None for None."""
    if unit is None or not isinstance(unit, str):
        return unit
    from astropy import units

    return units.Unit(unit, parse_strict="silent")


def unit_name(unit: Unit) -> str | None:
    """The name of astropy's unit; "" for numbers that are said to have no dimension, None without."""
    return None if unit is None else str(unit)


def converted(values: Array, own: Unit, wanted: str | None, power: int, name: str) -> Array:
    """`values`, which are in the unit `own`, in ``wanted ** power``; the same column where nothing changes.

    A column without a unit is in the unit that is wanted. Only factors convert error bars as they convert
    values: Celsius and Kelvin, or magnitudes and fluxes, are not converted. Error bars of a logarithmic unit
    such as mag(AB) are in the plain one (mag).
    """
    if own is None or wanted is None:
        return values
    target = as_unit(wanted)
    if own == target and power == 1:
        return values
    from astropy import units

    scales = not hasattr(own, "function_unit")  # a multiple of other units, and not the logarithm of one
    try:
        factor = own.to(_difference(target) ** power) if scales else None
    except (units.UnitsError, ValueError):  # a unit that astropy does not know
        factor = None
    if factor is None:
        needed = str(target if power == 1 else target**power) or "a number without unit"
        raise ColumnError(
            f"column {name!r} is in {str(own) or 'a number without unit'}, but is needed in {needed}, and no "
            "factor leads from one to the other: convert the column, or name its true unit"
        )
    return values if factor == 1.0 else values * float(factor)


def _difference(unit: Unit) -> Unit:
    """The unit of differences: mag for mag(AB)."""
    return getattr(unit, "function_unit", unit)
