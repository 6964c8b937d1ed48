"""
Boosting, re-measured
=====================

Boosted trees have no notion of an error bar. Given the sizes of errors as columns, they treat them as properties of
the objects: here quasars are fainter, so their errors are larger. Re-measured rows solve this: the learner is also
given copies of each row as it would have been read with larger and smaller errors. The size of an error then tells it
only how far to trust a value.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from uncertain import GaussianArray, RemeasuredClassifier


def survey(n, worse, seed):
    rng = np.random.default_rng(seed)
    quasar = rng.random(n) < 0.5
    truth = rng.normal(size=(n, 2)) + 1.8 * quasar[:, None]
    error = worse * rng.uniform(0.2, 0.5, (n, 2)) * np.where(quasar, 1.6, 1.0)[:, None]
    return GaussianArray(truth + error * rng.normal(size=(n, 2)), std=error), quasar


def wide(rows):
    return np.hstack([rows.means, np.log(np.sqrt(np.diagonal(rows.covariances(), axis1=1, axis2=2)))])


X, y = survey(1500, 1.0, seed=0)
models = {
    "error bars left out": HistGradientBoostingClassifier(random_state=0).fit(X.means, y),
    "error bars as columns": HistGradientBoostingClassifier(random_state=0).fit(wide(X), y),
    "re-measured": RemeasuredClassifier(random_state=0).fit(X, y),
}
factors = np.array([0.5, 1, 1.5, 2, 3, 4])
curves = {name: [] for name in models}
for k in factors:
    new, truth = survey(4000, k, seed=1)
    given = {"error bars left out": new.means, "error bars as columns": wide(new), "re-measured": new}
    for name, model in models.items():
        curves[name].append(100 * np.mean(model.predict(given[name]) == truth))

for name, curve in curves.items():
    print(f"{name:22}", *(f"{value:6.1f}" for value in curve))

# %%
# At the errors of the training rows (grey line) error columns are the best of all; with errors twice as large they are no
# better than chance. The re-measured learner loses no more than one without error bars.

fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for (name, curve), style, color in zip(
    curves.items(), ("s--", "D-.", "o-"), ("#b8860b", "#d6604d", "#2166ac")
):
    ax.plot(factors, curve, style, color=color, linewidth=2, label=name)
ax.axvline(1, color="#9a9a9a", linewidth=1)
ax.set(
    xlabel="errors of new rows / errors in training",
    ylabel="new rows classified correctly (%)",
)
ax.legend()
plt.show()
