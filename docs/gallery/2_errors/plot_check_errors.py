"""
Are the error bars right?
=========================

Error bars are estimates, too. ``check_errors`` estimates by which factor errors are larger or smaller than their
error bars, with intervals. It needs only the table: readings scatter around a smooth distribution of true values by
as much as their errors.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain

rng = np.random.default_rng(0)
n = 2000
truth = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 3))
errors = rng.uniform(0.1, 1.0, (n, 3))
factor = np.array([1.0, 2.0, 0.5])  # unknown in practice
read = truth + factor * errors * rng.normal(size=(n, 3))
stars = {f"{c}": read[:, j] for j, c in enumerate("ugr")} | {
    f"{c}_err": errors[:, j] for j, c in enumerate("ugr")
}
check = uncertain.check_errors(stars)
print(check)

# %%
# The 95 % intervals contain the true factors: g has error bars that are half as large as they should be, r twice.

found = check.factor
arms = np.abs(check.interval_95.T - found)
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.axhline(1, color="#9a9a9a", linewidth=1)
ax.plot(range(3), factor, "x", color="#d6604d", markersize=10, label="truth")
ax.errorbar(range(3), found, yerr=arms, fmt="o", color="#2166ac", capsize=4, label="check_errors, 95 %")
ax.set_xticks(range(3), ["u", "g", "r"])
ax.set(ylabel="errors, in units of their error bars", yscale="log")
ax.set_yticks([0.5, 1, 2], ["0.5", "1", "2"])
ax.minorticks_off()
ax.legend()
plt.show()
