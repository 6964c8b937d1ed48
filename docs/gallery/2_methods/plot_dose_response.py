"""
A dose-response curve
=====================

The dose that reached the cells is known to 40 % only: errors in x, on a curve that saturates. Least squares, which
takes the dose for exact, finds a curve that is far too flat: a slope of 1.90 +- 0.04, where the truth is 2.5. The
likelihood integrated over the true doses finds 2.40 +- 0.11, orthogonal distances 2.65 +- 0.13. Both hold the truth
within 1.2 standard errors, and one set of 400 readings does not tell which of them is better. The readings are
simulated: true log-doses and the noise of both axes are normal.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray
from uncertain.laws import CurveRegressor

rng = np.random.default_rng(1)
n, x_std, y_std = 400, 0.4, 0.05
z = rng.normal(scale=1.2, size=n)  # log of the dose that arrived
x = z + x_std * rng.normal(size=n)  # log of the dose that was given


def hill(x, p):
    top, slope, ec50 = p
    return top / (1 + np.exp(-slope * (x[:, 0] - ec50)))


truth = np.array([1.0, 2.5, 0.3])
y = hill(z[:, None], truth) + y_std * rng.normal(size=n)

X = GaussianArray(x[:, None], std=x_std)
start = {"top": 1.2, "slope": 1.0, "log EC50": 0.0}
law = CurveRegressor(hill, start).fit(X, y, y_std)
distances = CurveRegressor(hill, start, truth="functional").fit(X, y, y_std)
print(law.summary())
print(f"orthogonal distances: slope {distances.params_[1]:.2f} +- {distances.std_[1]:.2f}, truth 2.5")

# %%
grid = np.linspace(-4, 4, 200)[:, None]
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.errorbar(
    x,
    y,
    xerr=x_std,
    yerr=y_std,
    fmt=".",
    color="#9a9a9a",
    elinewidth=0.5,
    alpha=0.4,
    zorder=0,
    label="readings",
)
ax.plot(grid, hill(grid, truth), color="black", linewidth=1, label="the curve behind the data")
ax.plot(grid, hill(grid, law.params_), "--", color="#2166ac", linewidth=2.5, label="structural")
ax.plot(grid, hill(grid, distances.params_), "-.", color="#4d9221", linewidth=2, label="orthogonal distances")
ax.plot(grid, hill(grid, law.naive_params_), ":", color="#d6604d", linewidth=2.5, label="least squares")
ax.set(xlabel="ln(dose / mg)", ylabel="response (share of cells)")
ax.legend(loc="upper left")
plt.show()
