"""`Report`: a page about a model and the error bars of its rows, from rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._choice.leaderboard import of_sizes, pm
from .._data.typing import Floats, Ints, JsonObject
from .._errors.check import ErrorCheck
from .._held_out.means import Mean
from .._held_out.measures import MEASURES, OF_CLASSES
from ..plot._display import COLORS, GREY, bare, new_figure
from .candidates import LINEAR, MEANINGS, MEANS_ONLY, MODEL, NO_MODEL, SIZES_ONLY, SQUARED

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

TO_FIT = {
    **{meaning: f'Fit with meaning="{meaning}".' for meaning in MEANINGS},
    **{f"{LINEAR}{meaning}": f'Fit with method="gsu", meaning="{meaning}".' for meaning in MEANINGS},
    MEANS_ONLY: "Fit without the error columns (exact=[...] names the features).",
    SQUARED: "Fit with max_refinements=0.",
    NO_MODEL: "The features do not predict the target.",
}
"""Advice for each winner."""
NAMES = {"measurement": "measurement error", "spread": "spread"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Report:
    """Comparison of a model with fits without error bars, on held-out rows.

    Tables are Polars frames. Differences are paired: all candidates predict the same held-out rows. ``str``
    is one page, `plot` draws it, and `to_dict` is for JSON.
    """

    n_rows: int
    """Rows that were learned from or held out."""
    n_compared: int
    """Rows that were held out: those with a target."""
    n_table: int | None = None
    """Rows of the table, where these are a sample of them."""
    folds: int
    repeats: int
    folds_done: int
    """``folds * repeats`` unless the time was over before."""
    n_groups: int | None
    """Groups whose rows were held out together; None for single rows."""
    group: str | None
    """Name of the column of groups, or "group"."""
    n_equal: int
    """Rows that were held out together because they equal one another."""
    listed: int
    """Rows that the text lists."""
    scoring: str
    """Measure that ranks the candidates."""
    meaning: str
    """ "measurement" or "spread": what the model takes error bars for."""
    scores: pl.DataFrame
    """Columns candidate, measure, score, score_se, difference (to the model) and difference_se."""
    lead: Mean | None
    """By how much measurement error predicts better than spread; None where that was not compared."""
    by_error_size: pl.DataFrame
    """Scores with and without error bars for thirds of the rows by the sizes of their errors, in units of
    typical ones; empty where all are alike."""
    rows: pl.DataFrame
    """Predictions with and without error bars (first repeat), those that differ most first; `change` is that
    of a probability, or of a number."""
    calibration: pl.DataFrame
    """Stated and observed probabilities: of the most probable class in five bins, or of central intervals."""
    calibration_gap: Mean | None
    """Observed minus stated, of the most probable class over all rows, or of 68 % intervals."""
    pit: Floats | None
    """Distribution functions of held-out rows at their targets, uniform if the densities are right."""
    removed: pl.DataFrame | None
    """Rows of the fit whose labels a Huber model dropped, with their residuals."""
    error_check: ErrorCheck | None
    """`check_errors` of these rows; None for a model of spread."""

    @property
    def score(self) -> float:
        """Mean held-out score of the model."""
        return self._mean(MODEL).value

    @property
    def score_se(self) -> float:
        """Standard error of `score`."""
        return self._mean(MODEL).se

    @property
    def score_means_only(self) -> float:
        """Mean held-out score without error bars."""
        return self._mean(MEANS_ONLY).value

    @property
    def difference(self) -> float:
        """Paired difference of the scores: with error bars minus without."""
        return self._gain(MEANS_ONLY).value

    @property
    def difference_se(self) -> float:
        """Standard error of `difference`."""
        return self._gain(MEANS_ONLY).se

    @property
    def winner(self) -> str:
        """The model, unless a candidate is better by two standard errors."""
        worse = [(MEASURES[self.scoring].sign * self._gain(name).value, name) for name in self._candidates]
        better = [each for each in worse if each[0] < 0 and _counts(self._gain(each[1]))]
        return min((each for each in better if each[1] != SIZES_ONLY), default=(0.0, MODEL))[1]

    @property
    def reason(self) -> str:
        """Why this candidate is the winner, and how to fit it."""
        if self.winner == MODEL:
            return "Keep this model: no alternative is better by more than two standard errors."
        by = self._amount(self._gain(self.winner))
        return f'Better than this model: "{self.winner}", by {by}. {TO_FIT[self.winner]}'

    @property
    def verdict(self) -> str:
        """Whether the error bars helped, by more than two standard errors."""
        parts = []
        if SQUARED in self._candidates:
            parts.append(self._effect(SQUARED, "Dropping labels", ("raises", "lowers", "does not change")))
        if MEANS_ONLY not in self._candidates:
            return " ".join([*parts, "No row has error bars."])
        parts.append(self._effect(MEANS_ONLY, "Error bars", ("raise", "lower", "do not change")))
        gain, measure = self._gain(MEANS_ONLY, self._loss), MEASURES[self._loss]
        if self._loss != self.scoring and _counts(gain):
            verb = "raise" if gain.value > 0 else "lower"
            parts.append(f"They {verb} the {measure.label} by {pm(abs(gain.value), gain.se)}.")
        return " ".join(parts)

    @property
    def meaning_verdict(self) -> str:
        """Whether measurement error or spread predicts better."""
        if self.lead is None:
            return ""
        better, worse = MEANINGS if self.lead.value >= 0 else MEANINGS[::-1]
        by = self._amount(self.lead) + ("" if {*MEANINGS} & {*self._candidates} else ", in linear models")
        if _counts(self.lead):
            return f"{NAMES[better].capitalize()} predicts better than {NAMES[worse]}, by {by}."
        return f"No clear difference: {NAMES[better]} is ahead of {NAMES[worse]} by {by}."

    @property
    def errors_verdict(self) -> str:
        """Whether the errors are as large as the error bars say."""
        check, unread = self.error_check, "Not checked: the model does not take them for measurement errors."
        return ("" if self.meaning == "measurement" else unread) if check is None else check.verdict

    @property
    def calibration_verdict(self) -> str:
        """Whether stated probabilities are those that were observed."""
        if self.calibration_gap is None:
            return ""
        gap, se = (100 * value for value in self.calibration_gap)
        often = f"{abs(gap):.1f} ± {se:.1f} % {'less' if gap < 0 else 'more'} often than stated"
        what = f"the most probable class is right {often}"
        if self.pit is not None:
            what = f"68 % intervals hold {68 + gap:.1f} ± {se:.1f} % of the targets"
        wrong = "Overconfident" if gap < 0 else "Too cautious"
        return f"{wrong if _counts(self.calibration_gap) else 'Yes, as far as these rows tell'}: {what}."

    @property
    def warning(self) -> str:
        """Sentence on error sizes that predict the target by themselves, or ""."""
        losses = (self._mean(name, self._loss).value for name in (SIZES_ONLY, NO_MODEL, MODEL))
        text = of_sizes(MEASURES[self._loss].label, *losses)
        return text and f"{text[0].upper()}{text[1:]}."

    def __str__(self) -> str:
        shown = self.rows.head(self.listed)
        parts = [
            (f"Held-out scores, {self._design} (mean ± standard error)", self.warning, self._scores()),
            ("For which rows? (by the sizes of their errors)", "", _texts(self.by_error_size)),
            ("Rows most affected by their error bars", "", _texts(shown)),
            ("Error type: measurement error or spread?", self.meaning_verdict, []),
            ("Are the error bars right?", self.errors_verdict, []),
            ("Are the probabilities right?", self.calibration_verdict, _texts(self.calibration)),
        ]
        if self.removed is not None:
            title = f"Labels dropped by the fit: {len(self.removed):,}, the largest residuals first"
            parts.append((title, "", _texts(self.removed.head(self.listed))))
        lines = [self.verdict]
        for title, answer, table in parts:
            if answer or len(table) > 1:
                lines += ["", title, *([f"  {answer}"] if answer else []), *_aligned(table)]
        return "\n".join([*lines, "", self.reason])

    __repr__ = __str__

    def to_dict(self) -> JsonObject:
        """Return numbers, strings and lists, ready for JSON; `rows` as listed."""
        names = [name for name, value in vars(type(self)).items() if isinstance(value, property)]
        names += [field.name for field in fields(self) if field.name != "pit"]
        found = {name: _json_ready(getattr(self, name)) for name in names if name[0] != "_"}
        return found | {"rows": _json_ready(self.rows.head(self.listed))}

    def plot(self) -> Figure:
        """Draw differences of candidates, gains by error size, and calibration."""
        figure, whole = new_figure(13.0, 4.0)
        whole.remove()
        left, middle, right = figure.subplots(1, 3)
        label, style = MEASURES[self.scoring].label, {"fmt": "o", "color": COLORS[0], "capsize": 3}
        names = [name for name in self._candidates if name not in (MODEL, NO_MODEL, SIZES_ONLY)]
        gains = np.array([self._gain(name) for name in names]).reshape(-1, 2)
        left.errorbar(gains[:, 0], names, xerr=2 * gains[:, 1], **style)
        left.set(xlabel=f"{label}, model − theirs (± 2 se)", title="Did the error bars help?", ymargin=0.2)
        left.locator_params(axis="x", nbins=5)
        sizes = self.by_error_size
        middle.errorbar(sizes["errors"], sizes["difference"], yerr=2 * sizes["difference_se"], **style)
        middle.set(ylabel=f"{label} with minus without error bars", title="For which rows?", xmargin=0.2)
        stated, observed, se = self.calibration.to_numpy().reshape(-1, 3).T
        right.errorbar(stated, observed, yerr=2 * se, **style)
        right.set(xlabel="stated probability", ylabel="observed", title="Are the probabilities right?")
        for line in (left.axvline(0.0), middle.axhline(0.0), right.axline((0.5, 0.5), slope=1.0)):
            line.set(color=GREY, linestyle=":")
        bare(left, middle, right)
        return figure

    def renumbered(self, at: Ints, n_table: int) -> Self:
        """Return the report with the row numbers of a larger table."""
        rows = self.rows if self.rows.is_empty() else self.rows.with_columns(row=at[self.rows["row"]])
        return replace(self, n_table=n_table, rows=rows)

    @property
    def _candidates(self) -> list[str]:
        return self.scores["candidate"].unique(maintain_order=True).to_list()

    @property
    def _loss(self) -> str:
        """The measure that models are chosen by."""
        return "log_loss" if MEASURES[self.scoring] in OF_CLASSES else "crps"

    @property
    def _design(self) -> str:
        """Which rows were held out, for people."""
        some = f"{self.n_compared:,} labels of " if self.n_compared < self.n_rows else ""
        sample = "" if self.n_table is None else f" (a sample of the {self.n_table:,} in the table)"
        kept = f", {self.n_equal:,} equal ones kept together" if self.n_equal else ""
        if self.n_groups is not None:
            kept = f", rows of one {self.group} kept together ({self.n_groups:,} groups)"
        times = f" x {self.repeats} repeats" if self.repeats > 1 else ""
        if self.folds_done < self.folds * self.repeats:
            times += f" (the time was over after {self.folds_done} of them)"
        return f"{self.folds} folds{times}, {some}{self.n_rows:,} rows{sample}{kept}"

    def _scores(self) -> list[list[str]]:
        """Titles, and every measure of the model beside the other candidates."""
        beside = [name for name in (SQUARED, MEANS_ONLY) if name in self._candidates]
        others = [name for name in self._candidates if name not in (MODEL, *beside, SIZES_ONLY)]
        lines = [["", MODEL, *(text for name in beside for text in (name, "difference")), *others]]
        for name in self.scores["measure"].unique(maintain_order=True):
            texts = [MEASURES[name].label, _text(name, self._mean(MODEL, name))]
            for other in beside:
                texts += [_text(name, self._mean(other, name)), _text(name, self._gain(other, name), "+")]
            lines.append(texts + [_text(name, self._mean(other, name)) for other in others])
        return lines

    def _mean(self, name: str, measure: str | None = None, what: str = "score") -> Mean:
        """The score of a candidate, or its difference to the model; NaN if it has none."""
        found = self.scores.filter(candidate=name, measure=measure or self.scoring)
        found = found.select(what, f"{what}_se")
        return Mean(*found.row(0)) if len(found) else Mean(np.nan, np.nan)

    def _gain(self, name: str, measure: str | None = None) -> Mean:
        """The score of the model minus that of a candidate."""
        value, se = self._mean(name, measure, "difference")
        return Mean(0.0 - value, se)

    def _amount(self, difference: Mean, sign: str = "") -> str:
        """A difference of the measure that ranks; without sign its size."""
        value = difference.value if sign else abs(difference.value)
        return _text(self.scoring, Mean(value, difference.se), sign).replace("%", "points")

    def _effect(self, other: str, what: str, verbs: tuple[str, str, str]) -> str:
        gain, label = self._gain(other), MEASURES[self.scoring].label
        if _counts(gain):
            return f"{what} {verbs[gain.value < 0]} the {label} by {self._amount(gain)}."
        differ = ""
        if self._loss == "log_loss" and other == MEANS_ONLY:
            n = int((self.rows["model"] != self.rows["means_only"]).sum())
            differ = f"; {n:,} of {self.n_compared:,} predictions ({n / self.n_compared:.1%}) differ"
        return f"{what} {verbs[2]} the {label} measurably ({self._amount(gain, '+')}){differ}."


def _counts(difference: Mean) -> bool:
    """Does it exceed two standard errors?"""
    return abs(difference.value) > 2 * difference.se


def _text(measure: str, mean: Mean, sign: str = "") -> str:
    if not MEASURES[measure].percent or np.isnan(mean.value):
        return pm(*mean, sign)
    return f"{pm(100 * mean.value, 100 * mean.se, sign)} %"


def _texts(table: pl.DataFrame) -> list[list[str]]:
    """Titles and rows of a table; a column and its standard errors as one."""
    names = [name for name in table.columns if not name.endswith("_se")]

    def text(row: dict[str, Any], name: str) -> str:
        value = row[name]
        if f"{name}_se" in row:
            return pm(value, row[f"{name}_se"])
        return f"{value:.4g}" if isinstance(value, float) else str(value)

    titles = [name.replace("_", " ") for name in names]
    return [titles, *([text(row, name) for name in names] for row in table.to_dicts())]


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """A table as text: the first column to the left, the others to the right."""
    if len(lines) < 2:
        return []
    first, *widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "   ".join([f"  {name:<{first}}", *map(str.rjust, cells, widths)]).rstrip() for name, *cells in lines
    ]


def _json_ready(value: object) -> Any:
    """Frames and tuples as lists, `to_dict` of what has one, and None for a number that there is not."""
    for method in ("to_dicts", "to_dict"):
        if hasattr(value, method):
            return _json_ready(getattr(value, method)())
    if isinstance(value, dict):
        return {key: _json_ready(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_ready(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
