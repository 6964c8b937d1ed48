"""
Asymmetric error bars
=====================

:math:`2.0^{+0.9}_{-0.3}`: catalogues quote most probable values with an upper and a lower error. A Gaussian has one
width, so the mean and variance of the split normal distribution are used, and a warning says how many rows are
skewed: the mean of a skewed distribution is not its most probable value.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import uncertain
from uncertain.uncertainty import from_bounds

value, minus, plus = np.array([[2.0]]), np.array([[0.3]]), np.array([[0.9]])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)
    row = from_bounds(value - minus, value + plus, value=value)
mean, std = row.means[0, 0], np.sqrt(row.trace()[0])
print(f"most probable 2.00, mean {mean:.3f}, standard deviation {std:.3f}")

# %%
grid = np.linspace(0.5, 5.5, 500)
width = np.where(grid < 2.0, 0.3, 0.9)
split = np.exp(-0.5 * ((grid - 2.0) / width) ** 2) * 2 / (np.sqrt(2 * np.pi) * 1.2)
gauss = np.exp(-0.5 * ((grid - mean) / std) ** 2) / (np.sqrt(2 * np.pi) * std)
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.fill_between(grid, split, color="#9a9a9a", alpha=0.35, label="split normal: arms 0.3 and 0.9")
ax.plot(grid, gauss, color="#2166ac", linewidth=2, label="the Gaussian with its mean and variance")
ax.axvline(2.0, color="#5b5b5b", linestyle=":", label="quoted value")
ax.axvline(mean, color="#2166ac", linestyle="--", label="mean")
ax.set(xlabel="value", ylabel="density", ylim=(0, 0.95))
ax.legend(fontsize=9)
plt.show()

# %%
# In a table, pairs of columns are found by name: ``period_err1`` and ``period_err2``, ``mass_upper`` and ``mass_lower``.

rng = np.random.default_rng(0)
arms = rng.uniform(0.1, 0.3, (100, 2))
planets = {"radius": rng.gamma(4, 0.5, 100), "radius_err1": arms[:, 0], "radius_err2": -arms[:, 1]}
planets["habitable"] = planets["radius"] < 1.8
with warnings.catch_warnings():
    warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)
    print(uncertain.fit(planets, target="habitable", method="gsu").columns_)
