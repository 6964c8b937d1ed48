"""
Spectra with their own error bars
=================================

Welch's method estimates the power in a band from overlapping windows, which also give the variance of each estimate
and the covariance between bands. For short recordings these are large. The signals are simulated: noise with a rhythm
of 10 Hz that is stronger with closed eyes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from uncertain import GaussianDiscriminant, GaussianScaler
from uncertain.uncertainty import welch

rng = np.random.default_rng(0)
fs, n = 128.0, 120
closed = rng.integers(0, 2, n)
time = np.arange(4 * int(fs)) / fs  # four seconds
rhythm = np.sin(2 * np.pi * 10.0 * time + rng.uniform(0, 2 * np.pi, (n, 1)))
strength = (0.25 + 0.35 * closed) * np.exp(0.3 * rng.normal(size=n))
signals = strength[:, None] * rhythm + np.cumsum(rng.normal(size=(n, len(time))), axis=1) * 0.05
signals += rng.normal(size=signals.shape)

bands = {"theta": (4, 8), "alpha": (8, 13), "beta": (13, 30)}
rows = welch(signals[:, None, :], fs, bands)
print(rows)

# %%
std = np.sqrt(np.diagonal(rows.covariances(), axis1=1, axis2=2))
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for state, name, color, marker in ((0, "open", "#2166ac", "o"), (1, "closed", "#d6604d", "s")):
    some = np.flatnonzero(closed == state)[:25]
    ax.errorbar(
        rows.means[some, 1], rows.means[some, 2], xerr=std[some, 1], yerr=std[some, 2],
        fmt=marker, color=color, markersize=4, elinewidth=0.7, alpha=0.8, label=f"eyes {name}",
    )  # fmt: skip
ax.set(xlabel="ln power, 8 to 13 Hz (signal units²/Hz)", ylabel="ln power, 13 to 30 Hz (signal units²/Hz)")
ax.legend()
plt.show()

# %%
# Do the covariances help? Not here. All recordings are equally long, so the logarithms of their powers are about equally
# uncertain, and then there is nothing to gain (:doc:`/guide/when-error-bars-help`): the same discriminant on the powers
# alone, on the same folds, is no worse.

model = make_pipeline(GaussianScaler(), GaussianDiscriminant())
for name, X in (("with covariances", rows), ("powers alone", rows.collapse("zero"))):
    right = cross_val_score(model, X, closed, cv=5)
    loss = -cross_val_score(model, X, closed, cv=5, scoring="neg_log_loss")
    se = loss.std(ddof=1) / 5**0.5
    print(f"{name:17} {100 * right.mean():.1f} % right, log loss {loss.mean():.3f} +- {se:.3f}")
