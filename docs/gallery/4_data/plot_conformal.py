"""
Sets and intervals with a given coverage
========================================

Conformal prediction gives a *set* of classes that contains the true one in 90 % of the rows, and an *interval* for
numbers. Here it is calibrated by noise level, so that the coverage holds for good rows and for bad ones. Good rows
get one class, bad ones several.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain


def catalogue(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    errors = rng.uniform(0.1, 2.0, (n, 2))
    centre = np.array([[0.0, 0.0], [2.5, 0.0], [1.2, 2.2]])[kind]
    x = centre + 0.6 * rng.normal(size=(n, 2)) + errors * rng.normal(size=(n, 2))
    columns = {"u": x[:, 0], "u_err": errors[:, 0], "g": x[:, 1], "g_err": errors[:, 1]}
    return pl.DataFrame(columns | {"kind": np.array(["star", "galaxy", "quasar"])[kind]})


model = uncertain.fit(catalogue(2000, 0), target="kind", method="discriminant")
rows = catalogue(4000, 1)
sets = model.predict_set(rows, coverage=0.9).to_list()
size = np.array([len(s) for s in sets])
held = np.array([truth in s for truth, s in zip(rows["kind"], sets)])
print(f"{held.mean():.3f} of the sets hold the true class")

# %%
noise = np.hypot(rows["u_err"].to_numpy(), rows["g_err"].to_numpy())
edges = np.quantile(noise, np.linspace(0, 1, 9))
places = np.clip(np.digitize(noise, edges) - 1, 0, 7)
middle = [np.median(noise[places == k]) for k in range(8)]
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
share = [held[places == k].mean() for k in range(8)]
se = [np.sqrt(s * (1 - s) / np.sum(places == k)) for k, s in enumerate(share)]
axes[0].errorbar(middle, share, yerr=se, fmt="o", color="#2166ac", capsize=3)
axes[0].axhline(0.9, color="#9a9a9a")
axes[0].set(xlabel="size of the row's errors", ylabel="sets that hold the truth", ylim=(0.8, 1))
axes[1].plot(middle, [size[places == k].mean() for k in range(8)], "s-", color="#d6604d")
axes[1].set(xlabel="size of the row's errors", ylabel="classes in a set", ylim=(1, 3))
plt.show()
