"""Base of estimators that the core fits: parameters in, state out.

Design. A class says of which kind (`_kind`) of the core's models it is, and nothing else about the border:

- its parameters go to the core as one JSON text, those of `get_params` that the core knows by name
  (``Core._parameters``); the core checks them, and its errors name them;
- what is fitted stays in Rust (`_model`, a ``Fitted``). Attributes are read from its arrays once
  (``_keep``), and predictions copy nothing back;
- a model file holds the ``Fitted`` objects of ``_steps()``; whoever reads one finds the class by its kind
  (``core_class``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from .._data.options import refuse_if
from .._data.typing import Array, Floats, Header, Ints, Json, Keywords
from .._data.validation import seed_from
from .._data.warn import warn
from .._uncertain import Fitted, check_parameters, fit, parameter_names
from ..exceptions import ParameterError, UncertainError
from .penalty import AUTO, FitRows, choose
from .run import Callback, reporter
from .sums import BeyondSums, Need

CLASSES: dict[str, list[type[Core]]] = {}


@dataclass(eq=False, repr=False, kw_only=True)
class RunParameters:
    """Parameters of the run of a fit, which a model file does not hold."""

    n_jobs: int | None = None
    verbose: int = 0
    callback: Callback = None


NOT_SAVED = frozenset(field.name for field in fields(RunParameters))
"""Parameters of a run, not of a model. A model file never has them; one that does was altered."""


class Core:
    """Mixin for whatever the core fits."""

    _kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of the core that the class stands for."""
    _penalty: ClassVar[str] = ""
    """The parameter that may be "auto": `alpha` or `C`."""
    _remote: tuple[Callable[[bytes], list[Floats]], bool] | None = None
    """During a fit to rows in other processes: what answers requests for their sums; are those here all?"""
    _model: Fitted
    n_features_in_: int
    feature_names_in_: Array

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        for kind in cls.__dict__.get("_kinds", ()):
            CLASSES.setdefault(kind, []).append(cls)

    @property
    def _kind(self) -> str:
        return self._kinds[0]

    def _core_parameters(self) -> Keywords:
        """Parameters for the core: those that it knows by name."""
        params: Keywords = self.get_params(deep=False)  # type: ignore[attr-defined]
        names = parameter_names(self._kind)
        parameters = {name: params[name] for name in names if name in params}
        if "seed" in names and "random_state" in params:
            parameters["seed"] = seed_from(params["random_state"])
        if self._tuned:
            # The default, until one is chosen.
            parameters[self._penalty] = getattr(type(self), self._penalty)
        return parameters

    @property
    def _tuned(self) -> bool:
        """Is the penalty chosen by cross-validation?"""
        value = getattr(self, self._penalty) if self._penalty else None
        is_word = isinstance(value, str)
        wanted = f'{self._penalty} = {value!r}: must be a number > 0, or "auto"'
        refuse_if(is_word and value != AUTO, wanted)
        return is_word

    def _beyond_sums(self) -> Iterator[BeyondSums]:
        """Needs of the fit that sums over rows do not meet; see `_base.sums`."""
        if self._tuned:
            yield BeyondSums(
                Need.COPIES,
                f'{self._penalty}="auto" fits a path to copies of the rows',
                f'method="auto" chooses it on a sample, or fit a sample with {self._penalty}="auto" first, '
                "and pass what it finds",
            )
        if getattr(self, "class_weight", None) is not None:
            yield BeyondSums(
                Need.IN_PLACE,
                "class_weight= makes a weight of its own for each row",
                "pass the weights as a column, sample_weight=",
            )

    @classmethod
    def _arguments(cls, parameters: Keywords) -> Keywords:
        """Arguments of the class from a file that was written in Rust."""
        names = cls.__dataclass_fields__  # type: ignore[attr-defined]
        return {name: value for name, value in parameters.items() if name in names}

    def _parameters(self, **changed: object) -> str:
        """JSON text of the parameters; ParameterError if one is out of range."""
        n_jobs = getattr(self, "n_jobs", None)
        wrong = not (n_jobs is None or isinstance(n_jobs, Integral))
        refuse_if(wrong, f"n_jobs = {n_jobs!r}: must be an integer or None")
        parameters = self._core_parameters() | changed
        for name, value in parameters.items():
            if isinstance(value, int) and not -(2**63) <= value < 2**64:  # numbers that the core cannot read
                raise ParameterError(f"{name}: an integer of {value.bit_length()} bits; must be below 2^64")
        text = encoded(parameters)
        check_parameters(self._kind, text)
        return text

    def _fitted(self, parameters: str, rows: FitRows, **arguments: Any) -> Fitted:
        """One fit by the core; `arguments`: targets, weights, groups, ..."""
        arguments.setdefault("n_jobs", getattr(self, "n_jobs", None))
        if self._tuned:
            penalty, self.path_ = choose(
                self._kind, self._penalty, parameters, rows, reporter(self), arguments
            )
            parameters = encoded(decoded(parameters) | {self._penalty: penalty})
        else:
            self.__dict__.pop("path_", None)  # of an earlier fit
        if self._remote is not None:
            arguments["answer"], arguments["whole"] = self._remote
        with feature_names(getattr(self, "feature_names_in_", None)):
            return fit(self._kind, parameters, rows, report=reporter(self), **arguments)

    def _keep(self, model: Fitted) -> Self:
        """Set fitted attributes; a classifier has its `classes_` before."""
        self._model = model
        if self._penalty:
            setattr(self, f"{self._penalty}_", float(decoded(model.parameters)[self._penalty]))
        self._attributes(model.arrays(), decoded(model.header))
        return self

    def _loaded(self, model: Fitted) -> Self:
        return self._keep(model)

    def _made(self, arrays: dict[str, Floats], header: Header | None) -> Self:
        """Set the state without a fit, from its arrays and header."""
        return self._keep(Fitted.from_arrays(self._kind, self._parameters(), encoded(header), arrays))

    def _attributes(self, arrays: dict[str, Floats], header: Header) -> None:
        """Set the attributes from the core's arrays and header; none by default."""

    def _facts(self) -> list[tuple[str, str]]:
        """Return titles and texts of lines about the fit, for `Model.summary`."""
        return []

    def _number_rows(self, numbers: Ints) -> None:
        """Name rows in answers by these numbers in a table; none by default."""

    def _steps(self) -> list[Fitted]:
        """The fitted objects for a model file."""
        return [self._model]

    def _saved_params(self) -> Keywords:
        """Parameters for a model file."""
        saved: Keywords = self.get_params(deep=False)  # type: ignore[attr-defined]
        return saved

    def _set_saved(self, parameters: Keywords) -> None:
        self.set_params(**parameters)  # type: ignore[attr-defined]

    def _set_names(self, names: Sequence[str]) -> None:
        """Names of features, of a model from a file."""
        self.feature_names_in_ = np.asarray(names, dtype=object)


