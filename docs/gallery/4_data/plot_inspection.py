"""
Which features does the model use?
==================================

Permutation importance, where a value is moved together with its error bar; and partial dependence on one feature, as
if it had been read exactly, or with its errors. The table is NASA's Kepler catalogue: planet or false alarm?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain
from uncertain.demo import kepler
from uncertain.inspection import partial_dependence, permutation_importance

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # print(model) says the same

objects = kepler()
known, new = objects.filter(pl.col("kepid") % 5 < 3), objects.filter(pl.col("kepid") % 5 >= 3)
model = uncertain.fit(known, target="koi_disposition", groups="kepid", method="remeasured")
importance = permutation_importance(model, new, new["koi_disposition"])
print(importance)

# %%
# Left, how much accuracy is lost on new stars without each quantity. Right, the mean probability of a false alarm where all
# objects had that impact parameter: beyond 0.8 the star is only grazed, as by another star. The upper curve is higher because
# the size of an error says something, too: of the quarter with the best-known impact parameters 85 % are false alarms.

order = np.argsort(importance.importances_mean)[::-1][:8]
fig, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
axes[0].barh(
    range(8),
    100 * importance.importances_mean[order],
    xerr=100 * importance.standard_error[order],
    color="#2166ac",
    ecolor="black",
)
axes[0].set_yticks(range(8), [importance.names[k] for k in order])
axes[0].invert_yaxis()
axes[0].set_xlabel("accuracy lost (points)")
for error, name, style, color in (
    ("zero", "if it were read exactly", "-", "#2166ac"),
    (None, "with the errors it has", "--", "#d6604d"),
):
    options = {} if error is None else {"error": error}
    curve = partial_dependence(model, new, "koi_impact", grid=np.linspace(0, 1.4, 40), **options)
    axes[1].plot(curve.grid[0], curve.average[0], style, color=color, linewidth=2, label=name)
axes[1].set(
    xlabel="impact parameter (stellar radii)", ylabel="mean probability of a false alarm", ylim=(0.5, 1)
)
axes[1].legend(loc="lower right")
plt.show()
