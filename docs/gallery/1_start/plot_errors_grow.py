"""
When new rows are measured worse
================================

A model is trained on measurements. Later the measurements get worse: a cheaper instrument, a bad night, objects
farther away. Models that ignore error bars lose accuracy, and so do models that treat error sizes as properties of
the objects. Models that treat them as error bars weigh each value by how well it was measured.

The data are the 569 biopsies that come with scikit-learn, thirty features each. The noise is simulated, so that its
size is certain: every value is read with an error whose standard deviation is drawn for that value alone (log-normal,
median 0.3 of the feature's spread).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import uncertain

data = load_breast_cancer()
truth = data.data / data.data.std(axis=0)
names = np.where(data.target == 0, "malignant", "benign")

# %%
# A table with error columns: ``x0`` and ``x0_err``, ``x1`` and ``x1_err``, ...


def table(values, std):
    columns = {f"x{j}": values[:, j] for j in range(30)}
    return columns | {f"x{j}_err": std[:, j] for j in range(30)}


# %%
# Gradient boosting without and with the errors as further columns, and two models of this package. Later a random half
# of the values of each row is measured ``k`` times worse, and the error bars say so. (The two models warn about this;
# here the warning is switched off.)

warnings.simplefilter("ignore", uncertain.exceptions.ErrorSizesWarning)
factors = [1, 2, 4, 8, 16]


def one_split(seed):
    """The share of right answers of each model for each factor."""
    rng = np.random.default_rng(seed)
    train, test = train_test_split(np.arange(len(truth)), test_size=0.4, stratify=names, random_state=seed)
    errors = 0.3 * rng.lognormal(0.0, 0.8, truth.shape)
    read = truth[train] + errors[train] * rng.standard_normal(errors[train].shape)
    wide = np.hstack([read, np.log(errors[train])])
    today = table(read, errors[train]) | {"kind": names[train]}

    boosting = HistGradientBoostingClassifier(random_state=0).fit(read, names[train])
    with_errors = HistGradientBoostingClassifier(random_state=0).fit(wide, names[train])
    remeasured = uncertain.fit(today, target="kind", method="remeasured", n_trees=150)
    gsu = uncertain.fit(today, target="kind", method="gsu")

    worse, right = rng.random(errors[test].shape) < 0.5, []
    for k in factors:
        std = np.where(worse, k, 1) * errors[test]
        x = truth[test] + std * rng.standard_normal(std.shape)
        answers = [
            boosting.predict(x),
            with_errors.predict(np.hstack([x, np.log(std)])),
            remeasured.predict(table(x, std)),
            gsu.predict(table(x, std)),
        ]
        right.append([100 * np.mean(answer == names[test]) for answer in answers])
    return right


right = np.array([one_split(seed) for seed in range(4)])

# %%
# Means of four splits; the bars are standard errors between them. All begin between 94 and 96 %, and only the models
# that use error bars as error bars stay there.

styles = {
    "boosting": ("s--", "#b8860b"),
    "boosting, errors as columns": ("D-.", "#d6604d"),
    "boosting, re-measured": ("o-", "#2166ac"),
    "SVM-GSU, noise removed": ("^-", "#4d9221"),
}
for name, values in zip(styles, right.mean(axis=0).T):
    print(f"{name:28}", *(f"{value:6.1f}" for value in values))

fig, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
for j, (name, (style, color)) in enumerate(styles.items()):
    curve = right[:, :, j]
    ax.errorbar(
        factors, curve.mean(axis=0), yerr=curve.std(axis=0) / 2, fmt=style, color=color, capsize=3, label=name
    )
ax.set_xscale("log", base=2)
ax.set_xticks(factors, [str(k) for k in factors])
ax.set_xlabel("errors of half of the new values / errors in training")
ax.set_ylabel("held-out biopsies classified correctly (%)")
ax.legend(loc="lower left")
plt.show()

# %%
# ``make demo`` repeats it with more splits. It also shows the opposite: the *published* error bars of these biopsies
# are small and similar, and change almost nothing. To find out which case is yours, see
# :ref:`sphx_glr_gallery_pages_1_start_plot_report.py`.