class TakesGaps:
    """Tells scikit-learn that NaN in an array is a missing feature."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


@contextmanager
def feature_names(names: Array | None) -> Iterator[None]:
    """Errors of the core about features by their numbers say their names, too."""
    try:
        yield
    except UncertainError as error:
        known = {} if names is None else {str(j): f" ({name})" for j, name in enumerate(names)}
        told = re.sub(r"\bfeature (\d+)\b", lambda m: m[0] + known.get(m[1], ""), str(error))
        if told == str(error):
            raise
        raise type(error)(told) from None


def core_class(kind: str, *, classifier: bool) -> type[Core]:
    """The class of this kind: the classifier, where there are two."""
    classes = CLASSES[kind]
    return next((c for c in classes if hasattr(c, "decision_function") == classifier), classes[0])


def encoded(value: object) -> str:
    """JSON text, with "inf", "-inf" and "nan" as strings."""
    return json.dumps(_plain(value), allow_nan=False)


def _plain(value: object) -> Json:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    # Anything else is no parameter of the core, which refuses its text under the parameter's name.
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def decoded(text: str) -> Any:
    return _restored(json.loads(text))


def _restored(value: object) -> object:
    if isinstance(value, dict):
        return {k: _restored(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_restored(v) for v in value]
    return float(value) if isinstance(value, str) and value in ("inf", "-inf", "nan") else value


REPORT = {"objective_": "objective", "optimality_gap_": "gap", "n_iter_": "n_iter", "status_": "status"}
"""Attributes, and what the core calls them."""


def keep_reports(estimator: BaseEstimator, fits: list[Keywords]) -> None:
    """Set `objective_`, `optimality_gap_`, `n_iter_`, `status_` of problems."""
    for attribute, name in REPORT.items():
        values = [fit[name] for fit in fits]
        setattr(estimator, attribute, values[0] if len(values) == 1 else np.array(values))


def warn_unless_converged(estimator: BaseEstimator, advice: str) -> None:
    """Warn how the worst of its problems ended (see `keep_reports`), with the certified gap, and what to
    do."""
    status, gap, n_iter = (
        np.atleast_1d(getattr(estimator, a)) for a in ("status_", "optimality_gap_", "n_iter_")
    )
    late = np.flatnonzero(~np.isin(status, ["converged", "steps_done"]))
    if not late.size:
        return
    worst = late[np.argmax(np.nan_to_num(gap[late]))]
    certified = (
        ""
        if np.isnan(gap[worst])
        else f"the objective is within {gap[worst]:.2g} (relative) of the minimum, but "
    )
    name = type(estimator).__name__
    method = f"(method={estimator.method!r})" if hasattr(estimator, "method") else ""
    warn(
        f"{name}{method} did not converge ({status[worst]} after {n_iter[worst]} iterations): {certified}tol "
        f"is {estimator.tol:g}; {advice}",
        ConvergenceWarning,
    )
