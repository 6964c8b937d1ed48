"""Fits to rows on a cluster of Dask.

`fit` is the way from a table to a model; `rows` goes from partitions to groups of Gaussians on the workers,
`piece` is such a group, `work` is what workers do, and `passes` calls them, with limits on time and attempts.
"""
