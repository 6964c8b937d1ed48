"""
Every kind of covariance
========================

Exact points, one error per row, one per value, low rank, a full matrix per row, one matrix for all rows. Algorithms
never expand a covariance more than they need, so that a diagonal one stays cheap. Ellipses show one standard
deviation.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, GSUClassifier
from uncertain.plot import ellipses

rng = np.random.default_rng(0)
n = 24
y = np.arange(n) % 2
means = rng.normal(size=(n, 2)) + 2.0 * y[:, None]
directions = rng.normal(size=(n, 2, 1)) * 0.5
full = directions @ directions.transpose(0, 2, 1) + 0.03 * np.eye(2)
kinds = {
    "exact points": GaussianArray(means),
    "std, one per row": GaussianArray(means, std=rng.uniform(0.1, 0.5, n)),
    "std, one per value": GaussianArray(means, std=rng.uniform(0.1, 0.6, (n, 2))),
    "factor of rank 1, with var": GaussianArray(means, factor=directions, var=np.full((n, 2), 0.01)),
    "cov, a matrix per row": GaussianArray(means, cov=full),
    "cov, one for all rows": GaussianArray(means, cov=[[0.2, 0.15], [0.15, 0.2]]),
}
fig, axes = plt.subplots(2, 3, figsize=(9.5, 6.5), sharex=True, sharey=True, layout="constrained")
for ax, (title, rows) in zip(axes.flat, kinds.items()):
    model = GSUClassifier(alpha=1e-2).fit(rows, y)
    (a, b), c = model.coef_[0], model.intercept_[0]
    line = np.array([-4.0, 6.0])
    ax.plot(line, -(c + a * line) / b, color="black", linewidth=1.5)
    for label, color, marker in ((0, "#2166ac", "o"), (1, "#d6604d", "s")):
        ellipses(rows, ax=ax, rows=np.flatnonzero(y == label), facecolors=color, alpha=0.25)
        ax.plot(*means[y == label].T, marker, color=color, markersize=4)
    ax.set(title=f"{title}\nkind: {rows.kind}", xlim=(-3, 5), ylim=(-3, 5), aspect="equal")
fig.supxlabel("x (arbitrary units)")
fig.supylabel("y (arbitrary units)")
plt.show()

# %%
# The means are equal six times; how steep the boundary is depends on the covariances alone.

for title, rows in kinds.items():
    a, b = GSUClassifier(alpha=1e-2).fit(rows, y).coef_[0]
    print(f"{title:26} slope {-a / b:.2f}")

# %%
# Linear maps keep what they can: scaling a diagonal gives a diagonal, a rotation does not.

rows = kinds["std, one per value"]
print((rows @ np.diag([2.0, 0.5])).kind, (rows @ np.array([[1.0, -1.0], [1.0, 1.0]])).kind)
