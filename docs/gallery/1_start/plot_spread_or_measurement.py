"""
Spread or measurement error?
============================

"mean ± sigma" can mean two things. A row may *be* a population, all of which belongs to its class (the frames of a
video, the cells of a sample). Or it is *one noisy reading* of a true value: then the noise is in the mean already,
and adding it a second time does harm. Here one set of numbers is treated both ways.
"""

import matplotlib.pyplot as plt
import numpy as np

import uncertain
from uncertain import GaussianArray


def readings(n, rng):
    """One noisy reading of each true value; some values are measured much worse than others."""
    label = rng.integers(0, 2, n)
    std = np.exp(rng.normal(0, 1, (n, 3)))
    read = 1.5 * label[:, None] + rng.normal(size=(n, 3)) + std * rng.normal(size=(n, 3))
    return GaussianArray(read, std=std), label


def populations(n, rng):
    """Known means and spreads of populations, larger spreads in one class; and a point of each."""
    label = rng.integers(0, 2, n)
    centre = np.c_[np.where(label, 0.9, -0.9), np.zeros(n)] + 0.5 * rng.normal(size=(n, 2))
    width = np.where(label, 0.9, 0.25) * np.exp(0.5 * rng.normal(size=n))
    std = np.c_[width, 0.5 * width]
    return GaussianArray(centre, std=std), label, GaussianArray(centre + std * rng.normal(size=(n, 2)))


# %%
# The target differs, too: for a reading the class of its true value; for a population the class of *one of its
# points*, such as the next frame.

scores = {}
for seed in range(10):
    rng = np.random.default_rng(seed)
    train, new = readings(300, rng), readings(3000, rng)
    several, others = populations(200, rng), populations(3000, rng)
    for meaning in ("spread", "measurement"):
        model = uncertain.fit(*train, meaning=meaning, method="gsu", probability=False)
        scores.setdefault(("readings", meaning), []).append(100 * np.mean(model.predict(new[0]) == new[1]))
        model = uncertain.fit(*several[:2], meaning=meaning, method="gsu", probability=False)
        predicted = model.pipeline_.predict(others[2])
        scores.setdefault(("populations", meaning), []).append(100 * np.mean(predicted == others[1]))

# %%
# The right meaning is better in each case: by 6.6 points for readings, by 1.3 for populations (means of ten draws, bars are
# their standard errors).

fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
for k, (meaning, color) in enumerate((("spread", "#d6604d"), ("measurement", "#2166ac"))):
    found = [scores[world, meaning] for world in ("readings", "populations")]
    errors = [np.std(values) / np.sqrt(len(values)) for values in found]
    bars = ax.bar(
        np.arange(2) + 0.38 * k,
        np.mean(found, axis=1),
        0.36,
        yerr=errors,
        color=color,
        capsize=4,
        label=f'meaning="{meaning}"',
    )
    ax.bar_label(bars, fmt="%.1f", padding=2)
ax.set_xticks(np.arange(2) + 0.19, ["noisy readings of true values", "populations"])
ax.set(ylabel="classified correctly (%), from chance upwards", ylim=(50, 100))
ax.legend(loc="upper left")
plt.show()

# %%
# The default call tries both. A single ``method=`` takes scalar error columns as measurement error, and list columns or a
# ``GaussianArray`` as spread, unless ``meaning=`` says otherwise; ``model.report(table)`` compares both.
