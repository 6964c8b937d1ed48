"""
Margins over ellipsoids
=======================

Robust support vector machines classify an ellipsoid around the mean of each row: ``usvc`` requires all of it to be on
the right side (the worst case), ``tsvc`` at least one point of it (the best case). With radius 0 both are the
ordinary SVM.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, RobustSVC
from uncertain.plot import boundaries

rng = np.random.default_rng(4)
n = 50
y = np.repeat(["left", "right"], n // 2)
means = rng.normal(size=(n, 2)) * 0.7 + np.where(y[:, None] == "right", [1.4, 0.0], [-1.4, 0.0])
std = np.where(y[:, None] == "right", [0.15, 0.15], [0.7, 0.2])
X = GaussianArray(means, std=std)

models = {
    "radius 0": RobustSVC(C=1.0, radius=0.0).fit(X, y),
    'worst case: "usvc", 90 %': RobustSVC(C=1.0, method="usvc", confidence=0.9).fit(X, y),
    'best case: "tsvc", radius 1': RobustSVC(C=1.0, method="tsvc", radius=1.0).fit(X, y),
}
points = X.sample(100, random_state=0)  # a hundred draws from each row
for name, fitted in models.items():
    print(
        f"{name:28} {100 * fitted.score(points, np.repeat(y, 100)):.1f} % of the draws are on the right side"
    )

# %%
# The worst case turns the boundary away from the wide ellipses of the left class; the best case lets them cross it.

fig, ax = plt.subplots(figsize=(7.5, 5.5), layout="constrained")
boundaries(X, y, models, names=("x (arbitrary units)", "y (arbitrary units)"), ax=ax)
plt.show()
