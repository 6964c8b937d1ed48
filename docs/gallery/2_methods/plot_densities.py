"""
A density with all its peaks, from boosted trees
================================================

A colour may belong to two redshifts. Boosted trees predict one number for each row, which may lie where no galaxy is;
``RemeasuredRegressor(density=True)`` also learns how targets are distributed around it, from the leaves of a forest that
tells held-out residuals apart. Here the target has two branches for x > 0, and x is read with errors of many sizes.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain
from uncertain import GaussianArray

rng = np.random.default_rng(0)


def readings(n):
    z = rng.uniform(-2, 2, n)
    std = rng.uniform(0.02, 0.5, n)
    branch = np.where(rng.random(n) < 0.6, 1.0, -1.0)
    y = branch * np.sqrt(np.maximum(z, 0.0)) * 2.0 + 0.2 * rng.normal(size=n)
    return GaussianArray((z + std * rng.normal(size=n))[:, None], std=std), y


X, y = readings(3000)
new, truth = readings(3000)
grid = np.linspace(-4, 4, 321)
models = {
    "normal law": uncertain.fit(X, y, method="remeasured"),
    "density=True": uncertain.fit(X, y, method="remeasured", density=True),
}
for name, model in models.items():
    p = model.predict_density(new, grid)[1]
    at = np.rint((truth - grid[0]) / (grid[1] - grid[0])).astype(int)
    loss = np.mean((p**2).sum(axis=1) * (grid[1] - grid[0]) - 2 * p[np.arange(len(at)), at])
    print(f"{name:14} CDE loss of new rows {loss:.3f}")

# %%
# The densities of readings with an error of 0.05 and of 0.5, and the law of the true values as lines. The normal law has
# one width for all rows, and on the right most of its mass lies where no target is. The density keeps both branches and is
# as sharp as the targets are on the left; a poor reading near 0 leaves open on which side the row is.

x = np.linspace(-2, 2, 161)[:, None]
fig, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
z = np.linspace(0, 2, 200)
for row, error in zip(axes, (0.05, 0.5)):
    for ax, (name, model) in zip(row, models.items()):
        p = model.predict_density(GaussianArray(x, std=error), grid)[1]
        shown = ax.pcolormesh(x[:, 0], grid, p.T, cmap="Blues", vmin=0, vmax=1.2, rasterized=True)
        for sign in (1, -1):
            ax.plot(z, 2 * sign * np.sqrt(z), ":", color="#d6604d", linewidth=1)
        ax.plot([-2, 0], [0, 0], ":", color="#d6604d", linewidth=1)
        ax.set(title=f"{name}, error {error}", ylim=(-4, 4))
for ax in axes[1]:
    ax.set_xlabel("x as read (arbitrary units)")
for ax in axes[:, 0]:
    ax.set_ylabel("y (arbitrary units)")
fig.colorbar(shown, ax=axes, label="p(y | x), per unit of y")
plt.show()
