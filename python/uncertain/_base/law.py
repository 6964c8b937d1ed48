"""What laws between true values have in common: intervals of their coefficients, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import ndtri

from .._data.typing import Floats
from ..exceptions import ParameterError
from .docs import documented
from .em import Mixture


@documented
class Law:
    """``coef_`` with standard errors ``coef_std_``."""

    coef_: Floats
    coef_std_: Floats
    intercept_std_: float

    if TYPE_CHECKING:

        def _mixture(self) -> Mixture:
            """The distribution of the true features."""

    @property
    def std_(self) -> Floats:
        """The same as ``coef_std_``: the name that all laws have."""
        return self.coef_std_

    def conf_int(self, level: float = 0.95, method: Literal["wald", "profile"] = "wald") -> Floats:
        """Confidence intervals of the coefficients.

        .. code-block:: text

            coef -+ z std,    z the normal quantile of (1 + level) / 2

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Probability that an interval covers the true coefficient.
        method : {"wald"}, default="wald"
            From standard errors; "profile" is for `GeneralizedLinearLaw`.

        Returns
        -------
        ndarray of shape (d, 2)
            Lower and upper ends; NaN where the standard error is not known.

        Raises
        ------
        ParameterError
            For a level outside (0, 1), or another method.
        """
        if not 0 < level < 1:
            raise ParameterError(f"level = {level!r}: must be between 0 and 1")
        if method != "wald":
            raise ParameterError(f'method = {method!r}: must be "wald"')
        ends: Floats = self.coef_[:, None] + np.outer(self.std_, ndtri((1 + level) / 2) * np.array([-1, 1]))
        return ends


def law_table(rows: Sequence[tuple[str, float, float, float | None, float | None]], level: float) -> str:
    """Name, estimate and standard error, and those of the naive fit, as a table with intervals and z."""
    z = float(ndtri((1 + level) / 2))
    naive = any(row[3] is not None for row in rows)
    percent = f"{100 * level:g} %"
    head = ["", "estimate", "std", "z", f"{percent} from", "to"] + ["naive", "std"] * naive
    lines = [head]
    for name, value, std, naive_value, naive_std in rows:
        ratio = value / std if std > 0 else np.nan
        numbers = [value, std, ratio, value - z * std, value + z * std]
        numbers += [naive_value, naive_std] if naive else []  # type: ignore[list-item]
        lines.append([name, *("" if number is None else f"{number:.4g}" for number in numbers)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
