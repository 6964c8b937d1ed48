"""
A relation with outliers and limits
===================================

Rotation and luminosity of galaxies follow a line (R. B. Tully and J. R. Fisher, Astronomy and Astrophysics 54, 1977).
Both are measured with errors, a few galaxies are misidentified, and for the faintest only a limit of the magnitude is
known. Each of the three bends the line of least squares; the law between true values accounts for all of them. The
galaxies are simulated, so that the result can be compared with the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray
from uncertain.laws import LinearLaw
from uncertain.plot import LawDisplay

rng = np.random.default_rng(4)
n, slope, zero_point, scatter = 300, -8.0, -20.5, 0.25
z = rng.normal(scale=0.13, size=n)  # log of the true rotation velocity, less 2.2
x_std = rng.uniform(0.02, 0.1, size=n)
y_std = rng.uniform(0.05, 0.3, size=n)
magnitude = zero_point + slope * z + rng.normal(scale=scatter, size=n) + y_std * rng.normal(size=n)
wrong = rng.uniform(size=n) < 0.06  # another galaxy in the slit
magnitude[wrong] += rng.choice([-1, 1], wrong.sum()) * rng.uniform(2, 5, wrong.sum())
X = GaussianArray((z + x_std * rng.normal(size=n))[:, None], std=x_std[:, None])

# Fainter than -19.3 is not seen: all that is known is that the magnitude is larger.
limit = np.where(magnitude > -19.3, 1, 0)
seen = np.where(limit == 1, -19.3, magnitude)

# %%
# Three fits to the same readings; each accounts for one of these more than the one before.
law = LinearLaw(outliers="mixture").fit(X, seen, y_std, y_limit=limit)
for name, other in (
    ("limits taken for readings, no outliers", LinearLaw().fit(X, seen, y_std)),
    ("limits, no outliers", LinearLaw().fit(X, seen, y_std, y_limit=limit)),
    ("limits and outliers", law),
):
    print(f"{name:40} slope {other.coef_[0]:+.2f} +- {other.coef_std_[0]:.2f}, truth {slope}")
print(law.summary())

# %%
# Readings with their error ellipses, and residuals in units of their errors. The limits are drawn at their value.
shown = limit == 0
figure, axes = plt.subplots(2, 1, figsize=(8, 6.5), height_ratios=(3, 1), sharex=True, layout="constrained")
display = LawDisplay.from_estimator(
    law,
    X[shown],
    seen[shown],
    y_std[shown],
    outlier_probability=law.outlier_probability_[shown],
    names=("log10 of velocity (km/s) - 2.2", "absolute magnitude (mag)"),
    axes=axes,
)
display.ax_.plot(X.means[~shown, 0], seen[~shown], "v", color="#9a9a9a", ms=4, zorder=2)
display.ax_.invert_yaxis()
plt.show()
