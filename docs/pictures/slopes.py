"""The second picture of the landing page: one slope by several methods, with the seconds that each took.

    .venv/bin/python docs/pictures/slopes.py

The numbers are those of the table of "Compared with other methods" in docs/how-to/slope.md, which
`benches/python/errors_in_both.py supernovae` measures.
"""

import re
from pathlib import Path

from matplotlib.figure import Figure

DOCS = Path(__file__).parents[1]
SHOWN = {
    "LinearLaw": "uncertain",
    "linmix": "linmix (Gibbs sampling)",
    "maximised by SciPy": "likelihood, by SciPy",
    "orthogonal distance": "orthogonal distance\nregression",
    "least squares | -": "least squares",
}
"""Words that tell a row of the table, and what the picture calls it."""


def rows() -> list[tuple[str, float, float, str]]:
    """Of each method: name, slope of colour, its standard error, seconds."""
    lines = (DOCS / "how-to" / "slope.md").read_text(encoding="utf-8").splitlines()
    found = []
    for words, name in SHOWN.items():
        line = next(line for line in lines if line.startswith("|") and words in line and "±" in line)
        slope, error = map(float, re.findall(r" (\d\.\d+) ± (\d\.\d+)", line)[0])
        found.append((name, slope, error, line.split("|")[-2].strip()))
    return found


if __name__ == "__main__":
    figure = Figure(figsize=(6.6, 2.9), layout="constrained")
    axes = figure.subplots()
    for k, (name, slope, error, seconds) in enumerate(rows()):
        print(name, slope, error, seconds)
        axes.errorbar(slope, k, xerr=error, fmt="o", ms=6, lw=2, color="#1a5fa8" if k == 0 else "#555555")
        axes.text(3.72, k, f"{seconds} s", va="center", ha="right", fontweight="bold" if k == 0 else None)
    axes.axvline(3.1, color="#888888", lw=1, ls=":", zorder=0)
    axes.text(3.1, -0.75, "published", ha="center", va="bottom", fontsize=8, color="#555555")
    axes.set(
        yticks=range(len(SHOWN)), yticklabels=list(SHOWN.values()), ylim=(4.5, -0.8), xlim=(2.45, 3.75),
        xlabel="magnitudes of a supernova per unit of colour",
    )  # fmt: skip
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(DOCS / "_static" / "slopes.png", dpi=160)
