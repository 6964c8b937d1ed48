"""
Which model? Let it choose
==========================

Without ``method=``, ``uncertain.fit`` compares the models that suit the table on the same held-out rows and keeps the
simplest of the best, or their average. ``model.leaderboard_`` is the whole comparison, including models that ignore
the error bars.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain
from uncertain.demo import wdbc

biopsies = wdbc()  # 569 biopsies with the published standard errors of ten features
model = uncertain.fit(biopsies[::2], target="diagnosis")
print(model)

# %%
# The best of each method and meaning, with standard errors. They overlap, and so the model is an average: with 285 rows
# the ranking is mostly luck. The means alone are nearly as good, because these published error bars are small.

board = model.leaderboard_.drop_nulls("score").unique(
    ["method", "meaning"], keep="first", maintain_order=True
)
names = [
    f"{method} ({meaning})" if meaning else method
    for method, meaning in zip(board["method"], board["meaning"])
]
fig, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
alone = (board["meaning"] == "means only").fill_null(False).to_numpy()
for rows, color, marker, label in (
    (~alone, "#2166ac", "o", "with error bars"),
    (alone, "#d6604d", "s", "means only"),
):
    ax.errorbar(
        board["score"].to_numpy()[rows], np.flatnonzero(rows), xerr=board["score_se"].to_numpy()[rows],
        fmt=marker, color=color, capsize=3, label=label,
    )  # fmt: skip
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.set_xlabel("log loss of held-out rows (nats; less is better)")
fig.legend(loc="outside lower center", ncols=2)
plt.show()
