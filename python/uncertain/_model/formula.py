"""A linear model as a line of another language: NumPy for programs, SQL for databases.

Only what is one formula of the columns' values can be written so: the coefficients in the units of the table,
without steps that look at a row's errors before its score (a denoiser shrinks each reading by its error).
"""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from .._data.options import check_option
from .._data.typing import Floats, Label, Labels
from ..preprocessing import AsGaussians
from .coefficients import feature_names, hyperplanes, reading_steps

LANGUAGES = ("python", "sql")


def formula(pipeline: Pipeline, classes: Labels | None, target: str, language: str) -> str:
    """The prediction as text; AttributeError for models that are no such formula."""
    check_option("language", language, LANGUAGES)
    plane = hyperplanes(pipeline)
    reads = [type(step).__name__ for _, step in pipeline.steps[: reading_steps(pipeline)]]
    if reads and reads[-1] != AsGaussians.__name__:
        raise AttributeError(
            f"the prediction is no formula of the values alone: {reads[-1]} uses the errors of each row; a "
            'fit with meaning="spread" gives one'
        )
    names = feature_names(pipeline)
    categories = isinstance(pipeline[0], AsGaussians) and getattr(pipeline[0], "categories_", None)
    if categories:
        raise AttributeError(
            f"to_code does not write categories ({', '.join(categories)}): leave them out of the fit"
        )
    if language == "python":
        return _python(plane.coef, plane.intercept, names, classes)
    return _sql(plane.coef, plane.intercept, names, classes, target)


def _python(coef: Floats, intercept: Floats, names: list[str], classes: Labels | None) -> str:
    lines = [
        "import numpy as np",
        "",
        f"FEATURES = {names!r}",
        f"COEF = np.array({coef.tolist()!r})",
        f"INTERCEPT = np.array({intercept.tolist()!r})",
    ]
    if classes is None:
        last = "return np.asarray(X) @ COEF[0] + INTERCEPT[0]"
    else:
        lines.append(f"CLASSES = np.array({classes.tolist()!r})")
        score = "np.asarray(X) @ COEF.T + INTERCEPT"
        chosen = f"(({score})[:, 0] > 0).astype(int)" if len(coef) == 1 else f"np.argmax({score}, axis=1)"
        last = f"return CLASSES[{chosen}]"
    return "\n".join(
        [*lines, "", "", "def predict(X):", '    """X: (n, d), the columns FEATURES."""', f"    {last}", ""]
    )


def _sql(coef: Floats, intercept: Floats, names: list[str], classes: Labels | None, target: str) -> str:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def score(k: int) -> str:
        terms = [f"{w!r} * {quoted(name)}" for w, name in zip(coef[k].tolist(), names, strict=True)]
        return " + ".join([*terms, repr(float(intercept[k]))])

    if classes is None:
        return f"{score(0)} AS {quoted(target)}"
    if len(coef) == 1:
        no, yes = map(_literal, classes.tolist())
        return f"CASE WHEN {score(0)} > 0 THEN {yes} ELSE {no} END AS {quoted(target)}"
    best = f"GREATEST({', '.join(score(k) for k in range(len(coef)))})"
    cases = [f"WHEN {score(k)} >= {best} THEN {_literal(label)}" for k, label in enumerate(classes.tolist())]
    return f"CASE {' '.join(cases)} END AS {quoted(target)}"


def _literal(label: Label) -> str:
    if isinstance(label, bool):
        return str(label).upper()
    if isinstance(label, (int, float, np.number)):
        return repr(label)
    return "'" + str(label).replace("'", "''") + "'"
