"""
Two peaks
=========

Photometric redshifts often have two peaks: a row is a ``MixtureArray`` of two Gaussians. As a measurement, the other
rows help to tell which peak is the true one; a Gaussian with the same mean and variance lies between the two.
"""

import matplotlib.pyplot as plt
import numpy as np

from uncertain import GaussianDiscriminant, MixtureArray

# Redshifts of two kinds of objects; a third of the readings has a second peak somewhere else.
rng = np.random.default_rng(0)
n = 2000
kind = rng.integers(0, 2, n)
z = np.where(kind == 1, rng.normal(2.2, 0.25, n), rng.normal(0.6, 0.25, n))
std = rng.uniform(0.05, 0.3, n)
reading = z + std * rng.normal(size=n)
other = rng.uniform(0, 4, n)
shares = np.where(rng.random(n) < 0.5, rng.uniform(0.4, 0.9, n), 1.0)
# The share of the true peak is what the catalogue says: right in that share of the cases.
swapped = rng.random(n) > shares
first, second = np.where(swapped, other, reading), np.where(swapped, reading, other)
X = MixtureArray(np.c_[shares, 1 - shares], np.c_[first, second][:, :, None], std=np.c_[std, std][:, :, None])
print(X)

train, test = np.arange(n) < 1000, np.arange(n) >= 1000
loss = {}
for name, rows in (("moments", X.collapse("gaussian")), ("two peaks", X)):
    model = GaussianDiscriminant(shared_covariance=False).fit(rows[train], kind[train])
    p = model.predict_proba(rows[test])[np.arange(test.sum()), kind[test]]
    loss[name] = -np.log(p).mean()
# The densities that made the data.
truth = GaussianDiscriminant(shared_covariance=False).fit(z[train][:, None], kind[train])
p = truth.predict_proba(X[test])[np.arange(test.sum()), kind[test]]
loss["two peaks, true densities"] = -np.log(p).mean()
for name, value in loss.items():
    print(f"log loss with {name}: {value:.3f}")

# %%
# Four rows as their catalogue gives them, and their true redshifts: mostly, but not always, below the higher peak.

fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
grid = np.linspace(0, 4.5, 400)
for at, row in enumerate(np.flatnonzero(shares < 0.9)[:4]):
    redshift = X[row]
    s = np.sqrt(redshift.components.covariances().ravel())
    density = (
        redshift.weights / s * np.exp(-(((grid[:, None] - redshift.components.means.ravel()) / s) ** 2) / 2)
    ).sum(axis=1)
    ax.fill_between(
        grid,
        at,
        at + 0.8 * density / density.max(),
        color="#2166ac",
        alpha=0.4,
        label="" if at else "reading",
    )
    ax.plot([z[row]] * 2, [at, at + 0.8], color="#b2182b", linewidth=2, label="" if at else "truth")
ax.set(xlabel="redshift z", ylabel="density, row by row", yticks=[])
fig.legend(loc="outside right upper")
plt.show()
