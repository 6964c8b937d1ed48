"""`uncertain.check_errors`: are errors as large as their error bars?"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

from .._data.array import GaussianArray
from .._data.choices import OPTIONS, OnMissing
from .._data.groups import Groups
from .._data.incomplete import GaussianRows, Incomplete, filled_gaussians
from .._data.numbers import gaps_as_nan
from .._data.options import check_option, refuse_if, refuse_unknown
from .._data.typing import ColumnOrValues, Floats
from .._data.validation import TableLike
from .._data.warn import warn
from .._rows.source import Source
from .._tables.columns import ROLES, ColumnRoles, Columns, ColumnsLike
from .._tables.contents import Look
from .._tables.flags import with_flags
from .._tables.reading import read_loaded
from .._tables.unread import left_out
from ..exceptions import ParameterError, UncertainError, UncertainWarning
from ..preprocessing import AsGaussians
from .estimate import Found, by_model, by_replicates

REPORTED_ROWS = 2_000
"""Most rows for which a report checks error bars."""
MOST_FEATURES = 30
"""With more features a report does not check error bars, which would take longer than its fits."""
COMMON = "smaller than stated, or features have errors in common (corr=, cov=)"
TOLERATED = 1.2
"""Error bars that are off by less than this factor change little."""


@dataclass(frozen=True, repr=False)
class ErrorCheck:
    """True errors as a factor of the error bars; rows of arrays are features.

    ``print(check)`` shows all of it; `to_dict` is for data frames.
    """

    feature_names: tuple[str, ...]
    factor: Floats
    """k: the true errors are k times the stated ones. NaN where the table does not determine it."""
    interval_68: Floats
    """Shape (d, 2): the ends of the interval of k at 68 %; (0, inf) where the table does not determine it."""
    interval_95: Floats
    """At 95 %."""
    by: tuple[str, ...]
    """How it was estimated: by "replicates", by "model", or "" if it could not be."""
    notes: tuple[str, ...]
    """Why a factor is not known, or in doubt."""
    n_rows: int
    off: tuple[str, ...]
    """Features whose error bars are wrong by more than 20 % and beyond doubt (at 99.9 %)."""
    verdict: str
    """One sentence."""

    @classmethod
    def _of(cls, factors: Sequence[tuple[str, Found]], n_rows: int, *, independent: bool) -> ErrorCheck:
        names, found = [name for name, _ in factors], [f for _, f in factors]
        off = [(name, f) for name, f in factors if f.is_off(TOLERATED)]
        common = [independent and f.by == "model" and f.factor < 1.0 and f.is_off(TOLERATED) for f in found]
        told = sum(f.by != "" and not f.doubtful for f in found)
        which = "" if told == len(found) else f" of {told} of {len(found)} features"
        right = f"The error bars{which} agree with the scatter of these rows."
        unknown = "These rows cannot show whether the error bars are right."
        factor, *ends = (np.array([(f.factor, *f.intervals)[k] for f in found]) for k in (0, 1, 2))
        by = tuple(f.by for f in found)
        notes = tuple(COMMON if shared else f.note for f, shared in zip(found, common, strict=True))
        verdict = _sentence(off) if off else right if told else unknown
        wrong = tuple(name for name, _ in off)
        return cls(tuple(names), factor, ends[0], ends[1], by, notes, n_rows, wrong, verdict)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns "feature", "factor", "lower_68", ..., "by" and "note"."""
        ends = np.column_stack([self.factor, self.interval_68, self.interval_95]).T.tolist()
        names = ("factor", "lower_68", "upper_68", "lower_95", "upper_95")
        columns = {"feature": list(self.feature_names), **dict(zip(names, ends, strict=True))}
        return columns | {"by": list(self.by), "note": list(self.notes)}

    def __repr__(self) -> str:
        lines = [("feature", "true / stated", "68 %", "95 %", "by", "")]
        for name, factor, *ends, by, note in zip(*self.to_dict().values(), strict=True):
            low_68, high_68, low_95, high_95 = (f"{end:.3g}" for end in ends)
            known = (f"{factor:.3g}", f"{low_68} to {high_68}", f"{low_95} to {high_95}")
            lines.append((name, *(known if by else ("?", "", "")), by, note))
        first, *widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ([f"  {name:<{first}}", *map(str.rjust, cells, widths), note] for name, *cells, note in lines)
        return "\n".join([self.verdict, "", *("  ".join(row).rstrip() for row in rows)])

    __str__ = __repr__


