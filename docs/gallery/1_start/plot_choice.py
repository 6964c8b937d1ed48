"""
Which model? Let it choose
==========================

Without ``method=``, ``uncertain.fit`` compares the models that suit the table on held-out rows and mixes
their distributions. ``model.leaderboard_`` is the whole comparison, including models that ignore the error bars.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain
from uncertain.demo import wdbc

biopsies = wdbc()  # 569 biopsies with the published standard errors of ten features
model = uncertain.fit(biopsies[::2], target="diagnosis")
print(model)

# %%
# The held-out loss of every candidate, with errors as they are and four times as large, and the share in the stack.

board = model.leaderboard_.drop_nulls("weight")
fig, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
places = np.arange(board.height)
for column, color, marker, label in (
    ("loss", "#2166ac", "o", "errors as they are"),
    ("loss_x4", "#d6604d", "s", "errors x 4"),
):
    ax.plot(board[column], places, marker, color=color, label=label)
names = [f"{name}, {100 * w:.0f} %" for name, w in zip(board["model"], board["weight"])]
ax.set_yticks(places, names, fontsize="small")
ax.invert_yaxis()
ax.set(xscale="log", xlabel="log loss of held-out rows (less is better)")
fig.legend(loc="outside lower center", ncols=2)
plt.show()
