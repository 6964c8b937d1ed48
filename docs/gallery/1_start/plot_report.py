"""
Did the error bars change anything?
===================================

Often they do not. ``model.report`` compares the method with and without them, on held-out rows. Here are
two real tables with published error bars: 569 biopsies, where little changes, and 809 objects of the Kepler telescope,
where probabilities become better.
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
# Each report also says whether the error bars are better understood as *measurement error* of one reading or as
# *spread* of a row, and for which rows they matter.

print(of_biopsies.meaning_verdict)
print(of_objects.meaning_verdict)
print(of_objects.by_error_size)

# %%
# One page has all of it, as text (``print(report)``) and as a picture: differences of the model to alternatives on the
# same folds, gains by the size of the errors, and stated probabilities beside observed ones.

of_objects.plot()
plt.show()

# %%
# The report ends with the winner.

print(of_objects.reason)
