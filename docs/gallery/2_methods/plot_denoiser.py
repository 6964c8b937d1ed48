"""
From readings to true values
============================

A ``GaussianDenoiser`` learns the distribution of the true values behind all readings (extreme deconvolution) and
gives each row the posterior of its true value. Bad readings move far and good ones hardly; no reading moves along
directions in which the true values vary widely.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, GaussianDenoiser
from uncertain.plot import ellipses

rng = np.random.default_rng(0)
n = 120
t = rng.uniform(-2, 2, n)
truth = np.c_[t, 0.8 * t] + 0.15 * rng.normal(size=(n, 2))
std = np.exp(rng.normal(-1, 0.8, (n, 2)))
readings = GaussianArray(truth + std * rng.normal(size=(n, 2)), std=std)
true_values = GaussianDenoiser().fit_transform(readings)

fig, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharex=True, sharey=True, layout="constrained")
for ax, rows, title in zip(axes, (readings, true_values), ("readings", "posteriors of the true values")):
    ellipses(rows, ax=ax, facecolors="#2166ac", alpha=0.15)
    ax.plot(*rows.means.T, ".", color="#2166ac", markersize=5)
    ax.set(
        title=title,
        xlabel="x (arbitrary units)",
        ylabel="y (arbitrary units)",
        xlim=(-4, 4),
        ylim=(-4, 4),
        aspect="equal",
    )
plt.show()
before, after = (np.sqrt(np.mean((rows.means - truth) ** 2)) for rows in (readings, true_values))
print(f"root mean square distance to the truth: {before:.2f} before, {after:.2f} after")
