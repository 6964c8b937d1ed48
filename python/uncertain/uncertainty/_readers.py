"""Uncertainties that other programs wrote: arrays of the `uncertainties` package, SVM-GSU text files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from .._data.array import GaussianArray
from .._data.options import check_option
from .._data.typing import Floats, Ints
from .._data.warn import warn
from ..exceptions import ParameterError, ShapeError, UncertainError, UncertainWarning


def from_uncertainties(values: ArrayLike, *, correlated: bool = False) -> GaussianArray:
    """An object array of numbers with error bars, as the `uncertainties` package makes them.

    Parameters
    ----------
    values : array-like of shape (n, d)
        ``ufloat`` objects, or anything with ``nominal_value`` and ``std_dev``; plain numbers are exact.
    correlated : bool
        Also read the correlations between the features of a row (shared variables); needs the `uncertainties`
        package. Correlations between rows have no place in a GaussianArray and are dropped in any case.

    Returns
    -------
    GaussianArray
        Diagonal covariances, or full ones if `correlated`.

    Raises
    ------
    UncertainError
        For a shape that is not (n, d), or an element that is no number.

    Examples
    --------
    >>> from uncertainties import ufloat
    >>> from uncertain.uncertainty import from_uncertainties
    >>> length, width = ufloat(2.0, 0.1), ufloat(1.0, 0.1)
    >>> from_uncertainties([[length, 2 * length + 2 * width]], correlated=True).covariances().round(3)
    array([[[0.01, 0.02],
            [0.02, 0.08]]])
    """
    array = np.asarray(values, dtype=object)
    if array.ndim != 2:
        raise ShapeError(f"values: expected shape (n, d), got {array.shape}")
    means = np.empty(array.shape)
    std = np.zeros(array.shape)
    for at, value in np.ndenumerate(array):
        try:
            means[at] = getattr(value, "nominal_value", value)
            std[at] = getattr(value, "std_dev", 0.0)
        except (TypeError, ValueError) as error:
            raise UncertainError(f"values: row {at[0]}, feature {at[1]} is no number: {value!r}") from error
    if not correlated:
        return GaussianArray(means, std=std)
    try:
        from uncertainties import covariance_matrix  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "correlated=True needs the package of these values: pip install uncertainties", name=error.name
        ) from error
    return GaussianArray(means, cov=np.array([covariance_matrix(list(row)) for row in array]))


@dataclass(frozen=True)
class GsuFiles:
    """What :func:`read_gsu` found: rows that are in every file, in the order of the file of means."""

    X: GaussianArray
    """The rows."""
    y: Ints | None
    """Their labels, +1 and -1; None without a file of labels."""
    ids: list[str]
    """Their document ids."""
    dropped: dict[str, list[str]]
    """By file ("means", "covariances", "labels"): ids that another file lacks."""

    @property
    def n_dropped(self) -> int:
        """Distinct ids that are missing from at least one file."""
        return len(set().union(*self.dropped.values()))


def read_gsu(
    means: str | PathLike[str],
    covariances: str | PathLike[str] | None = None,
    labels: str | PathLike[str] | None = None,
    *,
    kind: Literal["auto", "full", "diagonal", "isotropic"] = "auto",
    n_features: int | None = None,
) -> GsuFiles:
    """Read the text files of the SVM-GSU authors' programs.

    .. code-block:: text

        means         <id> 1:<value> 2:<value> ...          features count from 1; zeros may be left out
        covariances   <id> 1,1:<value> 1,2:<value> ...      zeros may be left out
        labels        <id> <+1 or -1>

    Rows are those whose id is in every file; the others are dropped with a warning that counts them (the
    original programs say nothing).

    Parameters
    ----------
    means, covariances, labels : path
        Without covariances rows are exact points.
    kind : {"auto", "full", "diagonal", "isotropic"}
        Of the covariances. An isotropic file has only ``1,1:<value>`` in every row, like a diagonal one whose
        other variances are zero: "auto" refuses that. Else "auto" is full if any element is off the diagonal.
    n_features : int, optional
        d; by default the largest feature number in any file.

    Returns
    -------
    GsuFiles

    Raises
    ------
    UncertainError
        Naming the file and the line: what cannot be read, an id that appears twice, indices outside 1..d; no
        common id.

    Warns
    -----
    UncertainWarning
        With the number of ids that are not in every file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from uncertain.uncertainty import read_gsu
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "mean.dat").write_text("doc1 1:0.5 2:1.5\\ndoc2 2:2.0\\n")
    >>> _ = (folder / "cov.dat").write_text("doc1 1,1:0.1 2,2:0.2\\ndoc2 1,1:0.3\\n")
    >>> _ = (folder / "labels.dat").write_text("doc1 +1\\ndoc2 -1\\n")
    >>> rows = read_gsu(folder / "mean.dat", folder / "cov.dat", folder / "labels.dat")
    >>> rows.X, rows.y, rows.n_dropped
    (GaussianArray(2 rows x 2 features, diagonal covariances), array([ 1, -1]), 0)
    """
    mean_rows = {where.id: where for where in _lines(Path(means))}
    cov_rows = {} if covariances is None else {where.id: where for where in _lines(Path(covariances))}
    label_rows = {} if labels is None else {where.id: where for where in _lines(Path(labels))}
    rows_by_file = {"means": mean_rows}
    if covariances is not None:
        rows_by_file["covariances"] = cov_rows
    if labels is not None:
        rows_by_file["labels"] = label_rows
    common = set.intersection(*(set(rows) for rows in rows_by_file.values()))
    ids = [key for key in mean_rows if key in common]
    dropped = {name: [key for key in rows if key not in common] for name, rows in rows_by_file.items()}
    if not ids:
        paths = ", ".join(str(path) for path in (means, covariances, labels) if path)
        raise UncertainError(f"no id is in all of {paths}")
    points = [mean_rows[key].elements(1) for key in ids]
    matrices = [cov_rows[key].elements(2) for key in ids] if covariances is not None else []
    largest = max((max(at) for row in (*points, *matrices) for at in row), default=0)
    d = largest if n_features is None else n_features
    if d < max(largest, 1):
        raise ParameterError(f"n_features = {n_features}: the files have feature number {largest}")
    x = np.zeros((len(ids), d))
    for i, row in enumerate(points):
        for (j,), value in row.items():
            x[i, j - 1] = value
    X = GaussianArray(x) if covariances is None else _with_covariances(x, matrices, kind)
    y = None if labels is None else np.array([label_rows[key].label() for key in ids], dtype=np.int64)
    matched = GsuFiles(X, y, ids, dropped)
    if matched.n_dropped:
        counts = ", ".join(f"{len(keys)} only in {name}" for name, keys in dropped.items() if keys)
        example = next(key for keys in dropped.values() for key in keys)
        warn(
            f"{matched.n_dropped} {'id is' if matched.n_dropped == 1 else 'ids are'} not in every file and "
            f"{'was' if matched.n_dropped == 1 else 'were'} dropped ({counts}), such as {example!r}",
            UncertainWarning,
        )
    return matched


@dataclass(frozen=True)
class _Line:
    """One line: its id, the rest in words, and where it stands for errors."""

    path: Path
    number: int
    id: str
    words: list[str]

    def error(self, what: str) -> UncertainError:
        return UncertainError(f"{self.path}, line {self.number}: {what}")

    def elements(self, indices: int) -> dict[tuple[int, ...], float]:
        """index -> value of words such as 3:0.5 or 3,4:0.5."""
        found: dict[tuple[int, ...], float] = {}
        for word in self.words:
            index, colon, value = word.partition(":")
            try:
                at = tuple(int(part) for part in index.split(","))
                found[at] = float(value)
            except ValueError:
                at = ()
            if not colon or len(at) != indices or min(at) < 1:
                form = "<feature>:<value>" if indices == 1 else "<row>,<column>:<value>"
                raise self.error(f"expected {form} with numbers from 1, got {word!r}")
        return found

    def label(self) -> int:
        """+1 or -1."""
        if len(self.words) != 1 or self.words[0] not in ("1", "+1", "-1"):
            raise self.error(f"expected a label +1 or -1, got {' '.join(self.words)!r}")
        return int(self.words[0])


def _lines(path: Path) -> Iterator[_Line]:
    seen: dict[str, int] = {}
    with path.open(encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            words = text.split()
            if not words:
                continue
            key = words[0].removesuffix(":")
            line = _Line(path, number, key, words[1:])
            if key in seen:
                raise line.error(f"the id {key!r} was already in line {seen[key]}")
            seen[key] = number
            yield line


def _with_covariances(x: Floats, rows: list[dict[tuple[int, ...], float]], kind: str) -> GaussianArray:
    n, d = x.shape
    check_option("kind", kind, ("auto", "full", "diagonal", "isotropic"))
    if kind == "auto":
        if d > 1 and all(set(row) <= {(1, 1)} for row in rows):
            raise ParameterError(
                "every covariance has the element 1,1 alone: pass kind='isotropic' if it is the variance of "
                "all features, or kind='diagonal' if the others are exact"
            )
        kind = "full" if any(j != k for row in rows for j, k in row) else "diagonal"
    if kind == "isotropic":
        return GaussianArray(x, var=np.array([row.get((1, 1), 0.0) for row in rows]))
    if kind == "diagonal":
        var = np.zeros((n, d))
        for i, row in enumerate(rows):
            for (j, k), value in row.items():
                if j == k:
                    var[i, j - 1] = value
        return GaussianArray(x, var=var)
    cov = np.zeros((n, d, d))
    for i, row in enumerate(rows):
        for (j, k), value in row.items():
            cov[i, j - 1, k - 1] = value
    return GaussianArray(x, cov=cov)
