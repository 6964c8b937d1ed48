"""Predictions of every method on ten small tables stay as they are (tests/golden/predictions.py)."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))
import predictions  # noqa: E402

EXPECTED: dict[str, list[float] | list[str]] = json.loads(predictions.FILE.read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", predictions.NAMES)
def test_predictions_are_as_recorded(table: str) -> None:
    answers = {name: predictions.written(values) for name, values in predictions.record(table)}
    expected = {name: values for name, values in EXPECTED.items() if name.startswith(table + "/")}
    assert sorted(answers) == sorted(expected)
    for name, values in expected.items():
        if values and isinstance(values[0], float):
            scale = np.nanmax(np.abs(np.array(values))) or 1.0
            np.testing.assert_allclose(answers[name], values, rtol=0, atol=1e-9 * scale, err_msg=name)
        else:
            assert answers[name] == values, name
