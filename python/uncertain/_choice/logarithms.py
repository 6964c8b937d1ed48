"""Which features are taken as logarithms: ``transform=`` of `uncertain.fit`.

"auto" is the rule of `GaussianLogScaler`, for methods that have no coefficients to be read: the choice, and
re-measured learners. Rejected: to try every candidate with and without, which is twice the work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from .._data.incomplete import Incomplete, filled_gaussians
from .._data.typing import Floats
from .._rows.rows import Rows
from ..exceptions import ParameterError
from ..preprocessing import GaussianLogScaler
from .steps import Softening

Transform: TypeAlias = Literal["auto"] | Mapping[str, Literal["log"] | float] | None
"""What `uncertain.fit` takes: the rule, features by name, or none."""

LOOKED_AT = 20_000
"""Rows that the rule looks at, of more."""
LOW = 0.01
"""The quantile of positive values that is the softening of "log"."""


def check_transform(transform: object) -> None:
    """ParameterError for what names no features."""
    if not isinstance(transform, Mapping):
        raise ParameterError(
            f'transform={transform!r}: must be "auto", None, or a dictionary of features that are taken as '
            'logarithms, such as {"flux": "log"}'
        )
    for name, way in transform.items():
        number = isinstance(way, (int, float)) and not isinstance(way, bool) and 0.0 < way < np.inf
        if not (number or way == "log"):
            raise ParameterError(
                f'transform={{{name!r}: {way!r}}}: must be "log", or the softening of the logarithm, a '
                "number > 0 in the units of the feature"
            )


def softening_for(
    transform: Literal["auto"] | Mapping[str, Literal["log"] | float],
    rows: Rows,
    names: Callable[[], list[str]],
) -> Softening | None:
    """Of each feature, by the rule or by name; None if none is taken as a logarithm.

    `names` gives those of the features.
    """
    some = rows.sample(LOOKED_AT)
    if isinstance(transform, str):
        if some.xy_cov is not None:  # which would have to move as well
            return None
        softening = GaussianLogScaler().fit(some.rows).softening_
    else:
        softening = _by_name(transform, some.rows, names())
    return tuple(softening.tolist()) if softening.any() else None


def _by_name(transform: Mapping[str, Literal["log"] | float], rows: object, names: Sequence[str]) -> Floats:
    missing = rows.missing if isinstance(rows, Incomplete) else None
    values = np.asarray(rows) if isinstance(rows, np.ndarray) else filled_gaussians(rows).means  # type: ignore[arg-type]
    softening = np.zeros(values.shape[1])
    for name, way in transform.items():
        if name not in names:
            raise ParameterError(
                f"transform={{{name!r}: ...}}: there is no such feature; they are {', '.join(names)}"
            )
        j = list(names).index(name)
        known = values[:, j] if missing is None else values[~missing[:, j], j]
        positive = known[known > 0.0]
        if not isinstance(way, str):
            softening[j] = way
        elif positive.size:
            softening[j] = np.quantile(positive, LOW)
        else:
            raise ParameterError(f'transform={{{name!r}: "log"}}: no value of it is positive')
    return softening
