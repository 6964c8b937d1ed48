"""
A table with error bars, in one line
====================================

``uncertain.fit`` finds the error columns by their names and says which it used. Predictions come back in the caller's
kind of table.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain

rng = np.random.default_rng(1)
n = 400
quasar = rng.random(n) < 0.5
flux_err, color_err = rng.uniform(0.1, 1.0, (2, n))
stars = pl.DataFrame(
    {
        "flux": 2.0 - 1.2 * quasar + 0.5 * rng.normal(size=n) + flux_err * rng.normal(size=n),
        "flux_err": flux_err,
        "color": 0.2 + 1.0 * quasar + 0.3 * rng.normal(size=n) + color_err * rng.normal(size=n),
        "color_err": color_err,
        "kind": np.where(quasar, "quasar", "star"),
    }
)
stars.head(3)

# %%
# The model prints what was found: columns, meaning of the error bars, steps, and how good the fit is.

model = uncertain.fit(stars, target="kind", method="gsu")
print(model)

# %%
# The same columns without labels are predicted in the same kind of table.

print(model.predict_proba(stars).head(3))

# %%
# A probability depends on how well its row was measured: for rows with large errors it is never near 0 or 1.

proba = model.predict_proba(stars)
sure = proba.select(pl.max_horizontal(pl.all())).to_series()
size = np.hypot(flux_err, color_err)

fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for name, color, marker in (("star", "#2166ac", "o"), ("quasar", "#d6604d", "s")):
    rows = (stars["kind"] == name).to_numpy()
    ax.scatter(size[rows], sure.to_numpy()[rows], s=16, color=color, marker=marker, alpha=0.6, label=name)
ax.set_xlabel("size of the row's errors (flux and color together)")
ax.set_ylabel("probability of the predicted class")
ax.legend(loc="lower left")
plt.show()
