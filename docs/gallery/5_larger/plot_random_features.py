"""
Many rows: features instead of a kernel matrix
==============================================

A kernel matrix of a million rows does not fit into memory. ``ProbabilisticKernelFeatures`` maps Gaussians to vectors
whose inner products approximate the kernel averaged over the noise; any linear learner can follow.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from uncertain import GaussianArray, ProbabilisticKernelFeatures
from uncertain.kernels import probabilistic_rbf

rng = np.random.default_rng(0)
X = GaussianArray(rng.normal(size=(300, 2)), std=rng.uniform(0.1, 0.6, 300))
exact = probabilistic_rbf(X, sigma=1.0)
sizes = [25, 50, 100, 200, 400, 800]
error = []
for size in sizes:
    features = ProbabilisticKernelFeatures(size, random_state=0).fit_transform(X)
    error.append(np.sqrt(np.mean((features @ features.T - exact) ** 2)))

print(f"100 features: the kernel is off by {error[2]:.3f}, 400 features: by {error[4]:.3f}")

# %%
# The error falls as one over the square root of the number of features.

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.loglog(sizes, error, "o-", color="#2166ac", label="random features")
ax.loglog(
    sizes, error[0] * np.sqrt(sizes[0] / np.array(sizes)), ":", color="#5b5b5b", label="1 / square root"
)
ax.set_xticks(sizes, sizes)
ax.set_yticks([0.02, 0.05, 0.1], ["0.02", "0.05", "0.1"])
ax.minorticks_off()
ax.set(xlabel="number of features", ylabel="error of the kernel (root mean square)")
ax.legend()
plt.show()

# %%
# A hundred thousand rows.

n = 100_000
x = rng.uniform(-3, 3, (n, 1))
std = rng.uniform(0.05, 0.3, n)
rows = GaussianArray(x + std[:, None] * rng.normal(size=x.shape), std=std)
start = time.perf_counter()
model = make_pipeline(ProbabilisticKernelFeatures(100, random_state=0), Ridge(0.1)).fit(
    rows, np.sin(2 * x[:, 0])
)
print(f"{n:,} rows in {time.perf_counter() - start:.1f} s")
