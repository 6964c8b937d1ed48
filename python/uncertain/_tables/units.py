"""Units of columns, which are astropy's; nothing here imports it unless a column has one."""

from __future__ import annotations

from typing import Any

from .._data.typing import Array
from .._data.units import Unit
from ..exceptions import ColumnError


def as_unit(unit: Any) -> Any:
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
        factor = own.to(getattr(target, "function_unit", target) ** power) if scales else None
    except (units.UnitsError, ValueError):  # a unit that astropy does not know
        factor = None
    if factor is None:
        needed = str(target if power == 1 else target**power) or "a number without unit"
        raise ColumnError(
            f"column {name!r} is in {str(own) or 'a number without unit'}, but is needed in {needed}, and no "
            "factor leads from one to the other: convert the column, or name its true unit"
        )
    return values if factor == 1.0 else values * float(factor)
