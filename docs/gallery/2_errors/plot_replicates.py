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
        "ph": 6.0 + 0.4 * np.repeat(truth[:, 0], 4) + 0.4 * np.repeat(noise[:, 0], 4) * rng.normal(size=320),
        "salt": 9.0 + np.repeat(truth[:, 1], 4) + np.repeat(noise[:, 1], 4) * rng.normal(size=320),
        "spoiled": np.repeat(truth.sum(axis=1) > 0, 4),
    }
)
samples = from_replicates(runs, by="sample", of="mean")
samples.head(3)

# %%
# `fit` recognises the new columns by name. Ellipses are one standard error of the mean; errors of the samples differ by
# a factor of ten.

model = uncertain.fit(samples, target="spoiled", exact=[], method="gsu")
fig, ax = plt.subplots(figsize=(6.5, 5), layout="constrained")
rows = uncertain.AsGaussians(features=["ph", "salt"], std="{}_se", corr="{}_{}_corr").fit_transform(samples)
spoiled = np.where(samples["spoiled"].to_numpy(), "spoiled", "good")
GaussianDisplay.from_data(rows, spoiled).plot(ax=ax, names=("pH", "salt (g/l)"))
plt.show()

for name, unit in (("ph", ""), ("salt", " g/l")):
    se = samples[f"{name}_se"]
    print(f"standard errors of {name}: {se.min():.2f} to {se.max():.2f}{unit}")
