"""
An odds ratio with errors in x
==============================

How much does a dose raise the risk? A logistic regression on doses with errors finds too little, because the
errors flatten the curve. ``GeneralizedLinearLaw`` fits the law between the risk and the *true* dose, with standard errors.
The patients are simulated, so that the truth is there to compare with.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianArray
from uncertain.laws import GeneralizedLinearLaw

rng = np.random.default_rng(0)
n, slope = 1500, 1.5
dose = rng.normal(size=n)  # in standard deviations of the doses
std = rng.uniform(0.2, 1.0, n)  # the error of each
ill = rng.random(n) < 1 / (1 + np.exp(-slope * dose))
X = GaussianArray((dose + std * rng.normal(size=n))[:, None], std=std)

law = GeneralizedLinearLaw(family="binomial").fit(X, ill)
low, high = np.exp(law.conf_int()[0])
print(
    f"odds ratio per unit of dose: {np.exp(law.coef_[0]):.2f} ({low:.2f} to {high:.2f}), "
    f"truth {np.exp(slope):.2f}"
)
print(f"without the error bars: {np.exp(law.naive_coef_[0]):.2f}")

# %%
# Points are the share of patients who fell ill, by tenths of their *true* dose. The curve of the ordinary regression is too
# flat for them; that of the law goes through.

grid = np.linspace(-3, 3, 200)


def risk(coef, intercept):
    return 1 / (1 + np.exp(-(coef * grid + intercept)))


fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
tenths = np.array_split(np.argsort(dose), 10)
share = np.array([ill[rows].mean() for rows in tenths])
se = np.sqrt(share * (1 - share) / len(tenths[0]))
ax.errorbar(
    [dose[rows].mean() for rows in tenths],
    share,
    yerr=se,
    fmt="o",
    color="#5b5b5b",
    capsize=3,
    label="patients",
)
ax.plot(
    grid, risk(law.coef_[0], law.intercept_), color="#2166ac", linewidth=2.5, label="GeneralizedLinearLaw"
)
ax.plot(
    grid,
    risk(law.naive_coef_[0], law.intercept_),
    ":",
    color="#d6604d",
    linewidth=2.5,
    label="logistic regression",
)
ax.set(xlabel="true dose (standard deviations)", ylabel="share who fall ill", ylim=(0, 1))
ax.legend(loc="upper left")
plt.show()
