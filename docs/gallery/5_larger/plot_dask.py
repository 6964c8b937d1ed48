"""
On a Dask cluster
=================

A table on the machines of a cluster is fitted there: parameters are sent to the workers, and a few hundred sums come
back. The model has the same certificate as a fit on one machine, and it does not depend on the number of workers. Here
the cluster consists of two threads of this process.
"""

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from dask.distributed import Client

import uncertain

rng = np.random.default_rng(0)
n = 6_000
true = rng.normal(size=(n, 2))
error = rng.uniform(0.1, 1.0, (n, 2))
read = true + error * rng.normal(size=(n, 2))
stars = pd.DataFrame({"u": read[:, 0], "u_err": error[:, 0], "g": read[:, 1], "g_err": error[:, 1]})
stars["kind"] = np.where(true @ [1.0, 0.7] + 0.3 * rng.normal(size=n) > 0, "giant", "dwarf")
table = dd.from_pandas(stars, npartitions=6)

client = Client(n_workers=2, processes=False, dashboard_address=None)
there = uncertain.fit(table, target="kind", method="gsu")
predicted = there.predict_proba(table)  # lazy
print(there)
print(type(predicted), "certified within", there.pipeline_[-1].optimality_gap_)

# %%
# The same fit on one machine.

here = uncertain.fit(stars, target="kind", method="gsu")
there_giant = predicted["giant"].compute().to_numpy()
here_giant = here.predict_proba(stars)["giant"].to_numpy()
client.close()
directions = [coef / np.linalg.norm(coef) for coef in (there.coef_, here.coef_)]
print(f"largest difference of a score's direction: {np.abs(directions[0] - directions[1]).max():.1e}")

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ax.plot([0, 1], [0, 1], color="#9a9a9a", linewidth=1)
ax.plot(here_giant[::10], there_giant[::10], ".", color="#2166ac")
ax.set(xlabel="probability of a giant, fitted on one machine", ylabel="fitted on the cluster", aspect="equal")
plt.show()
