"""
A model that leaves Python
==========================

A saved model is numbers and JSON (safetensors): loading it runs no code, and the Rust crate reads the same file. This
page shows what is in it, and a Rust program that predicts with it.
"""

import json
import struct
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import uncertain

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 200)
std = rng.uniform(0.1, 1.0, (200, 2))
x = 2.0 * y[:, None] + rng.normal(size=(200, 2)) + std * rng.normal(size=(200, 2))
table = {
    "u": x[:, 0],
    "u_err": std[:, 0],
    "g": x[:, 1],
    "g_err": std[:, 1],
    "kind": np.where(y, "quasar", "star"),
}
model = uncertain.fit(table, target="kind", method="gsu")

path = Path(tempfile.mkdtemp()) / "model.safetensors"
model.save(path)
data = path.read_bytes()
(length,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8 : 8 + length])
print(f"{len(data):,} bytes, {len(header) - 1} arrays")
for name, entry in header.items():
    if name != "__metadata__":
        print(f"  {name:40} {entry['dtype']} {entry['shape']}")

# %%
# The same predictions come back, from Python and from Rust:
#
# .. code-block:: rust
#
#     use uncertain::file;
#     use uncertain::{Covariances, GaussianArray, Rows};
#
#     let model = file::read("model.safetensors")?;
#     let means = Rows::from_vec(vec![2.1, 1.7], 2)?;
#     let errors = Rows::from_vec(vec![0.3, 0.9], 2)?;
#     let rows = GaussianArray::new(means, Covariances::from_std(errors))?;
#     println!("{:?}", model.predict(&rows)?);

again = uncertain.load(path)
proba = np.asarray(model.predict_proba(table)["quasar"])
assert np.array_equal(proba, np.asarray(again.predict_proba(table)["quasar"]))

fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
for kind, color, marker in (("star", "#2166ac", "o"), ("quasar", "#d6604d", "s")):
    own = np.asarray(table["kind"]) == kind
    ax.plot(x[own].mean(axis=1), proba[own], marker, color=color, markersize=4, alpha=0.7, label=kind)
ax.set(xlabel="mean of u and g (arbitrary units)", ylabel="probability of a quasar, from the file")
ax.legend()
plt.show()
