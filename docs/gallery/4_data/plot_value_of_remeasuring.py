"""
Which value to measure again?
=============================

Telescope time is limited. ``value_of_remeasuring`` estimates, for every value of every row, by how much the expected
loss would fall if its error were halved.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain


def catalogue(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    errors = rng.uniform(0.1, 1.5, (n, 2))
    x = np.c_[2.0 * kind, 0.7 * kind] + rng.normal(size=(n, 2)) + errors * rng.normal(size=(n, 2))
    columns = {"u": x[:, 0], "u_err": errors[:, 0], "g": x[:, 1], "g_err": errors[:, 1]}
    return pl.DataFrame(columns | {"kind": np.array(["star", "quasar"])[kind]})


model = uncertain.fit(catalogue(1000, 0), target="kind", method="discriminant")
rows = catalogue(200, 1)
best = model.value_of_remeasuring(rows, factor=0.5, top=12)
best

# %%
# The most valuable ones are badly measured values of rows that are close to the boundary.

fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
for name, color, marker in (("star", "#2166ac", "o"), ("quasar", "#d6604d", "s")):
    some = rows.filter(pl.col("kind") == name)
    ax.errorbar(
        some["u"], some["g"], xerr=some["u_err"], yerr=some["g_err"],
        fmt=marker, color=color, markersize=3, elinewidth=0.3, alpha=0.5, label=name,
    )  # fmt: skip
again = rows[best["row"].to_numpy()]
ax.plot(
    again["u"],
    again["g"],
    "o",
    markersize=13,
    markerfacecolor="none",
    markeredgecolor="black",
    label="measure again",
)
ax.set(xlabel="u", ylabel="g")
ax.legend()
plt.show()
