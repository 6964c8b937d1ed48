"""
Did the error bars change anything?
===================================

Often they do not. ``model.report`` compares the same method with and without them on the same held-out rows. It also
compares the two meanings of error bars: the *spread* of a row, or the *measurement error* of one reading.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain

rng = np.random.default_rng(0)
n, d = 300, 4
label = rng.integers(0, 2, n)
std = np.exp(rng.normal(size=(n, d)))  # some values are known well, others hardly
read = rng.normal(size=(n, d)) + 1.2 * label[:, None] + std * rng.normal(size=(n, d))
table = {f"f{j}": read[:, j] for j in range(d)} | {f"f{j}_err": std[:, j] for j in range(d)}
table["label"] = label

model = uncertain.fit(table, target="label", meaning="measurement", method="gsu")
report = model.report(table, folds=4, repeats=2)
print(report.verdict)

# %%
# The meanings of the error bars compared, each with the standard error of its difference from the means alone.

print(report.meanings.verdict)
print(report.meanings)

# %%
# The report ends with the code of the winner.

print(report.code)

# %%
# Probabilities should be right, too: predicted against observed frequencies, with the uncertainty of the observed
# ones.

from uncertain.plot import ReliabilityDisplay

fig, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
ReliabilityDisplay.from_estimator(model, table, ax=ax)
plt.show()
