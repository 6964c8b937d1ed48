"""Structure-aware fuzzing: seconds here, minutes in `make fuzz` (``FUZZ_SECONDS``, shared by all targets).

A failure is shrunk by hypothesis, and kept in .hypothesis to be tried first next time.
"""

import os
import sys
import time
import warnings
from typing import Any

import pytest
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, given, seed, settings

SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
SMOKE, BATCH = {"model files": 200}, 100
"""Examples: of a smoke test, always the same ones (of others 30), and of a round of fuzzing."""


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.timeout(300 + SECONDS)
def test_answers_or_refuses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    strategy, check = TARGETS[name]
    done = 0

    def example(value: Any) -> None:
        nonlocal done
        done += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(value)

    def round_of(examples: int, number: int | None) -> None:
        profile = settings(
            max_examples=examples,
            deadline=None,
            derandomize=number is None,
            suppress_health_check=list(HealthCheck),
        )
        test = profile(given(strategy)(example))
        (test if number is None else seed(number)(test))()

    if not SECONDS:
        round_of(SMOKE.get(name, 30), None)
        return
    start = time.monotonic()
    first = time.time_ns()
    while time.monotonic() - start < SECONDS / len(TARGETS):
        round_of(BATCH, first + done)
    with capsys.disabled():
        seconds = time.monotonic() - start
        sys.stdout.write(f"\n{name}: {done} inputs in {seconds:.0f} s\n")
