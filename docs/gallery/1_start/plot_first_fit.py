"""
A table with error bars, in one line
====================================

``uncertain.fit`` finds the error columns by their names and says which it used. Predictions come back in the caller's
kind of table. The table is a part of NASA's Kepler catalogue, as published: is what dims a star a planet?
"""

import warnings

import matplotlib.pyplot as plt
import polars as pl

import uncertain
from uncertain.demo import kepler

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # print(model) has them

objects = kepler()
training = objects.filter(pl.col("kepid") % 5 < 3)  # whole stars: some have several objects
new = objects.filter(pl.col("kepid") % 5 >= 3)
training.select("koi_disposition", "koi_prad", "koi_prad_err1", "koi_prad_err2").head(3)

# %%
# The model prints what was found: columns, meaning of the error bars, steps, and how good the fit is.

model = uncertain.fit(training, target="koi_disposition", groups="kepid", method="remeasured")
print(model)

# %%
# A table of new rows goes in, a table of predictions comes out.

probability = model.predict_proba(new)
print(probability.head(3))
print(f"{100 * model.score(new):.1f} % of {len(new)} objects of other stars are classified correctly")

# %%
# Each point is an object of a star that the model has not seen. Planets are small, and so are some of the false alarms:
# for those the model uses the other seven quantities, and says how sure it is.

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
for label, color, marker in (("CONFIRMED", "#2166ac", "o"), ("FALSE POSITIVE", "#d6604d", "s")):
    rows = (new["koi_disposition"] == label) & new["koi_prad"].is_not_null()
    some = new.filter(rows)
    ax.errorbar(
        some["koi_prad"], probability.filter(rows)["CONFIRMED"],
        xerr=[some["koi_prad_err2"].abs(), some["koi_prad_err1"]],
        fmt=marker, color=color, markersize=4, elinewidth=0.6, alpha=0.7, label=label.lower(),
    )  # fmt: skip
ax.set(xscale="log", xlabel="radius (earth radii)", ylabel="probability of a planet", ylim=(-0.03, 1.03))
ax.legend(loc="center right", title="NASA's verdict")
plt.show()
