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
import polars as pl

import uncertain
from uncertain.demo import kepler
from uncertain.uncertainty import from_bounds

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # it says what is printed here

radii = kepler().select("kepoi_name", "koi_prad", "koi_prad_err1", "koi_prad_err2").drop_nulls()
radii = radii.filter(pl.col("koi_prad_err1") > 0, pl.col("koi_prad_err2") < 0)
value, up, down = (radii[name].to_numpy() for name in ("koi_prad", "koi_prad_err1", "koi_prad_err2"))
rows = from_bounds((value + down)[:, None], (value + up)[:, None], value=value[:, None])
skewed = np.maximum(up, -down) > 1.1 * np.minimum(up, -down)
print(
    f"{100 * skewed.mean():.0f} % of {len(radii)} published radii have arms that differ by more than a tenth"
)

# %%
# Three of them. The dotted line is the quoted radius, the dashed one the mean that the library takes: where the upper arm is
# three times the lower one, they differ by more than a whole lower arm.

fig, axes = plt.subplots(1, 3, figsize=(9.5, 3.6), layout="constrained")
ratio = up / -down
for ax, wanted in zip(axes, (1.0, 1.8, 3.0)):
    k = np.abs(ratio - wanted).argmin()
    mode, low, high = value[k], -down[k], up[k]
    mean, std = rows.means[k, 0], np.sqrt(rows[[k]].trace()[0])
    grid = np.linspace(mode - 4 * low, mode + 4 * high, 400)
    split = np.exp(-0.5 * ((grid - mode) / np.where(grid < mode, low, high)) ** 2)
    split *= 2 / (np.sqrt(2 * np.pi) * (low + high))
    gauss = np.exp(-0.5 * ((grid - mean) / std) ** 2) / (np.sqrt(2 * np.pi) * std)
    ax.fill_between(grid, split, color="#9a9a9a", alpha=0.35, label="split normal")
    ax.plot(grid, gauss, color="#2166ac", linewidth=2, label="Gaussian")
    ax.axvline(mode, color="#5b5b5b", linestyle=":", label="quoted")
    ax.axvline(mean, color="#2166ac", linestyle="--", label="mean")
    ax.set(xlabel="radius (earth radii)", yticks=[], ylim=(0, 1.15 * max(split.max(), gauss.max())))
    ax.set_title(
        f"{radii['kepoi_name'][int(k)]}: ${mode:g}^{{+{high:g}}}_{{-{low:g}}}$, mean {mean:.2f}", fontsize=10
    )
axes[0].set_ylabel("density")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
plt.show()

# %%
# In a table, pairs of columns are found by name: ``koi_prad_err1`` and ``koi_prad_err2``, ``mass_upper`` and
# ``mass_lower``.

print(uncertain.fit(kepler(), target="koi_disposition", method="gsu").columns_)
