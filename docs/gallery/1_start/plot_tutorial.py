"""
Five minutes with a catalogue
=============================

The Kepler telescope saw thousands of stars dim at regular intervals. Some are dimmed by a planet, the others are false
alarms: two stars that eclipse each other, the light of a neighbour, an artefact. Which are worth an hour of a large
telescope?

NASA's catalogue answers with eight measured quantities per object, each with an upper and a lower error. A slice of it
comes with the package: 809 objects as they were published, with gaps, zeros and asymmetric error bars. This page goes
from that table to a decision: *which object to measure again*.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain
from uncertain.demo import kepler

warnings.simplefilter(
    "ignore", uncertain.exceptions.UncertainWarning
)  # what they say is shown by print(model)
PLANET, FALSE, GREY = "#2166ac", "#d6604d", "#7a7a7a"

objects = kepler()
objects.select("kepid", "koi_disposition", "koi_depth", "koi_depth_err1", "koi_depth_err2").head(4)

# %%
# 1. Look
# -------
# Planets and false positives overlap, and their error bars differ by factors of a hundred and more. A model that knows
# that can trust the good values and doubt the others. Two fifths of the stars are kept aside: they play the objects of
# next year.

stars = objects["kepid"].unique().sort().sample(fraction=0.6, seed=0, shuffle=True)
training = objects.filter(pl.col("kepid").is_in(stars.implode()))
new = objects.filter(~pl.col("kepid").is_in(stars.implode()))

fig, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
for label, color, marker in (("CONFIRMED", PLANET, "o"), ("FALSE POSITIVE", FALSE, "s")):
    some = training.filter(pl.col("koi_disposition") == label).drop_nulls()
    arms = [some["koi_prad_err2"].abs(), some["koi_prad_err1"]]
    ax.errorbar(
        some["koi_period"], some["koi_prad"], yerr=arms, fmt=marker, color=color, markersize=3,
        elinewidth=0.7, alpha=0.6, label=label.lower(),
    )  # fmt: skip
ax.set(xscale="log", yscale="log", xlabel="period (days)", ylabel="radius of what passes (earth radii)")
ax.set_ylim(0.2, 1e3)
fig.legend(loc="outside upper right", ncols=2)
plt.show()

# %%
# 2. Are the error bars right?
# ----------------------------
# ``check_errors`` asks the table itself: do readings scatter as much as their error bars say? A factor of 1 means yes.
# In this catalogue every answer is marked doubtful, since poorly measured objects are partly other *kinds* of objects,
# and it says so. But a gross mistake stands out, such as temperatures whose error bars somebody divided by ten:

columns = [c for c in training.columns if c not in ("kepoi_name", "kepid", "koi_disposition")]
published = training.select(columns)
mistaken = published.with_columns(pl.col("koi_steff_err1", "koi_steff_err2") / 10)
shown = [f"koi_{q}" for q in ("duration", "impact", "prad", "srad", "steff", "slogg")]

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for table, name, color, shift in (
    (published, "as published", PLANET, -0.1),
    (mistaken, "temperatures / 10", FALSE, 0.1),
):
    check = uncertain.check_errors(table)
    rows = [check.feature_names.index(q) for q in shown]
    factor, ends = check.factor[rows], check.interval_95[rows].T
    place = np.arange(len(shown)) + shift
    ax.errorbar(
        place, factor, yerr=np.abs(ends - factor), fmt="o", color=color, mfc="white", capsize=3, label=name
    )
ax.axhline(1, color=GREY, linewidth=1)
ax.set_xticks(range(len(shown)), shown)
ax.set(yscale="log", ylim=(0.05, 50), ylabel="true errors / stated errors")
ax.legend(loc="lower left")
plt.show()

# %%
# 3. Fit
# ------
# One call. It finds the columns and their errors, estimates missing values, compares a dozen models on
# held-out stars (two objects of one star stay together: ``groups=``), and says what it did.

model = uncertain.fit(training, target="koi_disposition", groups="kepid")
print(model)

# %%
# The leaderboard: log loss of held-out objects, with errors as they are and four times as large.

from uncertain.plot import LeaderboardDisplay

LeaderboardDisplay.from_estimator(model)
plt.show()

# %%
# 4. Can the probabilities be believed?
# -------------------------------------
# Of the new objects that are called a planet with 80 percent, about 80 percent should be planets.

from uncertain.plot import ReliabilityDisplay

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ReliabilityDisplay.from_estimator(model, new, target="CONFIRMED", n_bins=6, ax=ax)
ax.legend(loc="lower right", fontsize="small")
plt.show()
print(f"{100 * model.score(new):.1f} % of {len(new)} new objects are classified correctly")

# %%
# 5. Next year the errors are larger
# ----------------------------------
# A shorter mission, fainter stars: these objects with errors two and four times as large.
# Beside the model: gradient boosting that gets the errors as further columns, which is what most of us would do.

from sklearn.ensemble import HistGradientBoostingClassifier

boosting = HistGradientBoostingClassifier(random_state=0).fit(training[columns], training["koi_disposition"])


def worse(table, k, rng):
    """Rows measured with errors k times as large: noise is added and the error bars say so."""
    out = {}
    for name in columns[::3]:
        value, up, down = (table[name + end].to_numpy() for end in ("", "_err1", "_err2"))
        noise = np.sqrt(k**2 - 1) * (up - down) / 2 * rng.standard_normal(len(table))
        out |= {name: value + np.nan_to_num(noise), name + "_err1": k * up, name + "_err2": k * down}
    return table.with_columns(pl.Series(name, values) for name, values in out.items())


factors, right = (1, 2, 4), {"uncertain.fit": [], "boosting, errors as columns": []}
for k in factors:
    draws = [worse(new, k, np.random.default_rng(seed)) for seed in range(5)]
    truth = new["koi_disposition"].to_numpy()
    right["uncertain.fit"].append([100 * np.mean(model.predict(t).to_numpy() == truth) for t in draws])
    right["boosting, errors as columns"].append(
        [100 * np.mean(boosting.predict(t[columns]) == truth) for t in draws]
    )

fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for (name, values), color, style in zip(right.items(), (PLANET, FALSE), ("o-", "s--")):
    ax.plot(factors, np.mean(values, axis=1), style, color=color, label=name)
ax.axhline(
    100 * np.mean(truth == "FALSE POSITIVE"), color=GREY, linewidth=1, label="everything a false positive"
)
ax.set_xticks(factors, [str(k) for k in factors])
ax.set(xlabel="errors of the new objects / errors in training", ylabel="new objects classified correctly (%)")
ax.legend()
plt.show()
for name, values in right.items():
    print(f"{name:28}", *(f"{value:6.1f}" for value in np.mean(values, axis=1)))

# %%
# 6. Sets of classes with a guarantee
# -----------------------------------
# ``predict_set`` gives every object the classes that it may have, such that 95 % of the sets contain the truth. An
# object with both classes is open: another night at the telescope may decide it.

sets = model.predict_set(new, coverage=0.95)
is_open = (sets.list.len() == 2).to_numpy()
held = np.mean([label in some for label, some in zip(truth, sets.to_list())])
print(f"{100 * held:.1f} % of the sets contain the truth; {is_open.sum()} of {len(new)} objects are open")

probability = model.predict_proba(new)["CONFIRMED"].to_numpy()
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.hist(
    [probability[~is_open], probability[is_open]],
    bins=20, range=(0, 1), color=[PLANET, FALSE], label=["decided", "open"],
)  # fmt: skip
ax.set(xlabel="probability of a planet", ylabel="new objects", yscale="log")
ax.legend(loc="upper center")
plt.show()

# %%
# 7. The decision: what to measure again
# --------------------------------------
# ``value_of_remeasuring`` estimates for each value of each object how much the expected loss falls if its error is
# halved. The first line is where the next hour of the telescope is worth most.

candidates = new.filter(pl.Series(is_open))
best = model.value_of_remeasuring(candidates, factor=0.5, top=5)
print(best.with_columns(object=candidates["kepoi_name"].gather(best["row"])))

# %%
# From here
# ---------
# - Your table: :doc:`/how-to/table`. Choose a model: :doc:`/how-to/choose`.
# - A slope between true values: :doc:`/how-to/slope`.
# - Replicates in the lab: :doc:`/how-to/error-bars`.
# - Millions of rows: :doc:`/how-to/large-data`.
