"""What `uncertain demo` (and `make demo`) shows: where error bars change everything, and where nothing.

First the biopsies of WDBC with simulated errors of known sizes that grow; then the same biopsies with their
published standard errors, which change next to nothing. Numbers are whatever this machine measures.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

from .._model.fit import fit
from . import _growing as growing
from ._published import race, table, wdbc


def run(out: Path | None, say: Callable[[str], object], *, splits: int = 5) -> None:
    """The whole demonstration; `say` gets the text, `out` is the picture's path (None: no picture)."""
    start = time.perf_counter()
    say("1. 569 biopsies, 30 features; every value is read with an error of known size (simulated noise).")
    say("   Models learn from such readings. New rows are measured worse: a random half of the values of")
    say("   each has errors k times as large, and their error bars say so.\n")
    say('   model = uncertain.fit(table, target="diagnosis", method=...)    # x0, x0_err, x1, x1_err, ...')
    say(f"   model.predict(new)    # {splits} random splits, 60 % for training\n")
    correct = growing.grow(splits)
    say(growing.table(correct))
    if out is not None:
        growing.draw(correct, out)
        say(f"   picture: {out}")

    frame = wdbc()
    say("\n2. And where error bars change nothing: ten features with their published standard errors\n")
    say(str(frame.select("diagnosis", "radius", "radius_se", "texture", "texture_se").head(3)))
    say('\n   model = uncertain.fit(table, target="diagnosis", method="gsu")\n')
    model = fit(frame, target="diagnosis", method="gsu")
    say(indent(str(model), "   ") + "\n")
    data, y = model.gaussians(frame), frame["diagnosis"].to_numpy()
    say(table(race(data, y, train_size=0.8, splits=splits)))
    say(
        "\n   +- is a standard error over splits and rows. Certified gap: the fitted objective is proved to\n"
        "   be at most this fraction above the optimum."
    )
    say("\n   With data of your own, model.report(table) says which of the two cases is yours.")
    say(f"\nDone in {time.perf_counter() - start:.1f} s.")
