"""`uncertain.dask.fit`: a Dask DataFrame is fitted where it lies.

Needs the extra ``dask`` (``pip install "uncertain-learn[dask]"``). The model that comes back is an ordinary
one, with nothing of Dask in it; ``model.predict(table)`` of a Dask DataFrame is lazy.
"""

from __future__ import annotations

from ._model.cluster.fit import fit

__all__ = ["fit"]
