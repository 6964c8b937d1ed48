"""
A table larger than memory
==========================

With ``memory="2GB"`` the rows of files are written once to a memory-mapped file on disk, and the fit computes sums
over it in passes. It holds parameters and a block of rows, however many rows there are. The result is that of a fit
in memory. Here the files are small, and so is the budget.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import uncertain

folder = Path(tempfile.mkdtemp())
for night in range(8):
    rng = np.random.default_rng(night)
    n = 20_000
    quasar = rng.random(n) < 0.5
    errors = rng.uniform(0.1, 1.0, (n, 2))
    read = 1.5 * quasar[:, None] + rng.normal(size=(n, 2)) + errors * rng.normal(size=(n, 2))
    pl.DataFrame(
        {
            "u": read[:, 0], "u_err": errors[:, 0], "g": read[:, 1], "g_err": errors[:, 1],
            "kind": np.where(quasar, "quasar", "star"),
        }
    ).write_parquet(folder / f"night-{night}.parquet")  # fmt: skip

mapped = uncertain.fit(folder / "*.parquet", target="kind", method="gsu", memory="100MB")
print(mapped)

# %%
# A fit to all files in memory, and the probabilities of a night that neither has seen.

in_memory = uncertain.fit(folder / "*.parquet", target="kind", method="gsu")
rng = np.random.default_rng(100)
errors = rng.uniform(0.1, 1.0, (2000, 2))
new = {
    "u": rng.normal(0.7, 1.5, 2000),
    "u_err": errors[:, 0],
    "g": rng.normal(0.7, 1.5, 2000),
    "g_err": errors[:, 1],
}
one, other = (np.asarray(model.predict_proba(new)["quasar"]) for model in (in_memory, mapped))
print(f"largest difference of a probability: {np.abs(one - other).max():.4f}")

fig, ax = plt.subplots(figsize=(5, 4.6), layout="constrained")
ax.plot([0, 1], [0, 1], color="#9a9a9a", linewidth=1)
ax.plot(one, other, ".", markersize=3, color="#2166ac")
ax.set(
    xlabel="probability of a quasar, fitted in memory", ylabel="fitted from files in passes", aspect="equal"
)
plt.show()
