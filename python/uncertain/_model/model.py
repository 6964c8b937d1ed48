"""`Model`: what `uncertain.fit` returns and `uncertain.load` reads back."""

from __future__ import annotations

import copyreg
import html
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline

from .._data.incomplete import Incomplete
from .._errors.sizes import ErrorSizes
from .._held_out.fits import FoldModels
from .._rows.training import TrainingRows
from ..exceptions import ModelFileError, UncertainError
from .calibrating import calibrate
from .file import Beside, from_bytes, read, to_bytes, write
from .findings import Findings
from .remembered import Remembered
from .text import text_of


class Model(Findings):
    """A fitted pipeline together with the columns it reads.

    Attributes
    ----------
    pipeline_ : fitted scikit-learn Pipeline: AsGaussians (for tables) -> GaussianImputer (with
        ``on_missing="impute"``, unless what follows takes gaps) -> GaussianDenoiser (with
        ``meaning="measurement"``) -> GaussianScaler (with ``scale=True``) -> GaussianCollapser (of a
        regression with ``meaning="measurement"``) -> GSUClassifier or the estimator of another method.
    columns_ : which columns are means, errors and target, and which are ignored.
    is_regression_ : is the last step a regression?
    has_distribution_ : does it answer `predict_distribution`? A `GSURegressor` does, unless it comes from a
        file that holds no `residual_std_`.
    residual_std_ : of a `GSURegressor`, the standard deviation of targets around predictions that no error
        bar explains, from held-out rows (see `predict_distribution`); None if it is not known.
    classes_ : the class labels, in the order of the columns of `predict_proba`; None for a regression.

    Tables may be of any library, or a path; they need the columns the model was fitted on, in any order.
    """

    def _remember(self, some: TrainingRows, start: float, held_out: FoldModels | None = None) -> Model:
        """Keep what later rows are compared with, what held-out rows say, and the seconds since `start`.

        `held_out` are the models of the folds of a choice.
        """
        if isinstance(some.rows, Incomplete) and not some.rows.missing.any():
            some = replace(some, rows=some.rows.gaussians)
        found = calibrate(self.pipeline_[self._n_reading :], some, held_out)
        self.residual_std_ = found.residual_std
        sizes = ErrorSizes.of(some.rows, some.weights)
        self._remembered = Remembered(sizes, found.spread, found.conformal, found.widths)
        self._seconds = time.perf_counter() - start
        return self

    @property
    def _beside(self) -> Beside:
        return Beside(self.columns_, self.residual_std_, self._leaderboard, self._remembered)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a safetensors file, which holds numbers and JSON and no code."""
        write(path, self.pipeline_, self._beside)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return _from_bytes, (to_bytes(self.pipeline_, self._beside),)
        except UncertainError:  # a learner that model files do not hold, but pickles do
            return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        """The same text, and scikit-learn's diagram of the pipeline."""
        return f"<pre>{html.escape(repr(self))}</pre>{self.pipeline_._repr_html_()}"


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `Model.save` (or the Rust crate) wrote.

    Raises `ModelFileError` for a truncated, altered or foreign file. Loading runs no code from the file.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return _model_of(*read(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def _from_bytes(data: bytes) -> Model:
    return _model_of(*from_bytes(data))


def _model_of(pipeline: Pipeline, beside: Beside) -> Model:
    known = (beside.columns, beside.residual_std, beside.remembered)
    return Model(pipeline, *known, leaderboard=beside.leaderboard)
