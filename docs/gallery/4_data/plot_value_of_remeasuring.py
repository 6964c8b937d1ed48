"""
Which value to measure again?
=============================

Telescope time is limited. ``value_of_remeasuring`` estimates, for every value of every object, by how much the expected
loss would fall if its error were halved. The objects are those of NASA's Kepler catalogue.
"""

import warnings

import matplotlib.pyplot as plt
import polars as pl

import uncertain
from uncertain.demo import kepler

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # print(model) says the same

objects = kepler()
known, new = objects.filter(pl.col("kepid") % 5 < 3), objects.filter(pl.col("kepid") % 5 >= 3)
model = uncertain.fit(known, target="koi_disposition", groups="kepid", method="remeasured")
values = model.value_of_remeasuring(new, factor=0.5, top=1000)
best = values.head(8)
print(best.with_columns(object=new["kepoi_name"].gather(best["row"])))

# %%
# Left, the objects that gain most, in the plane in which planets are usually looked for: they lie where both kinds mix.
# Right, what a better instrument would be worth: the gains of each quantity, summed over the 1,000 best values.

fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", width_ratios=(1.5, 1))
ax = axes[0]
for label, color, marker in (("CONFIRMED", "#2166ac", "o"), ("FALSE POSITIVE", "#d6604d", "s")):
    some = new.filter(pl.col("koi_disposition") == label)
    ax.plot(
        some["koi_period"],
        some["koi_prad"],
        marker,
        color=color,
        markersize=3.5,
        alpha=0.6,
        label=label.lower(),
    )
again = new[values["row"].unique(maintain_order=True).head(20)]
ax.plot(
    again["koi_period"], again["koi_prad"], "o",
    markersize=12, markerfacecolor="none", markeredgecolor="black", label="the 20 to measure again",
)  # fmt: skip
ax.set(xscale="log", yscale="log", xlabel="period (days)", ylabel="radius (earth radii)")
fig.legend(*ax.get_legend_handles_labels(), loc="outside lower left", ncols=3)
gains = values.group_by("feature").agg(pl.col("gain").sum()).sort("gain")
axes[1].barh(gains["feature"], gains["gain"], color="#2166ac")
axes[1].set_xlabel("loss saved if errors are halved (sum)")
plt.show()
