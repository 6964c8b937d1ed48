"""Fits on a Dask cluster of this machine: overhead of a pass, two workers against one, others' estimators.

`.venv/bin/python benches/python/on_dask.py` prints our tables. With ``--others`` also the logistic
regressions of dask-ml or dask-glm and xgboost.dask, where they are installed, and what each does when a
worker is killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd


def table(n: int, d: int, parts: int) -> Any:
    """A lazy table whose partitions are drawn on the workers: two classes, every number with an error."""
    import dask.dataframe as dd

    columns = {f"x{j}": float for j in range(d)} | {f"x{j}_err": float for j in range(d)} | {"label": int}
    meta = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in columns.items()})
    sizes = [n * (k + 1) // parts - n * k // parts for k in range(parts)]
    return dd.from_map(partial_table, list(range(parts)), sizes, d=d, meta=meta)


def partial_table(seed: int, n: int, d: int) -> pd.DataFrame:
    """One partition."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(n, d))
    errors = rng.uniform(0.05, 0.7, size=(n, d))
    read = true + errors * rng.normal(size=(n, d))
    score = true @ np.linspace(1.0, -1.0, d) + rng.normal(size=n)
    frame = pd.DataFrame(
        np.hstack([read, errors]), columns=[f"x{j}{e}" for e in ("", "_err") for j in range(d)]
    )
    return frame.assign(label=(score > 0.0).astype(int))


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """A client of processes with one thread each, on loopback addresses."""
    from dask.distributed import Client, LocalCluster

    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", **quiet) as cluster,
        Client(cluster) as client,
    ):
        yield client


def overhead(groups: int, repeats: int) -> tuple[float, float]:
    """Median seconds of a pass over `groups` groups of 100 rows, and of its slowest task."""
    from uncertain._rows.cluster.passes import Cluster, Passes

    with cluster_of(2) as client:
        cluster = Cluster(client, timeout=60.0, retries=0)
        cluster.check()
        passes = Passes(cluster, cluster.map(small_piece, list(range(groups))), n_jobs=1, verbose=False)
        requests = moments()
        passes(requests)
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            passes(requests)
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds), sorted(seconds)[len(seconds) // 10]


def moments() -> bytes:
    """The first request of a scaler: counts and first moments."""
    from uncertain import GaussianScaler
    from uncertain._uncertain import partial_sums

    kept: list[bytes] = []
    piece = small_piece(0)

    def answer(requests: bytes) -> list[Any]:
        kept.append(requests)
        return [partial_sums(piece.part, requests, 1)]

    scaler = GaussianScaler()
    scaler._remote = (answer, True)
    scaler.fit(piece.rows)
    return kept[0]


def small_piece(seed: int) -> Any:
    """A group of 100 rows of 20 features."""
    from uncertain import GaussianArray
    from uncertain._rows.cluster.piece import Piece

    rng = np.random.default_rng(seed)
    return Piece.from_rows(GaussianArray(rng.normal(size=(100, 20)), std=rng.uniform(0.1, 1.0, (100, 20))))


def whole_fit(client: Any, data: Any, **params: Any) -> tuple[float, Any, Any, bytes]:
    """Seconds of a fit, its model, its passes (which go on to answer), and the last requests."""
    from uncertain._rows.on_dask import OnDask
    from uncertain.dask import fit

    kept: list[tuple[Any, bytes]] = []
    answer = OnDask.sums

    def keeping(place: Any, parts: Any, requests: bytes) -> Any:
        kept[:] = [(place._passes, requests)]
        return answer(place, parts, requests)

    OnDask.sums = keeping
    try:
        start = time.perf_counter()
        model = fit(client, data, "label", method="gsu", meaning="spread", n_jobs=1, **params)
        return time.perf_counter() - start, model, *kept[-1]
    finally:
        OnDask.sums = answer


def kill_after(client: Any, delay: float) -> threading.Timer:
    """End one worker's process in so many seconds."""
    pids = client.run(os.getpid)
    timer = threading.Timer(delay, os.kill, [pids[min(pids)], signal.SIGKILL])
    timer.start()
    return timer


def with_and_without_a_kill(client: Any, fit: Callable[[], Any]) -> tuple[float, str]:
    """Seconds of a second fit (workers have imported everything), and what becomes of one whose worker
    dies halfway."""
    fit()
    start = time.perf_counter()
    fit()
    seconds = time.perf_counter() - start
    timer = kill_after(client, seconds / 2)
    start = time.perf_counter()
    try:
        fit()
        told = f"goes on, {time.perf_counter() - start:.1f} s"
    except Exception as error:  # whatever they raise is what is shown
        told = f"{type(error).__name__} after {time.perf_counter() - start:.1f} s: {str(error)[:100]}"
    timer.cancel()
    return seconds, told


def others(client: Any, data: Any, d: int) -> None:
    """Logistic regression of dask-ml or dask-glm, and xgboost, on the values without their errors."""
    values = [f"x{j}" for j in range(d)]
    X = data[values].to_dask_array(lengths=True).persist()
    y = data["label"].to_dask_array(lengths=True).persist()
    try:
        from dask_ml.linear_model import LogisticRegression

        one = lambda: LogisticRegression(solver="lbfgs", C=1e-3 * len(y)).fit(X, y)  # noqa: E731
        report("dask-ml LogisticRegression(lbfgs)", *with_and_without_a_kill(client, one))
    except ImportError as error:
        print(f"dask-ml: {error}")
    try:
        from xgboost import dask as boosted

        one = lambda: boosted.train(  # noqa: E731
            client,
            {"objective": "binary:logistic", "tree_method": "hist"},
            boosted.DaskDMatrix(client, X, y),
            50,
        )
        report("xgboost.dask, 50 rounds", *with_and_without_a_kill(client, one))
    except ImportError as error:
        print(f"xgboost: {error}")


def report(name: str, seconds: float, told: str) -> None:
    """A row of the table."""
    print(f"| {name} | {seconds:.1f} | {told} |", flush=True)


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--skip-ours", action="store_true")
    args = parser.parse_args()
    if not args.skip_ours:
        print("| groups | ms per pass, median | ms, a tenth is faster |\n|---:|---:|---:|")
        for groups in (1, 2, 4, 8, 64):
            median, fast = overhead(groups, 60)
            print(f"| {groups} | {1e3 * median:.1f} | {1e3 * fast:.1f} |", flush=True)
        print("\n| workers | fit, s | passes | s per pass | gap |\n|---:|---:|---:|---:|---:|")
        for workers in (1, 2):
            with cluster_of(workers) as client:
                data = table(args.rows, args.features, args.parts).persist()
                seconds, model, passes, requests = whole_fit(client, data, probability=False)
                gap = np.max(model.pipeline_[-1].optimality_gap_)
                times = []
                for _ in range(20):
                    start = time.perf_counter()
                    passes(requests)
                    times.append(time.perf_counter() - start)
                count, one = passes.count - 20, statistics.median(times)
                print(f"| {workers} | {seconds:.1f} | {count} | {one:.3f} | {gap:.1e} |", flush=True)
    print("\n| estimator | s | when a worker is killed |\n|---|---:|---|")
    with cluster_of(2) as client:
        data = table(args.rows, args.features, args.parts)
        ours = lambda: whole_fit(client, data, probability=False)  # noqa: E731
        if not args.skip_ours:
            report("GSUClassifier", *with_and_without_a_kill(client, ours))
        if args.others:
            others(client, data, args.features)


if __name__ == "__main__":
    main()