def check_errors(
    table: TableLike,
    *,
    columns: ColumnsLike | None = None,
    groups: ColumnOrValues | None = None,
    sample_weight: ColumnOrValues | None = None,
    on_missing: OnMissing = "auto",
    n_components: int | Literal["auto"] = "auto",
    random_state: int = 0,
    **roles: Unpack[ColumnRoles],
) -> ErrorCheck:
    """How many times as large as stated the errors are, feature by feature.

    Where rows are repeated readings of the same objects (`groups`), the factor k follows from their scatter
    within objects, without a model: with readings x_gi of object g, errors s_gi, weights p_gi = 1 / s_gi^2, N
    readings and G objects

    .. code-block:: text

        k^2 = sum_gi p_gi (x_gi - mean_g)^2 / (N - G),    an interval by chi-square with N - G degrees of
        freedom

    Otherwise, with a mixture of Gaussians for the true values (`GaussianDenoiser`) that is fitted to other
    rows, the reading of feature j, given the readings x_o of the row's other features, is taken to be

    .. code-block:: text

        x_j | x_o  ~  sum_c w_c N(m_c, a v_c + k^2 s_j^2)

    with v_c the conditional variance of the true value; k maximises the likelihood of held-out rows (5 folds,
    of whole groups) with a free, and the interval is that of the profile likelihood, adjusted for tails that
    are not Gaussian. So k is determined by rows whose error bars differ: scatter must grow as they do. Where
    all rows have the same error bars, T + k^2 S is the same for many pairs of T and k, and no factor is
    given.

    The model assumes that true values (given the other features) have the same spread where errors are
    larger. Errors in proportion to the value, such as 10 %, violate this: take logarithms first. A factor is
    called doubtful where residuals follow the error bars. Errors that features share make a factor too small
    if the table lacks their correlations.

    Parameters
    ----------
    table : as for :func:`uncertain.fit`; no target is needed, and every column with an error column is
        checked.
    groups : the object of each reading; readings of one object have the same true value: a column, or the
        values, one per row.
    sample_weight : how much each row counts for the model (not among replicates): a column, or the values.
    columns, on_missing, **roles : as for :func:`uncertain.fit`; a role is a field of `Columns`.
    n_components : Gaussians of the mixture; "auto" chooses up to 5 by held-out likelihood.
    random_state : seed of the folds, and of the sample of 5,000 rows from larger tables.

    Returns
    -------
    ErrorCheck
        Prints as a table; `factor`, `interval_68`, `interval_95`, `by`, `notes` and `off` are its columns,
        and ``to_dict()`` makes a data frame of them.

    Raises
    ------
    UncertainError (a ValueError) : for columns that cannot be read, as `fit`; if there are no error bars.

    Examples
    --------
    >>> import numpy as np, uncertain
    >>> rng = np.random.default_rng(0)
    >>> std = rng.uniform(0.1, 1.0, (2000, 2))
    >>> truth = rng.normal(size=(2000, 2))
    >>> readings = truth + std * [1.0, 2.0] * rng.normal(size=(2000, 2))
    >>> check = uncertain.check_errors(uncertain.GaussianArray(readings, std=std, feature_names=["a", "b"]))
    >>> check.off
    ('b',)
    >>> bool(check.interval_95[1, 0] < 2.0 < check.interval_95[1, 1])
    True
    """
    refuse_unknown(roles, ROLES, inspect.signature(check_errors).parameters)
    beside = {"groups": groups, "sample_weight": sample_weight}
    asked, values = Columns.from_arguments(columns, {**roles, **beside})
    check_option("on_missing", on_missing, OPTIONS["on_missing"])
    wrong = n_components != "auto" and (not isinstance(n_components, int) or n_components < 1)
    refuse_if(wrong, f'n_components={n_components!r}: must be an integer >= 1 or "auto"')
    source = Source.from_input(table)
    groups, sample_weight = (values.get(role, getattr(asked, role)) for role in beside)
    rows, names = _read(source, asked, on_missing)
    together = None if groups is None else source.groups(groups)
    weights = None if sample_weight is None else source.weights(sample_weight)
    options = {"n_components": n_components, "weights": weights, "random_state": random_state}
    found = _found(rows, names, together, groups=together, **options)
    independent = rows.kind in ("isotropic", "diagonal") and len(found) > 1
    return ErrorCheck._of(found, len(rows), independent=independent)


