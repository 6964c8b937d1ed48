"""
Which features does the model use?
==================================

Permutation importance, where a value is moved together with its error bar; and partial dependence on one feature, as
if it had been read exactly, or with its errors.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from uncertain import GaussianArray, GaussianDiscriminant, GaussianScaler
from uncertain.inspection import partial_dependence, permutation_importance

rng = np.random.default_rng(0)
n = 600
y = rng.integers(0, 2, n)
truth = rng.normal(size=(n, 3)) + np.outer(y, [2.0, 1.0, 0.0])
std = np.c_[rng.uniform(0.5, 3.0, n), rng.uniform(0.1, 0.4, n), rng.uniform(0.1, 0.4, n)]
X = GaussianArray(truth + std * rng.normal(size=(n, 3)), std=std, feature_names=["flux", "color", "noise"])
model = make_pipeline(GaussianScaler(), GaussianDiscriminant()).fit(X, y)
importance = permutation_importance(model, X, y)
print(importance)

# %%
exact = partial_dependence(model, X, "flux", error="zero")
as_read = partial_dependence(model, X, "flux")
fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for curve, name, style, color in (
    (exact, "if it were read exactly", "-", "#2166ac"),
    (as_read, "with the errors it has", "--", "#d6604d"),
):
    ax.plot(curve.grid[0], curve.average[-1], style, color=color, linewidth=2, label=name)
ax.set(xlabel="flux", ylabel="mean answer of the model")
ax.legend()
plt.show()
