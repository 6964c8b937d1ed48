"""
Predictions that depend on how well a row was measured
======================================================

``predict_distribution`` gives the whole predictive standard deviation of each row, and the part of it that comes from
the row's own error bars. About two thirds of the targets lie within one standard deviation, for good rows and for bad
ones.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain

rng = np.random.default_rng(1)
n = 3000
z = rng.normal(size=(n, 2))
errors = rng.uniform(0.05, 1.0, (n, 2))
x = z + errors * rng.normal(size=(n, 2))
table = pl.DataFrame(
    {
        "a": x[:, 0], "a_err": errors[:, 0], "b": x[:, 1], "b_err": errors[:, 1],
        "y": z @ [2.0, -1.0] + 0.4 * rng.normal(size=n),
    }
)  # fmt: skip
model = uncertain.fit(table[:2000], target="y", method="gsu")
answer = model.predict_distribution(table[2000:])
answer.head(3)

# %%
# Sorted by the size of their error bars, rows are off by what was predicted.

off = (table["y"][2000:] - answer["y"]).to_numpy()
std = answer["y_std"].to_numpy()
order = np.argsort(std)
bins = np.array_split(order, 10)
predicted = [np.sqrt(np.mean(std[rows] ** 2)) for rows in bins]
seen = [np.sqrt(np.mean(off[rows] ** 2)) for rows in bins]
fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
ax.plot([0, 2], [0, 2], color="#9a9a9a", linewidth=1, label="as predicted")
ax.errorbar(
    predicted,
    seen,
    yerr=np.array(seen) / np.sqrt(2 * len(bins[0])),
    fmt="o",
    color="#2166ac",
    capsize=3,
    label="100 rows each",
)
ax.set(
    xlabel="predicted standard deviation (units of y)",
    ylabel="root mean square error (units of y)",
    xlim=(0, 2),
    ylim=(0, 2),
)
ax.legend(loc="upper left")
plt.show()
print(f"{np.mean(np.abs(off) < std):.2f} of the rows within one standard deviation (Gaussian: 0.68)")
