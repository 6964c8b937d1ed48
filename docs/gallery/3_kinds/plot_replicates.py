"""
Repeated readings become error bars
===================================

Four runs of each sample become their mean, its standard errors and their correlations, in one line, in the caller's
kind of table. With so few runs the spread of a single sample is itself uncertain, so it is shrunk towards that of all
samples.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain
from uncertain.plot import GaussianDisplay
from uncertain.uncertainty import from_replicates

rng = np.random.default_rng(0)
truth = rng.normal(size=(80, 2))
noise = np.exp(rng.normal(-0.5, 0.5, (80, 2)))
runs = pl.DataFrame(
    {
        "sample": np.repeat(np.arange(80), 4),
        "ph": np.repeat(truth[:, 0], 4) + np.repeat(noise[:, 0], 4) * rng.normal(size=320),
        "salt": np.repeat(truth[:, 1], 4) + np.repeat(noise[:, 1], 4) * rng.normal(size=320),
        "spoiled": np.repeat(truth.sum(axis=1) > 0, 4),
    }
)
samples = from_replicates(runs, by="sample", of="mean")
samples.head(3)

# %%
# The new columns are found by name.

model = uncertain.fit(samples, target="spoiled", exact=[], method="gsu")
fig, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
rows = uncertain.AsGaussians(features=["ph", "salt"], std="{}_se", corr="{}_{}_corr").fit_transform(samples)
spoiled = np.where(samples["spoiled"].to_numpy(), "spoiled", "good")
GaussianDisplay.from_data(rows, spoiled).plot(ax=ax, names=("ph", "salt"))
plt.show()

# %%
# Are these error bars right? ``check_errors`` asks the repeated readings themselves.

print(uncertain.check_errors(samples.select("ph", "ph_se", "salt", "salt_se")))
