"""
Errors in x and in y
====================

Least squares assumes that x is exact. With errors in x it underestimates the slope, the more so the larger they are
("attenuation"). The mixture regression models the true values behind both readings and recovers the law between them,
with standard errors and the scatter that no error bar explains.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray, GaussianMixtureRegressor

rng = np.random.default_rng(0)
n = 300
z = rng.normal(size=n)
x_std, y_std = rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 0.6, n)
x = z + x_std * rng.normal(size=n)
y = 1 + 2 * z + 0.3 * rng.normal(size=n) + y_std * rng.normal(size=n)

X = GaussianArray(x[:, None], std=x_std[:, None])
model = GaussianMixtureRegressor().fit(X, y, y_std=y_std)
least_squares = np.polyfit(x, y, 1)
print(f"slope {model.coef_[0]:.2f} ± {model.coef_std_[0]:.2f}, least squares {least_squares[0]:.2f}, truth 2")
print(f"scatter {model.intrinsic_scatter_:.2f} ± {model.intrinsic_scatter_std_:.2f}, truth 0.3")

# %%
# Grey are the readings with their error bars. Least squares is drawn towards the horizontal, because errors in x spread the
# readings sideways; the mixture regression lies on the law that made the data.

grid = np.array([-3.0, 3.0])
fig, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.errorbar(x, y, xerr=x_std, yerr=y_std, fmt=".", color="#9a9a9a", elinewidth=0.5, alpha=0.6, zorder=0)
ax.plot(grid, 1 + 2 * grid, color="black", linewidth=1, label="the law behind the data")
ax.plot(
    grid,
    model.intercept_ + model.coef_[0] * grid,
    "--",
    color="#2166ac",
    linewidth=2.5,
    label="GaussianMixtureRegressor",
)
ax.plot(grid, np.polyval(least_squares, grid), ":", color="#d6604d", linewidth=2.5, label="least squares")
ax.set(xlabel="x (arbitrary units)", ylabel="y (arbitrary units)")
ax.legend(loc="upper left")
plt.show()
