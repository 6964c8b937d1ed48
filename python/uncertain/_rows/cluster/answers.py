"""What the parts of a Dask DataFrame answer, on a cluster within a time, else in this process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dask

PATIENCE = 600.0
"""Seconds that a cluster may take for all of them."""


def answers(asked: Iterable[Any], what: str) -> list[Any]:
    """Of lazy objects, in order; ClusterError from a cluster that does not answer, named by `what`."""
    asked = list(asked)
    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return list(dask.compute(*asked))  # by threads, although there is a cluster
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        return list(dask.compute(*asked))
    from .passes import Cluster

    cluster = Cluster(client, timeout=PATIENCE, retries=0)
    return cluster.results(cluster.compute(asked), what, object)
