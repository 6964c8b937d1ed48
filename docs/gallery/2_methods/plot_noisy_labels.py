"""
Labels that are wrong
=====================

Adaptive Huber regression fits, drops the labels that are inconsistent with the fit, lowers its threshold and fits again.
Rows without a label still shape the function through the graph of neighbours.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import AdaptiveHuberRegressor

rng = np.random.default_rng(0)
n = 240
x = np.sort(rng.uniform(0, 6, n))
y = np.sin(x) + 0.07 * rng.normal(size=n)
wrong = rng.choice(n, 24, replace=False)
y[wrong] += rng.uniform(0.8, 2.0, 24) * rng.choice([-1, 1], 24)
y[(x > 3.6) & (x < 4.2)] = np.nan  # no labels here

model = AdaptiveHuberRegressor(1e-3, delta=0.3, max_refinements=8).fit(x[:, None], y)
dropped = np.zeros(n, dtype=bool)
dropped[model.removed_] = True
found = np.isin(wrong, model.removed_).sum()
print(
    f"{found} of {np.isfinite(y[wrong]).sum()} wrong labels found, {dropped.sum() - found} good ones dropped"
)

# %%
fig, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
ax.plot(x[~dropped], y[~dropped], "o", markersize=4, color="#2166ac", alpha=0.6, label="labels that are kept")
ax.plot(x[dropped], y[dropped], "x", color="#d6604d", label="labels that are dropped")
ax.plot(x, np.sin(x), color="black", linewidth=1, label="truth")
ax.plot(x, model.predict(x[:, None]), "--", color="#4d9221", linewidth=2.5, label="fit")
ax.axvspan(3.6, 4.2, color="#cccccc", alpha=0.4, label="no labels")
ax.set(xlabel="x (arbitrary units)", ylabel="y (arbitrary units)")
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
plt.show()

# %%
# The same for classes: two moons, where a quarter of the labels is wrong. Crosses are the labels that ``AdaptiveHuberClassifier``
# dropped; few of them are right, and most of the wrong ones are among them.

from sklearn.datasets import make_moons
from sklearn.svm import SVC

from uncertain import AdaptiveHuberClassifier

points, kind = make_moons(300, noise=0.15, random_state=0)
flipped = rng.random(300) < 0.25
told = np.where(flipped, 1 - kind, kind)
robust = AdaptiveHuberClassifier(1e-3, gamma=2.0, max_refinements=8).fit(points, told)
plain = SVC(gamma=2.0, C=10.0).fit(points, told)
new, truth = make_moons(3000, noise=0.15, random_state=1)
for name, fitted in (("AdaptiveHuberClassifier", robust), ("SVC", plain)):
    print(f"{name:24} {100 * fitted.score(new, truth):.1f} % of new points right")
print(
    f"{flipped[robust.removed_].sum()} of {flipped.sum()} wrong labels found, "
    f"{(~flipped[robust.removed_]).sum()} good ones dropped"
)

gx, gy = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.2, 1.7, 120))
field = robust.predict(np.c_[gx.ravel(), gy.ravel()]).reshape(gx.shape)
fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.contour(gx, gy, field, levels=[0.5], colors="black", linewidths=1.5)
for value, color, marker in ((0, "#2166ac", "o"), (1, "#d6604d", "s")):
    own = told == value
    ax.plot(*points[own].T, marker, color=color, markersize=4, alpha=0.6, label=f"labelled {value}")
ax.plot(*points[robust.removed_].T, "x", color="black", markersize=8, label="dropped")
ax.set(xlabel="x (arbitrary units)", ylabel="y (arbitrary units)", aspect="equal")
fig.legend(loc="outside right upper")
plt.show()

# %%
# How the threshold went down, and what it dropped at each step.

from uncertain.plot import RefinementDisplay

fig, axes = plt.subplots(2, 1, figsize=(7.5, 5), height_ratios=(3, 1), sharex=True, layout="constrained")
RefinementDisplay.from_estimator(model, wrong=wrong, ax=axes)
plt.show()
