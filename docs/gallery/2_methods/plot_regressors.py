"""
Four regressors on one curve
============================

The same readings, four ways to learn from them: the loss averaged over each row's error (``GSURegressor`` with a kernel), the
kernel averaged over the errors (``ProbabilisticKernelSVR``), boosted trees on re-measured rows (``RemeasuredRegressor``), and
a mixture of Gaussians of the true values (``GaussianMixtureRegressor``). x is read with errors of very different sizes.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import (
    GaussianArray,
    GaussianMixtureRegressor,
    GSURegressor,
    ProbabilisticKernelSVR,
    RemeasuredRegressor,
)

rng = np.random.default_rng(0)


def readings(n):
    z = rng.uniform(-3, 3, n)
    std = rng.uniform(0.05, 1.0, n)
    X = GaussianArray((z + std * rng.normal(size=n))[:, None], std=std)
    return X, np.sin(1.5 * z) + 0.1 * rng.normal(size=n)


X, y = readings(500)
new, truth = readings(2000)
models = {
    "GSURegressor": GSURegressor(kernel="rbf", gamma=1.0, alpha=1e-3),
    "ProbabilisticKernelSVR": ProbabilisticKernelSVR(sigma=0.7, C=10.0),
    "RemeasuredRegressor": RemeasuredRegressor(random_state=0),
    "GaussianMixtureRegressor": GaussianMixtureRegressor(n_components=8, random_state=0),
}
off = {}
for name, model in models.items():
    off[name] = np.sqrt(np.mean((model.fit(X, y).predict(new) - truth) ** 2))
    print(f"{name:26} root mean square error of new readings {off[name]:.3f}")

# %%
# What each predicts for an exact reading (blue) and for one with an error of 0.8 (red). With such an error x may be on either
# side of a maximum, so the prediction should be nearer to the mean; the regressors that treat the error as a measurement error
# (below) do so most, and predict best.

grid = np.linspace(-3, 3, 200)[:, None]
fig, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    ax.plot(X.means[:, 0], y, ".", color="#9a9a9a", markersize=3, alpha=0.5, label="readings")
    ax.plot(grid, np.sin(1.5 * grid), color="black", linewidth=1, label="law of the true values")
    ax.plot(grid, model.predict(GaussianArray(grid)), color="#2166ac", linewidth=2, label="exact reading")
    ax.plot(
        grid,
        model.predict(GaussianArray(grid, std=0.8)),
        "--",
        color="#d6604d",
        linewidth=2,
        label="error 0.8",
    )
    ax.set(title=f"{name}: {off[name]:.2f}", xlim=(-3, 3), ylim=(-1.6, 1.6))
for ax in axes[1]:
    ax.set_xlabel("x as read (arbitrary units)")
for ax in axes[:, 0]:
    ax.set_ylabel("y (arbitrary units)")
fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()
