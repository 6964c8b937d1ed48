"""Rows of a fit, wherever they are.

A `RowStore` holds the Gaussians of a table with what is known of each row (target, weight, group, the
target's error bar). It can fit a step of a pipeline to them, replace them by what a fitted step makes of
them, draw a sample, and answer the requests of a pass with sums. There is one file for each kind:

- `in_memory`: an array in this process;
- `in_parts`: the same, read and moved part by part, for large tables;
- `in_file`: temporary files that are mapped into memory, for ``memory=``;
- `on_dask`: groups of rows on the workers of a cluster.

The first three are `local` rows, which an estimator reads in place. The last one is `remote`: an estimator is
given a sample, and asks for sums over all rows. A store of another engine is one more file beside it.
"""
