"""
A discriminant with known noise
===============================

Each class is a Gaussian of *true* values; every row adds its own known noise to it. A row that was measured badly
then gets a probability near the share of its class, however far out its reading lies. An ordinary discriminant would
be certain.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from uncertain import GaussianArray, GaussianDiscriminant

rng = np.random.default_rng(0)
n = 600
y = rng.integers(0, 2, n)
std = np.exp(rng.normal(0, 0.9, n)) * 0.5
x = 2.0 * y + 0.6 * rng.normal(size=n) + std * rng.normal(size=n)
X = GaussianArray(x[:, None], std=std)
known = GaussianDiscriminant().fit(X, y)
plain = LinearDiscriminantAnalysis().fit(x[:, None], y)

for noise in (0.0, 1.0, 3.0):
    row = GaussianArray([[4.0]], std=noise)
    print(f"a reading of 4 with noise {noise:g}: class 1 with P = {known.predict_proba(row)[0, 1]:.2f}")

# %%
# The same reading means less, the more noise it has. The ordinary discriminant (dotted) has one curve for all rows.

grid = np.linspace(-2, 4, 200)
fig, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
for noise, color, style in ((0.0, "#2166ac", "-"), (1.0, "#8073ac", "--"), (3.0, "#d6604d", "-.")):
    rows = GaussianArray(grid[:, None], std=noise)
    ax.plot(
        grid,
        known.predict_proba(rows)[:, 1],
        style,
        color=color,
        linewidth=2,
        label=f"noise of the row: {noise:g}",
    )
ax.plot(
    grid, plain.predict_proba(grid[:, None])[:, 1], ":", color="#5b5b5b", label="LinearDiscriminantAnalysis"
)
ax.set(
    xlabel="reading (arbitrary units; true values differ by 2)", ylabel="probability of class 1", ylim=(0, 1)
)
ax.legend(loc="upper left")
plt.show()
