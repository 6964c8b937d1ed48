"""
Did the error bars change anything?
===================================

Often they do not. ``model.report`` compares the method with and without them, on held-out rows. Here are
two real tables with published error bars: 569 biopsies, where nothing changes, and 809 objects of the Kepler telescope,
where it does.
"""

import warnings

import matplotlib.pyplot as plt

import uncertain
from uncertain.demo import kepler, wdbc

warnings.simplefilter("ignore", uncertain.exceptions.UncertainWarning)  # print(model) has them

biopsies, objects = wdbc(), kepler()
model = uncertain.fit(biopsies, target="diagnosis", method="gsu")
of_biopsies = model.report(biopsies, folds=4, repeats=2)
print(of_biopsies.verdict)

# %%

model = uncertain.fit(objects, target="koi_disposition", groups="kepid", method="discriminant")
of_objects = model.report(objects, folds=4, repeats=2)
print(of_objects.verdict)

# %%
# Each table says what its error bars are worth as *measurement error* of one reading and as *spread* of a row, and in a
# discriminant. Every difference has its standard error: none of the biopsies' is as large as its error.

print(of_biopsies.meanings)
print(of_objects.meanings)

# %%
# As a picture: 0 is the model without error bars, on equal folds.

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for shift, (name, report), color, marker in zip(
    (-0.12, 0.12),
    (("569 biopsies", of_biopsies), ("809 Kepler objects", of_objects)),
    ("#5b5b5b", "#2166ac"),
    ("s", "o"),
):
    lines = {line["name"]: line for line in report.meanings.to_dict()["ranking"]}
    for place, meaning in enumerate(("measurement", "spread", "discriminant")):
        gain, se = 100 * lines[meaning]["difference"], 100 * lines[meaning]["difference_se"]
        label = name if place == 0 else None
        ax.errorbar(gain, place + shift, xerr=se, fmt=marker, color=color, capsize=4, label=label)
ax.axvline(0, color="#7a7a7a", linewidth=1)
ax.set_yticks(range(3), ["measurement error", "spread", "discriminant"])
ax.set(xlabel="accuracy that the error bars add (points)", ylim=(2.5, -0.5))
fig.legend(loc="outside right upper")
plt.show()

# %%
# The report ends with the winner.

print(of_objects.reason)
