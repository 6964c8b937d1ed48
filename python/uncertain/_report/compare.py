"""Held-out rows of a report: candidates on common folds, and tables of what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from .._base.folds import Fold
from .._base.run import Deadline
from .._choice.weights import level, typical_sizes
from .._data.groups import too_few_groups
from .._data.options import check_counts, refuse_if
from .._data.typing import Booleans, Floats, Keywords, RandomState
from .._held_out.engine import Candidate, HeldOut, cross_predict, hold_out, labelled
from .._held_out.equal import together
from .._held_out.fits import silenced
from .._held_out.means import Mean
from .._held_out.measures import OF_CLASSES, OF_NUMBERS, Measure, chosen_measures
from .._held_out.pace import Pace
from .._rows.training import TrainingRows
from ..exceptions import UncertainError
from .candidates import HUBER, LINEAR, MEANINGS, MEANS_ONLY, MODEL, baselines, compared, meanings

if TYPE_CHECKING:
    import polars as pl

MOST_FITS = 10_000
"""Folds times repeats."""
FEW_ROWS, REPEATS = 1_000, 2
"""Repeats by default with so few rows; with more there is one."""
LEVELS = (0.5, 0.68, 0.9, 0.95)
BINS = (0.2, 0.4, 0.6, 0.8)
"""Shares of rows below the ends of bins of probabilities."""
SIZES = ("smallest third", "middle third", "largest third")


@dataclass(frozen=True, kw_only=True)
class Design:
    """How thoroughly candidates are compared, and by which measures; see `Model.report`."""

    folds: int
    repeats: int | None
    listed: int
    meanings: bool
    scorers: Sequence[str] | str | None
    scoring: str | None
    max_rows: int | None
    max_seconds: float | None
    pace: Pace
    random_state: RandomState

    def __post_init__(self) -> None:
        repeats = REPEATS if self.repeats is None else self.repeats
        check_counts(folds=(self.folds, 2), repeats=(repeats, 1), listed=(self.listed, 0))
        many = f"folds={self.folds}, repeats={repeats}: at most {MOST_FITS:,} fits of a candidate make sense"
        refuse_if(self.folds * repeats > MOST_FITS, many)
        seconds: object = 1.0 if self.max_seconds is None else self.max_seconds
        wrong = isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0
        refuse_if(wrong, f"max_seconds={self.max_seconds!r}: must be a number of seconds > 0")

    def measures(self, fitted: Pipeline) -> tuple[list[Measure], Measure]:
        """The measures to take, and the one that ranks."""
        last, probable = fitted[-1], hasattr(fitted, "predict_proba")
        huber = isinstance(last, HUBER)  # whose targets are wrong, and have no density
        usable = [m for m in OF_NUMBERS if not (huber and m.needs == "law")]
        measures, scoring = chosen_measures(
            self.scorers, self.scoring, usable if is_regressor(fitted) else OF_CLASSES
        )
        refuse_if(
            scoring.needs == "probabilities" and not probable,
            f"scoring={scoring.name!r}: {type(last).__name__} gives no probabilities here. Fit with "
            "probability=True or another method",
        )
        return [m for m in measures if probable or m.needs != "probabilities"], scoring


def compare(fitted: Pipeline, training: TrainingRows, design: Design, *, is_measured: bool) -> Keywords:
    """Fields of the report of a fitted pipeline that takes Gaussians, on rows with targets.

    Rows without a target, with one that is a limit, or with a time that was not reached are learned from, and
    not held out. `is_measured`: are error bars measurement errors for the model?
    """
    measures, scoring = design.measures(fitted)
    groups = training.groups
    whole, n_equal = together(training.rows, groups)
    training = replace(training, groups=whole)
    judged = labelled(training)
    if training.event is not None:
        judged &= training.event != 0
    folds = _folds(training, judged, design, regression=is_regressor(fitted))
    pipeline = silenced(fitted, probability=is_regressor(fitted) or _can_calibrate(training, folds))
    held = _ask(pipeline, training, folds, design, judged=judged, is_measured=is_measured)
    tables = _Tables(held, measures, densities=is_regressor(fitted) and not isinstance(fitted[-1], HUBER))
    meaning = "measurement" if is_measured else "spread"
    return {
        "n_rows": len(training), "n_compared": len(tables.first), "folds_done": len(held.folds),
        "folds": sum(fold.repeat == 0 for fold in folds), "repeats": 1 + folds[-1].repeat,
        "n_groups": None if groups is None else np.unique(groups.codes[judged]).size,
        "group": None if groups is None else groups.name,
        "n_equal": n_equal, "listed": design.listed, "scoring": scoring.name, "meaning": meaning,
        "scores": tables.scores(), "lead": tables.lead(scoring, meaning),
        "by_error_size": tables.by_error_size(scoring if scoring.by_row else measures[0]),
        "rows": tables.rows(), "removed": _removed(fitted[-1]),
        "pit": None if tables.law is None else tables.law.pit(held.truth)[tables.first],
    } | tables.calibration()  # fmt: skip


def _folds(training: TrainingRows, judged: Booleans, design: Design, *, regression: bool) -> Sequence[Fold]:
    """Folds that hold out every row that is judged once in a repeat."""
    repeats = (REPEATS if judged.sum() <= FEW_ROWS else 1) if design.repeats is None else design.repeats
    folds = hold_out(
        training, check_random_state(design.random_state), folds=design.folds, repeats=repeats,
        regression=regression, judged=judged,
    )  # fmt: skip
    tested = {*training.y[np.concatenate([[], *(fold.test for fold in folds)]).astype(np.int64)].tolist()}
    if not folds or (not regression and len(tested) < 2):
        rare = [] if regression else sorted({*training.y[judged].tolist()} - tested)[:1]
        if rare and training.groups is not None:
            raise UncertainError(too_few_groups(rare[0], training.groups))
        which = f"class {rare[0]!r} has" if rare else "the table has"
        raise UncertainError(f"{which} a single row. Cross-validation needs two of two classes, or numbers")
    return folds


def _can_calibrate(training: TrainingRows, folds: Sequence[Fold]) -> bool:
    """Has every class rows in two groups of those that each fold leaves?"""
    known, groups = labelled(training), training.groups
    left = [fold.train[known[fold.train]] for fold in folds]
    return groups is None or all(groups.take(at).groups_per_class(training.y[at])[1].min() > 1 for at in left)


def _ask(
    pipeline: Pipeline, training: TrainingRows, folds: Sequence[Fold], design: Design,
    *, judged: Booleans, is_measured: bool,
) -> HeldOut:  # fmt: skip
    """Answers of all candidates about the rows of as many folds, at least one, as there is time for."""
    deadline, pace = Deadline(design.max_seconds), design.pace
    main, others = compared(pipeline, training), dict[str, Candidate]()
    if design.meanings:
        others |= meanings(pipeline, training, is_measured=is_measured)
    if judged.all():
        others |= baselines(pipeline, training)
    pace.begin(len(folds), len(main) + len(others))
    if design.max_seconds is not None:
        first = cross_predict(main, training, folds[:1]).models
        main = {name: one._replace(models=first.get(name, ())) for name, one in main.items()}
        folds = folds[: 1 + int((deadline.left() or 0.0) / max(pace.seconds, 1e-9))]
    held = HeldOut.begin(training, folds, regression=is_regressor(pipeline))
    held.ask(main, heard=pace.step)
    for name, reason in held.refused.items():
        raise UncertainError(f"{name}: {reason}")
    held.ask(others, heard=pace.step, deadline=deadline)
    return held


class _Tables:
    """Tables of a report, from what each row held out adds to every measure of every candidate."""

    def __init__(self, held: HeldOut, measures: Sequence[Measure], *, densities: bool) -> None:
        self.held, self.measures = held, measures
        self.first = np.sort(np.unique(held.at, return_index=True)[1])
        self.law = held.laws(MODEL, measured=True)[0] if densities else None
        self.values: dict[tuple[str, str], Floats] = {}
        for name in held.answers:
            for measure in measures:
                with suppress(UncertainError):  # of rows that are all alike
                    self.values[name, measure.name] = held.rows_of(measure.name, name)[0]

    def scores(self) -> pl.DataFrame:
        mean, paired = self.held.mean, self.held.paired
        rows = [
            (name, measure, *mean(values), *paired(values, self.values[MODEL, measure]))
            for (name, measure), values in self.values.items()
        ]
        return _frame(rows, "candidate measure", "score score_se difference difference_se")

    def lead(self, scoring: Measure, meaning: str) -> Mean | None:
        """By how much measurement error is better than spread, for the model or for linear ones."""
        for names in ({meaning: MODEL}, {each: f"{LINEAR}{each}" for each in MEANINGS}):
            pair = [self.values.get((names.get(each, each), scoring.name)) for each in MEANINGS]
            if pair[0] is not None and pair[1] is not None:
                return self.held.paired(scoring.sign * pair[0], scoring.sign * pair[1])
        return None

    def by_error_size(self, measure: Measure) -> pl.DataFrame:
        held, rows = self.held, []
        r = level(held.readings[0], typical_sizes(held.training.rows))
        edges = np.quantile(r, [1 / 3, 2 / 3])
        if (MEANS_ONLY, measure.name) in self.values and r.min() < edges[0] < edges[1]:
            third = np.searchsorted(edges, r)
            model, means = (self.values[name, measure.name] for name in (MODEL, MEANS_ONLY))
            for k, text in enumerate(SIZES):
                inside = [held.mean(np.where(third == k, v, np.nan)) for v in (model, means, model - means)]
                size = float(2.0 ** np.median(r[third == k]))
                rows.append((text, size, inside[0].value, inside[1].value, *inside[2]))
        return _frame(rows, "errors", "size model means_only difference difference_se")

    def rows(self) -> pl.DataFrame:
        held = self.held
        if MEANS_ONLY not in held.answers:
            return _frame([], "", "row change")
        model, means = held.answers[MODEL][0], held.answers[MEANS_ONLY][0]
        change = np.abs(model.predicted - means.predicted)
        if model.shares is not None and means.shares is not None:
            change = np.abs(model.shares - means.shares).max(axis=1)
        at = self.first[np.argsort(-change[self.first], kind="stable")]
        labels = {"target": held.truth[at], "means_only": means.predicted[at], "model": model.predicted[at]}
        if held.classes is not None:
            labels = {name: held.classes[codes] for name, codes in labels.items()}
        columns = {name: values.tolist() for name, values in labels.items()}
        import polars as pl

        return pl.DataFrame({"row": held.at[at], **columns, "change": change[at]}, strict=False)

    def calibration(self) -> Keywords:
        """Stated and observed probabilities, and the mean difference."""
        held, rows, gap = self.held, [], None
        shares = held.answers[MODEL][0].shares
        if shares is not None and any(measure.needs == "probabilities" for measure in self.measures):
            stated, right = shares.max(axis=1), (shares.argmax(axis=1) == held.truth).astype(np.float64)
            bins, gap = np.searchsorted(np.quantile(stated, BINS), stated), held.mean(right - stated)
            for inside in (bins == k for k in np.unique(bins)):
                rows.append((float(stated[inside].mean()), *held.mean(np.where(inside, right, np.nan))))
        elif self.law is not None:
            off = 2.0 * np.abs(self.law.pit(held.truth) - 0.5)
            rows = [(level, *held.mean((off <= level).astype(np.float64))) for level in LEVELS]
            gap = Mean(rows[1][1] - LEVELS[1], rows[1][2])
        return {"calibration": _frame(rows, "", "stated observed observed_se"), "calibration_gap": gap}


def _frame(rows: Sequence[tuple[object, ...]], texts: str, numbers: str) -> pl.DataFrame:
    import polars as pl

    types = dict.fromkeys(texts.split(), pl.String) | dict.fromkeys(numbers.split(), pl.Float64)
    return pl.DataFrame(rows, schema=types, orient="row")


def _removed(estimator: BaseEstimator) -> pl.DataFrame | None:
    """Rows of the fit whose labels were dropped, for any output, the largest residual first."""
    if not isinstance(estimator, HUBER):
        return None
    import polars as pl

    rows, residuals = (
        np.concatenate(values if isinstance(values, list) else [values])
        for values in (estimator.removed_, estimator.removed_residuals_)
    )
    order = np.argsort(-np.abs(residuals), kind="stable")
    return pl.DataFrame({"row": rows[order], "residual": residuals[order]}).unique("row", maintain_order=True)
