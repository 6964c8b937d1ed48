"""`uncertain.dask.fit`: a Dask DataFrame is fitted where it lies.

Needs the extra ``dask`` (``pip install "uncertain-learn[dask]"``). The model that comes back is an ordinary
one, with nothing of Dask in it; ``model.predict(table)`` of a Dask DataFrame is lazy.
"""

from __future__ import annotations

from typing import Any, Literal, Unpack

from ._data.choices import Meaning, OnMissing, Task
from ._data.typing import RandomState
from ._model.fit import FitOptions, asked_for, fit_rows
from ._model.model import Model
from ._model.opened import open_dask_rows
from ._rows.on_dask import GROUP_BYTES
from ._tables.columns import ColumnsLike

__all__ = ["fit"]


def fit(
    client: Any,
    table: Any,
    target: str = "label",
    *,
    columns: ColumnsLike | None = None,
    groups: str | None = None,
    sample_weight: str | None = None,
    task: Task = "auto",
    method: str = "auto",
    meaning: Meaning = "auto",
    on_missing: OnMissing = "auto",
    effort: Literal["fast", "normal"] = "normal",
    random_state: RandomState = 0,
    timeout: float = 600.0,
    retries: int = 3,
    group_bytes: int = GROUP_BYTES,
    **options: Unpack[FitOptions],
) -> Model:
    """Fit a model to a Dask DataFrame, on its cluster.

    Parameters
    ----------
    client : dask.distributed.Client, or None for the current one.
    table : Dask DataFrame; partitions may be empty.
    target, columns, groups, sample_weight, task, meaning, on_missing, random_state, **options : as in
        `uncertain.fit`; rows' values are columns of the table. `n_jobs` is the number of threads of every
        task; ``verbose=1`` also prints every pass with its seconds, the bytes so far and the slowest worker.
    method : "gsu"; for classes "usvc", "minimax" and "discriminant"; for numbers "mixture". "auto" chooses
        among "gsu" and "discriminant", on the sample (of which `uncertain.fit` looks at 20,000 rows), and
        says so if boosted trees would be better there.
    effort : of ``method="auto"``: "fast" follows a rule, "normal" chooses.
    timeout : seconds that a pass over the rows, or the reading of the table, may take.
    retries : how often the reading of a partition that failed is tried again. Work whose worker dies is tried
        again elsewhere, as often as the cluster allows.
    group_bytes : neighbouring partitions are joined to groups of at most so many bytes (but at most 64
        groups), each of which is one task of a pass.

    Returns
    -------
    Model
        As from `uncertain.fit`, with the same certificate; no Dask in it or in its file.

    Raises
    ------
    UncertainError
        As `uncertain.fit`, naming the partition; for methods that are not made of sums over the rows; for
        rows without error bars (or a kinked loss) that passes alone do not bring to `tol`.
    ClusterError
        For workers of other versions, no answer in time, rows that changed when a lost worker's were read
        again, and workers that die again and again.

    Notes
    -----
    The rows stay on the workers, as Gaussians. The client gathers a sample of at most 100,000 rows, drawn by
    a hash of (`random_state`, partition, row), with 5 rows of every class at least. Passes start from its
    solution; a penalty that is "auto", the question whether two columns are limits or arms, and what held-out
    rows say of a model (`residual_std_`, spread, sets of predictions) come from the sample alone.
    Probabilities are calibrated in 5 folds of all rows: of each 5 rows of a class in a row, one goes to each
    fold, or whole `groups` by a hash of their names. Above 200,000 rows, one in so many is scored for them.

    Sums are added in the order of the groups. So the last digits of a model depend on the partitions and on
    `group_bytes`, and on nothing else: not on the number of workers or threads, nor on workers that were
    lost.

    Examples
    --------
    >>> import pandas, uncertain, uncertain.dask
    >>> import dask.dataframe as dd
    >>> from dask.distributed import Client
    >>> frame = pandas.DataFrame({"x": [1.0, 1.2, 3.1, 2.9] * 9, "x_err": [0.1, 0.3, 0.1, 0.4] * 9})
    >>> frame["kind"] = (frame.x > 2.0).map({True: "quasar", False: "star"})
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     model = uncertain.dask.fit(client, dd.from_pandas(frame, npartitions=3), "kind", method="gsu")
    >>> model.predict(frame.head(3)).to_list()
    ['star', 'star', 'quasar']
    """
    asked, values, plan = asked_for(
        columns,
        {"target": target, "groups": groups, "sample_weight": sample_weight},
        options,
        {
            "task": task, "method": method, "meaning": meaning, "on_missing": on_missing, "effort": effort,
            "random_state": random_state,
        },
    )  # fmt: skip
    reader, plan = open_dask_rows(
        client, table, asked, values, plan, timeout=timeout, retries=retries, group_bytes=group_bytes
    )
    return fit_rows(reader, plan)
