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

rng = np.random.default_rng(3)
n = 240
kind = rng.integers(0, 2, n)
angle = np.pi * rng.random(n)
truth = np.where(
    kind[:, None] == 0, np.c_[np.cos(angle), np.sin(angle)], np.c_[1 - np.cos(angle), 0.5 - np.sin(angle)]
)
std = rng.uniform(0.02, 0.6, (n, 2))
read = truth + std * rng.normal(size=(n, 2))
table = {"u": read[:, 0], "u_err": std[:, 0], "v": read[:, 1], "v_err": std[:, 1], "kind": kind}

model = uncertain.fit(table, target="kind")
print(model)

# %%
# The losses with their standard errors, best first.

board = model.leaderboard_.drop_nulls("score")
names = [
    f"{m} {p} ({w})" if w else m
    for m, p, w in zip(
        board["method"],
        board["parameters"].str.replace("shared_covariance=False", "own covariances"),
        board["meaning"],
    )
]
fig, ax = plt.subplots(figsize=(8.5, 4.8), layout="constrained")
ax.errorbar(
    board["score"], np.arange(len(names)), xerr=board["score_se"], fmt="o", color="#2166ac", capsize=3
)
chosen = np.flatnonzero(board["weight"].fill_null(0).to_numpy() > 0)
ax.plot(board["score"].to_numpy()[chosen], chosen, "D", color="#d6604d", markersize=9, label="in the model")
ax.set_yticks(np.arange(len(names)), names)
ax.invert_yaxis()
ax.set_xlabel("log loss of held-out rows (less is better)")
ax.legend(loc="upper right")
plt.show()
