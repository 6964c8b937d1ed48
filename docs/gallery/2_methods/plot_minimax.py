"""
The best guarantee
==================

The minimax probability machine uses only the mean and covariance of each class. It finds the hyperplane with the best
worst-case accuracy over *all* distributions that have them. The errors of the rows are part of the covariances.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, MinimaxProbabilityClassifier
from uncertain.plot import boundaries

rng = np.random.default_rng(5)
n = 80
y = np.repeat(["a", "b"], n // 2)
means = rng.normal(size=(n, 2)) * np.where(y[:, None] == "a", [0.5, 0.5], [1.2, 0.4])
means += np.where(y[:, None] == "a", [-1.2, -1.0], [1.2, 1.0])
std = np.where(y[:, None] == "a", [1.0, 0.1], [0.2, 0.6])
X = GaussianArray(means, std=std)

exact = MinimaxProbabilityClassifier().fit(X.collapse("zero"), y)
model = MinimaxProbabilityClassifier().fit(X, y)
for name, fitted in (("rows without errors", exact), ("rows with errors", model)):
    print(f"{name:20} at least {100 * fitted.worst_case_accuracy_:.1f} % right, whatever the distributions")

# %%
# The errors of class a lie along x and those of class b along y; the boundary moves away from what can reach across it. The
# guarantee is lower with errors, and it is the one that holds for noisy rows.

fig, ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
boundaries(
    X,
    y,
    {"rows without errors": exact, "rows with errors": model},
    names=("x (arbitrary units)", "y (arbitrary units)"),
    ax=ax,
)
plt.show()
