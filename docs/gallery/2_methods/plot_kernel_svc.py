"""
A kernel that is averaged over the noise
========================================

The RBF kernel averaged over two Gaussians has a closed form: a row with large errors is slightly similar to
everything around it, and very similar to nothing. The example is a disc inside a ring, and the ring is measured
worse.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, ProbabilisticKernelSVC
from uncertain.plot import DecisionBoundaryDisplay

rng = np.random.default_rng(0)
n = 160
radius = np.r_[np.sqrt(rng.uniform(0, 1, n)), np.sqrt(rng.uniform(1.2, 5, n))]
angle = rng.uniform(0, 2 * np.pi, 2 * n)
std = np.repeat([0.1, 0.35], n)
truth = radius[:, None] * np.c_[np.cos(angle), np.sin(angle)]
X = GaussianArray(truth + std[:, None] * rng.normal(size=truth.shape), std=std)
y = np.repeat(["disc", "ring"], n)

model = ProbabilisticKernelSVC(C=2.0, sigma=0.7).fit(X, y)
fig, ax = plt.subplots(figsize=(6.5, 5.5), layout="constrained")
DecisionBoundaryDisplay.from_estimator(model, X, y, ax=ax)
ax.set(xlabel="x (arbitrary units)", ylabel="y (arbitrary units)", aspect="equal")
plt.show()

# %%
# The same with random features, whose cost grows linearly with the rows.

fast = ProbabilisticKernelSVC(C=2.0, sigma=0.7, n_components=400, random_state=0).fit(X, y)
print(f"{model.score(X, y):.3f} with the kernel, {fast.score(X, y):.3f} with 400 random features")
