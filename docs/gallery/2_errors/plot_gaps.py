"""
Missing values are infinite errors
==================================

A missing value is a reading with infinite noise. A denoiser and a discriminant take rows with missing values as they
are. An imputer fills in the conditional Gaussian of what is missing given the rest, so that later steps know how
uncertain it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianDiscriminant, GaussianImputer
from uncertain.plot import ellipses

rng = np.random.default_rng(0)
n = 60
truth = rng.multivariate_normal([0, 0], [[1, 0.85], [0.85, 1]], n)
gappy = truth.copy()
gappy[::6, 1] = np.nan
missing = np.isnan(gappy[:, 1])

filled = GaussianImputer().fit_transform(gappy)
fig, ax = plt.subplots(figsize=(5.8, 5), layout="constrained")
ax.plot(*truth[~missing].T, "o", color="#5b5b5b", markersize=4, label="complete rows")
ellipses(
    filled,
    ax=ax,
    n_std=2,
    rows=np.flatnonzero(missing),
    facecolors="none",
    edgecolors="#2166ac",
    linewidths=2,
)
ax.plot(
    *filled.means[missing].T,
    "s",
    color="#2166ac",
    markersize=5,
    label="filled in, with two standard deviations",
)
ax.plot(*truth[missing].T, "x", color="#d6604d", label="what was missing")
ax.set(xlabel="x (arbitrary units)", ylabel="y (arbitrary units), missing in every sixth row")
ax.legend(loc="upper left", fontsize=9)
ax.set_ylim(-3, 4)
plt.show()

# %%
# A classifier fitted to complete rows that has to predict incomplete ones, compared with filling in means.

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss

y = rng.integers(0, 2, 3000)
rows = rng.multivariate_normal(np.zeros(4), 0.3 * np.eye(4) + 0.7, 3000) + np.outer(y, [1.2, 0.0, 0.0, 0.0])
with_gaps = GaussianDiscriminant().fit(rows[:1000], y[:1000])
plain = LinearDiscriminantAnalysis().fit(rows[:1000], y[:1000])
mean = rows[:1000].mean(axis=0)
share = np.linspace(0, 0.6, 7)
curves = {"gaps as infinite errors": [], "means filled in": []}
for p in share:
    holes = np.where(rng.random((2000, 4)) < p, np.nan, rows[1000:])
    curves["gaps as infinite errors"].append(log_loss(y[1000:], with_gaps.predict_proba(holes)))
    filled_in = np.where(np.isnan(holes), mean, holes)
    curves["means filled in"].append(log_loss(y[1000:], plain.predict_proba(filled_in)))

for name, curve in curves.items():
    print(f"{name:24} log loss {curve[0]:.3f} without gaps, {curve[3]:.3f} with 30 % of the values missing")

fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for (name, curve), style, color in zip(curves.items(), ("o-", "s--"), ("#2166ac", "#b8860b")):
    ax.plot(100 * share, curve, style, color=color, linewidth=2, label=name)
ax.set(xlabel="values that are missing (%)", ylabel="log loss of new rows (less is better)")
ax.legend()
plt.show()
