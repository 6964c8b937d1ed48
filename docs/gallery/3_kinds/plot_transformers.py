"""
What the transformers do
========================

Steps in front of a model take Gaussians and give Gaussians: means and covariances are transformed together. The picture
shows five of them on the same forty objects of NASA's Kepler catalogue: duration and radius with their published errors,
enlarged three times so that they can be seen.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain
from uncertain import (
    AsGaussians,
    ErrorColumns,
    GaussianCollapser,
    GaussianColumnTransformer,
    GaussianDenoiser,
    GaussianLogScaler,
    GaussianScaler,
    KernelMap,
    LinearMap,
    SubspaceProjector,
)
from uncertain.demo import kepler
from uncertain.plot import ellipses

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # arms differ
table = (
    kepler()
    .filter(pl.col("koi_disposition") == "CONFIRMED", pl.col("koi_duration") < 12)
    .drop_nulls()
    .head(40)
)
pair = {name: (f"{name}_err1", f"{name}_err2") for name in ("koi_duration", "koi_prad")}
X = AsGaussians(features=list(pair), std=pair).fit_transform(table)
std = 3 * np.sqrt(np.diagonal(X.covariances(), axis1=1, axis2=2))
X = uncertain.GaussianArray(X.means, std=std, feature_names=["duration", "radius"])

steps = {
    "as they are": None,
    "GaussianLogScaler": GaussianLogScaler(softening=[0.5, 0.5]),
    "GaussianScaler": GaussianScaler(),
    "GaussianDenoiser": GaussianDenoiser(),
    "LinearMap: sum and difference": LinearMap([[1, 1], [1, -1]]),
    "GaussianCollapser": GaussianCollapser(),
}
fig, axes = plt.subplots(2, 3, figsize=(10, 6), layout="constrained")
for ax, (name, step) in zip(axes.flat, steps.items()):
    rows = X if step is None else step.fit_transform(X)
    ellipses(rows, ax=ax, facecolors="#2166ac", alpha=0.2)
    ax.plot(*rows.means.T, ".", color="#2166ac", markersize=4)
    ax.set_title(name, fontsize=10)
    ax.margins(0.1)
axes[0, 0].set(xlabel="duration (hours)", ylabel="radius (earth radii)")
axes[0, 1].set(xlabel="logarithm of duration", ylabel="logarithm of radius")
axes[0, 2].set(xlabel="duration (standard deviations)", ylabel="radius (standard deviations)")
axes[1, 0].set(xlabel="duration (hours)", ylabel="radius (earth radii)")
axes[1, 1].set(xlabel="sum", ylabel="difference")
axes[1, 2].set(xlabel="duration (hours)", ylabel="radius (earth radii)")
plt.show()

# %%
# Others change the features: the feature space of a kernel, the directions in which the rows vary most, a step of its own
# for each column, and plain columns for a learner that knows no Gaussians.

both = GaussianColumnTransformer([("log", GaussianLogScaler(), [1])], remainder="passthrough")
for name, step in {
    "KernelMap": KernelMap(gamma=0.1),
    "SubspaceProjector": SubspaceProjector(variance=0.9),
    "GaussianColumnTransformer": both,
    "ErrorColumns": ErrorColumns(),
}.items():
    out = step.fit_transform(X)
    kind = getattr(out, "kind", "plain columns")
    print(f"{name:26} {X.shape} -> {out.shape}, {kind}")
