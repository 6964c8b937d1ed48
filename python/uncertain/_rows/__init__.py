"""Rows of a fit: `rows.py` holds them in parts, and readers make these of tables.

- `rows.py`: `Rows`, whose parts are arrays in memory, arrays mapped from files (`mapped.py`) or futures;
- `source.py`, `table_reader.py`, `batches.py`: a table of this process, at once or part by part;
- `on_dask.py`, `partition.py`, `cluster.py`: a Dask DataFrame, what its workers do, and their client;
- `target.py`: the target and columns about it;
- `training.py`: rows in memory with what is known of each, as estimators take them.
"""
