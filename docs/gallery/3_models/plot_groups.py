"""
Several rows of one patient: groups
===================================

Five visits of each patient are not five patients. With rows of one patient on both sides of a split, a model
recognises the patient instead of the illness, and its score is too good for new patients. ``groups=`` keeps them
together wherever rows are held out: in reports, in calibrated probabilities, in searches over penalties.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain

rng = np.random.default_rng(0)


def visits(patients, each):
    """Twenty values of each patient, read at each visit with errors of 0.2; the first tells the illness."""
    ill = np.arange(patients) % 2
    values = rng.normal(size=(patients, 20)) + 0.6 * np.outer(2 * ill - 1, np.arange(20) == 0)
    who = np.repeat(np.arange(patients), each)
    read = values[who] + 0.2 * rng.normal(size=(len(who), 20))
    columns = {f"f{j}": read[:, j] for j in range(20)} | {
        f"f{j}_err": np.full(len(who), 0.2) for j in range(20)
    }
    return pl.DataFrame(columns | {"patient": who, "label": ill[who]})


table = visits(60, each=5)
model = uncertain.fit(table, groups="patient", method="gsu")
whole = model.report(table, repeats=2, meanings=False)
single = model.report(table, repeats=2, meanings=False, groups=False)
truth = model.score(visits(1000, each=1))

# %%
# Rows held out one by one promise far more than new patients keep; whole patients held out are right about them.

fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
names = ["rows held out one by one", "whole patients held out", "1,000 new patients"]
values, errors = [single.score, whole.score, truth], [single.score_se, whole.score_se, 0.0]
bars = ax.barh(names, values, xerr=errors, color=["#d6604d", "#2166ac", "#5b5b5b"], capsize=4)
ax.bar_label(bars, fmt="%.2f", label_type="center", color="white", fontweight="bold")
ax.set(xlabel="share of rows classified correctly", xlim=(0, 1))
ax.invert_yaxis()
plt.show()
