"""Gaussian rows with missing values.

A `GaussianArray` has no NaN: everything that computes with one relies on it. So missing values are marked in
a separate mask.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._uncertain import fit
from ..exceptions import UncertainError
from .array import GaussianArray
from .features import column_numbers, is_every, rows_and_columns
from .numbers import refuse_where, row_numbers
from .options import refuse_if
from .typing import Array, Booleans, Floats, Keywords, Limits, RandomState


class Incomplete:
    """Gaussian rows with missing features, or with limits in place of readings.

    It is a `GaussianArray` together with a mask of what is missing, as `numpy.ma.MaskedArray` is for an
    array. A missing feature has infinite variance; the number that the `GaussianArray` holds in its place is
    never used. Denoiser, imputer, discriminant, scaler, `ErrorColumns` and re-measured learners take such
    rows. ``AsGaussians(on_missing="impute")`` and ``AsGaussians(limits=...)`` make them from a table,
    `Incomplete.from_arrays` from arrays with NaN. They have the length, the shape and the indexing of a
    `GaussianArray`.

    Parameters
    ----------
    gaussians : GaussianArray or MixtureArray of n rows
        The rows, with any finite numbers where something is missing. Features that a row of several
        components lacks, or has a limit for, all its components lack.
    missing : array-like of bool, shape (n, d)
        Which features of which rows are missing.
    limits : array-like of int, shape (n, d), default=None
        -1 where the reading is only known to lie below the number in `gaussians` (an upper limit, flux <
        3.2), +1 where it lies above, else 0. A limit is no reading: it counts as missing, except for
        `GaussianMixtureRegressor`, `GaussianDiscriminant` and `GaussianDenoiser`, which use the limit.

    Raises
    ------
    UncertainError
        For another shape of `missing` or `limits`, or a limit that is not -1, 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from uncertain import GaussianDenoiser, Incomplete
    >>> X = Incomplete.from_arrays([[0.0, 0.1], [1.0, 0.9], [2.0, 2.1], [3.0, np.nan]], std=0.1)
    >>> X.missing.sum()
    np.int64(1)
    >>> bool(abs(GaussianDenoiser().fit_transform(X).means[3, 1] - 3.0) < 0.5)
    True
    """

    __slots__ = ("gaussians", "limits", "missing")

    def __init__(self, gaussians: GaussianArray, missing: ArrayLike, limits: ArrayLike | None = None) -> None:
        marks = np.ascontiguousarray(missing)
        n, d = gaussians.shape
        got = f"got shape {marks.shape} of {marks.dtype}"
        message = f"missing: must be True or False for each of {n} x {d} features, {got}"
        refuse_if(marks.shape != (n, d) or marks.dtype != bool, message, UncertainError)
        self.gaussians = gaussians
        self.limits = None if limits is None else _checked_limits(limits, gaussians.shape)
        self.missing: Booleans = marks if self.limits is None else marks | (self.limits != 0)

    @classmethod
    def from_arrays(
        cls,
        means: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        limits: ArrayLike | None = None,
        **errors: ArrayLike,
    ) -> Incomplete:
        """Rows with NaN for what is missing.

        Parameters
        ----------
        means : array-like of shape (n, d)
            The values; NaN is a gap.
        feature_names : list of d str, optional
        limits : array-like of int, shape (n, d), optional
            -1 and 1 where `means` are upper and lower limits of the reading, else 0. NaN there is a gap.
        std, var, cov : array-like, at most one
            Error bars as of a `GaussianArray`; those of a gap may be NaN too.

        Raises
        ------
        UncertainError
            For a value whose error bar is NaN, and what `GaussianArray` refuses.
        """
        values = np.asarray(means, dtype=np.float64)
        missing = np.isnan(values)
        given: Keywords = {
            name: _without_gaps(np.asarray(each, dtype=np.float64), missing) for name, each in errors.items()
        }
        rows = GaussianArray(np.where(missing, 0.0, values), feature_names=feature_names, **given)
        if limits is not None:
            limits = np.where(missing, 0, _checked_limits(limits, rows.shape))
        return cls(rows, missing, limits)

    @property
    def n_features(self) -> int:
        """Dimension d."""
        return self.gaussians.n_features

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.gaussians.shape

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features, as of a GaussianArray."""
        return self.gaussians.feature_names

    @property
    def unit(self) -> str | None:
        """The unit, as of a GaussianArray."""
        return self.gaussians.unit

    def _named(self, names: Iterable[str] | None) -> Incomplete:
        """Rows with these names, where they have none."""
        return self._with(self.gaussians._named(names))

    def _with(self, gaussians: GaussianArray) -> Incomplete:
        """Other numbers of the same rows and features."""
        return Incomplete(gaussians, self.missing, self.limits)

    def __len__(self) -> int:
        return len(self.gaussians)

    def __getitem__(self, index: object) -> Incomplete:
        """Rows, and features, as of a GaussianArray."""
        rows, columns = rows_and_columns(index)
        numbers = column_numbers(columns, self.n_features, self.feature_names)
        picked = rows if isinstance(rows, slice) else row_numbers(rows, len(self))
        marks, limits = self.missing[picked], None if self.limits is None else self.limits[picked]
        if not is_every(columns):
            marks, limits = marks[:, numbers], None if limits is None else limits[:, numbers]
        return Incomplete(self.gaussians[picked, columns], marks, limits)

    @property
    def kind(self) -> str:
        """Kind of the covariances of what is there, as of a GaussianArray."""
        return self.gaussians.kind

    def trace(self) -> Floats:
        """Total variance of every row: infinite where a feature is missing."""
        return np.where(self.missing.any(axis=1), np.inf, self.gaussians.trace())

    def collapse(self, to: Literal["gaussian", "zero", "isotropic", "diagonal"]) -> Incomplete:
        """Simplify covariances, and mixtures to one Gaussian; gaps stay gaps."""
        moments = self.gaussians.collapse("gaussian")
        if to == "gaussian":
            return self._with(moments)
        rows = moments._core, self.missing & (limit_codes(self) == 0)
        return self._with(moments._like(fit("collapser", json.dumps({"to": to}), rows).transform(rows)))

    def sample(self, n: int = 1, random_state: RandomState = None) -> Incomplete:
        """Draw `n` exact points of every row, adjacent; gaps and limits stay."""
        limits = None if self.limits is None else np.repeat(self.limits, n, axis=0)
        return Incomplete(self.gaussians.sample(n, random_state), np.repeat(self.missing, n, axis=0), limits)

    def __repr__(self) -> str:
        limits = 0 if self.limits is None else int(np.count_nonzero(self.limits))
        of_limits = f", {limits} limits" if limits else ""
        return (
            f"Incomplete({self.gaussians!r}, {int(self.missing.sum()) - limits} features missing{of_limits})"
        )