def _sentence(found: Sequence[tuple[str, Found]]) -> str:
    parts = []
    for name, f in found[:5]:
        low, high = f.intervals[1]
        if f.factor > 1.0:
            parts.append(
                f"{name} too small (errors are {f.factor:.2g} times as large, {low:.2g} to {high:.2g})"
            )
        else:
            parts.append(f"{name} too large, or shared (errors are {low:.2g} to {high:.2g} times as large)")
    more = f" and {len(found) - 5} others" if len(found) > 5 else ""
    return f"Stated error bars are wrong: {'; '.join(parts)}{more}."


def _found(
    rows: GaussianRows, names: Sequence[str], replicates: Groups | None = None, **options: Any
) -> list[tuple[str, Found]]:
    """Factors of features; rows of one of `replicates` share their true value."""
    noisy = np.flatnonzero(filled_gaussians(rows)._deviations().any(axis=0))
    refuse_if(not noisy.size, "there are no error bars to check: every value is exact", UncertainError)
    rows = rows[:, noisy]
    found = [None] * len(noisy) if replicates is None else by_replicates(rows, replicates)
    modelled = by_model(rows, **options) if None in found else []
    return [(names[j], found[k] or modelled[k]) for k, j in enumerate(noisy.tolist())]


def warn_if_off(
    rows: GaussianRows, names: Sequence[str], groups: Groups | None, weights: Floats | None
) -> ErrorCheck | None:
    """Check error bars; warn about features with errors larger than stated."""
    if not filled_gaussians(rows).trace().any() or len(names) > MOST_FEATURES:
        return None
    found = _found(rows, names, groups=groups, weights=weights, most_rows=REPORTED_ROWS)
    # Errors that seem smaller than stated may as well be errors that features have in common.
    larger = [(name, f) for name, f in found if f.is_off(TOLERATED) and f.factor > 1.0]
    if larger:
        advice = "Multiply the error columns by the factors of uncertain.check_errors(table)"
        warn(f"{_sentence(larger)} {advice}", UncertainWarning)
    return ErrorCheck._of(found, len(rows), independent=len(found) > 1 and rows.kind == "diagonal")


def _read(source: Source, asked: Columns, on_missing: str) -> tuple[GaussianRows, list[str]]:
    """The rows with error bars, and the names of their features."""
    if source.table is None:
        for role in asked.of_kinds("values", "error bar", "beside"):
            raise ParameterError(f"{role}= names a column of a table, but these rows have none")
        data = source.data
        if not isinstance(data, (GaussianArray, Incomplete)):
            data = Incomplete.from_arrays(gaps_as_nan(data, "table"))
        names = data.feature_names or [f"x{j}" for j in range(data.n_features)]
        return data, list(names)
    with source.named():
        columns = read_loaded(asked, source.table)
        columns = with_flags(columns, Look(source.table)) if asked.limits is None else columns
    named = asked.exact is not None or asked.features is not None or asked.mean is not None
    if not named and (text := left_out(columns, source.table.types)):
        warn(text, UncertainWarning)
    reading = AsGaussians(columns=columns, on_missing=on_missing)
    rows = reading.fit_transform(source.rows)
    return rows, [str(name) for name in reading.get_feature_names_out()]
