"""
Sets and intervals with a given coverage
========================================

Conformal prediction gives a *set* of classes that contains the true one in 90 % of the rows, and an *interval* for
numbers. It is calibrated by noise level, and on rows re-measured with larger errors, so that the coverage also holds
when tomorrow's errors are larger. Objects that are sure get one class, the others both.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain
from uncertain.demo import kepler

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # print(model) has them

objects = kepler()  # NASA's Kepler catalogue: planet or false alarm?
training, new = objects.filter(pl.col("kepid") % 5 < 3), objects.filter(pl.col("kepid") % 5 >= 3)
model = uncertain.fit(training, target="koi_disposition", groups="kepid", method="remeasured")
print(model.predict_set(new, coverage=0.9).head(4))

# %%
# The new objects as they are, and as a worse telescope would have seen them: noise is added, and the error bars say so.


def worse(table, k, rng):
    """Rows measured with errors k times as large."""
    out = []
    for name in [c for c in table.columns if f"{c}_err1" in table.columns]:
        up, down = table[f"{name}_err1"].to_numpy(), table[f"{name}_err2"].to_numpy()
        noise = np.sqrt(k**2 - 1) * (up - down) / 2 * rng.standard_normal(len(table))
        out.append(pl.Series(name, table[name].to_numpy() + np.nan_to_num(noise)))
        out += [k * table[f"{name}_err1"], k * table[f"{name}_err2"]]
    return table.with_columns(out)


factors, held, both = (1, 2, 4, 8), [], []
for k in factors:
    draws = [worse(new, k, np.random.default_rng(seed)) for seed in range(5)]
    sets = [model.predict_set(draw, coverage=0.9) for draw in draws]
    held.append(np.mean([[t in s for t, s in zip(new["koi_disposition"], some.to_list())] for some in sets]))
    both.append(np.mean([some.list.len() == 2 for some in sets]))
    print(
        f"errors {k} times as large: {100 * held[-1]:.1f} % of the sets hold the truth, "
        f"{100 * both[-1]:.0f} % have both classes"
    )

# %%
# The coverage holds, within its standard error, up to errors eight times as large: more sets have both classes.

factors_at = range(len(factors))
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
se = [np.sqrt(p * (1 - p) / len(new)) for p in held]
axes[0].errorbar(
    factors_at, 100 * np.array(held), yerr=100 * np.array(se), fmt="o", color="#2166ac", capsize=3
)
axes[0].axhline(90, color="#7a7a7a", linewidth=1)
axes[0].set(ylabel="sets that hold the truth (%)", ylim=(70, 100))
axes[1].bar(factors_at, 100 * np.array(both), color="#d6604d", width=0.6)
axes[1].set(ylabel="sets with both classes (%)", ylim=(0, 40))
for ax in axes:
    ax.set_xticks(factors_at, [str(k) for k in factors])
    ax.set_xlabel("errors of the new objects / errors in training")
plt.show()