GaussianRows: TypeAlias = GaussianArray | Incomplete
"""Rows without missing values, or with some."""


def filled_gaussians(rows: GaussianRows) -> GaussianArray:
    """The rows, with any numbers where something is missing."""
    return rows.gaussians if isinstance(rows, Incomplete) else rows


def missing_mask(rows: GaussianRows) -> Booleans:
    """Which features are missing: False where none is."""
    return rows.missing if isinstance(rows, Incomplete) else np.zeros(rows.shape, dtype=bool)


def limit_codes(rows: GaussianRows) -> Limits:
    """Which features are limits: zeros where none is."""
    limits = rows.limits if isinstance(rows, Incomplete) else None
    return np.zeros(rows.shape, dtype=np.int8) if limits is None else limits


def like(rows: GaussianRows, made: GaussianArray) -> GaussianRows:
    """Transformed Gaussians with the missing values of the rows that they come from."""
    return Incomplete(made, rows.missing) if isinstance(rows, Incomplete) else made


def with_gaps(rows: GaussianRows) -> Incomplete:
    """The rows with marks of what is missing, where nothing is."""
    return rows if isinstance(rows, Incomplete) else Incomplete(rows, np.zeros(rows.shape, dtype=bool))


def hstack(blocks: Sequence[GaussianRows]) -> GaussianRows:
    """The features of all blocks concatenated, with their gaps and limits."""
    return _stacked(blocks, GaussianArray.hstack, np.hstack)


def vstack(blocks: Sequence[GaussianRows]) -> GaussianRows:
    """The rows of all blocks concatenated, with their gaps and limits."""
    return _stacked(blocks, GaussianArray.concat, np.concatenate)


def _stacked(
    blocks: Sequence[GaussianRows],
    rows: Callable[[list[GaussianArray]], GaussianArray],
    marks: Callable[[list[Array]], Array],
) -> GaussianRows:
    if len(blocks) == 1:
        return blocks[0]
    whole = rows([filled_gaussians(block) for block in blocks])
    if not any(isinstance(block, Incomplete) for block in blocks):
        return whole
    limited = any(isinstance(block, Incomplete) and block.limits is not None for block in blocks)
    limits = marks([limit_codes(block) for block in blocks]) if limited else None
    return Incomplete(whole, marks([missing_mask(block) for block in blocks]), limits)


def _checked_limits(limits: ArrayLike, shape: tuple[int, int]) -> Limits:
    """-1, 0 and 1 of a given shape."""
    flags = np.asarray(limits)
    expected = f"limits: expected {shape[0]} x {shape[1]} numbers, got shape {flags.shape}"
    refuse_if(flags.shape != shape, expected, UncertainError)
    rule = "it must be -1 (the reading is below the number), 0 or 1 (above)"
    refuse_where(~np.isin(flags, (-1, 0, 1)), flags, "limits", rule)
    return np.ascontiguousarray(flags, dtype=np.int8)


def _without_gaps(errors: Floats, missing: Booleans) -> Floats:
    """Error bars with zero for missing features; other NaN stay, for GaussianArray to refuse."""
    if errors.shape == missing.shape:
        return np.where(missing, 0.0, errors)
    if errors.shape == (*missing.shape, missing.shape[1]):
        return np.where(missing[:, :, None] | missing[:, None, :], 0.0, errors)
    return errors


def feature_spread(means: Floats, present: Booleans) -> Floats:
    """The standard deviation of every feature over the rows that have it; 1 where that is 0."""
    known = (column[there] for column, there in zip(means.T, present.T, strict=True))
    spread = np.array([column.std() if column.size else 0.0 for column in known])
    return np.where(spread > 0.0, spread, 1.0)
