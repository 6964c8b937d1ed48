"""`uncertain.dask.fit` on a cluster of processes on this machine: the optimum of one memory, with the same
bits
whatever happens to the workers."""

import asyncio
import gc
import itertools
import logging
import multiprocessing
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uncertain
from uncertain.exceptions import ClusterError, ParameterError, UncertainError, UncertainWarning

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

import dask  # noqa: E402

from uncertain._rows import cluster as asking  # noqa: E402
from uncertain._rows import partition as working  # noqa: E402
from uncertain._rows.on_dask import OnDask, Settings  # noqa: E402

pytestmark = pytest.mark.timeout(240)

N = 6_000
PATIENCE = 120.0
"""Seconds to wait for what happens at once on a machine that has nothing else to do."""
SMALL = 1 << 17
"""Bytes of a group: several groups of a small table."""


def table(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Three classes of true values, read with errors; a number, weights, objects and a category."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    true = rng.normal(size=(n, 3)) + 1.3 * np.eye(3)[kind]
    errors = rng.uniform(0.05, 0.8, size=(n, 3))
    frame = pd.DataFrame(true + errors * rng.normal(size=(n, 3)), columns=["u", "v", "w"])
    for j, name in enumerate("uvw"):
        frame[f"{name}_err"] = errors[:, j]
    frame["kind"] = np.array(["dwarf", "giant", "nova"])[kind]
    frame["two"] = np.where(kind == 0, "dwarf", "other")
    frame["y"] = true @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=n)
    frame["y_err"] = rng.uniform(0.0, 0.2, n)
    frame["heavy"] = rng.choice([0.0, 1.0, 2.5], n)
    frame["star"] = [f"star {k}" for k in rng.integers(0, n // 4, n)]
    frame["band"] = rng.choice(["b", "g", "r"], n)
    return frame


COLUMNS: dict[str, Any] = {"features": ["u", "v", "w"], "std": "{}_err", "method": "gsu"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    quiet = {
        "distributed.admin.tick.limit": "1h",  # a busy machine is no fault
        "distributed.admin.tick.interval": "1s",
        "distributed.worker.profile.enabled": False,
        "distributed.comm.timeouts.connect": "20s",
        "distributed.scheduler.allowed-failures": 3,
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.nanny.environ": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    }
    # Dask's tasks that were given up are logged with their tracebacks when they are collected as garbage, and
    # Python 3.11 cannot format a traceback in the middle of parsing a module ("AST constructor recursion").
    log = logging.getLogger("asyncio")
    log.disabled = True
    with dask.config.set(quiet):
        imported = ["distributed", "dask.dataframe", "uncertain.dask", "uncertain._rows.partition"]
        distributed.utils.get_mp_context().set_forkserver_preload(imported)
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50, death_timeout=PATIENCE,
        )  # fmt: skip
        yield cluster
        with suppress(KeyError, AssertionError, TimeoutError):  # over a worker that was killed just now
            cluster.close(timeout=30.0)
        cluster.status = distributed.Status.closed  # a second close() would wait for the first, for ever
        for process in multiprocessing.active_children():
            process.kill()
    gc.collect()
    log.disabled = False


@pytest.fixture(scope="module")
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return table()


def fitted(client: Any, frame: pd.DataFrame, target: str = "two", **arguments: Any) -> uncertain.Model:
    from uncertain.dask import fit

    cut = dd.from_pandas(frame, npartitions=4, sort=False)
    return fit(client, cut, target, **{**COLUMNS, "group_bytes": SMALL, "timeout": PATIENCE, **arguments})


@pytest.fixture(scope="module")
def usual(client: Any, frame: pd.DataFrame) -> uncertain.Model:
    """A fit with probabilities on two workers of one thread."""
    return fitted(client, frame, meaning="spread")


def kill_one(client: Any) -> None:
    """End a worker's process; its nanny starts another."""
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[0]], signal.SIGKILL)


def coefficients(model: uncertain.Model) -> list[np.ndarray]:
    last = model.pipeline_[-1]
    return [last.coef_, np.atleast_1d(last.intercept_), model.pipeline_[1].mean_, model.pipeline_[1].scale_]


def same(a: uncertain.Model, b: uncertain.Model) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(coefficients(a), coefficients(b), strict=True))


def test_the_optimum_is_that_of_one_memory(client: Any, frame: pd.DataFrame) -> None:
    for target in ("two", "kind"):
        options = {"meaning": "spread", "probability": False, "tol": 1e-9}
        model = fitted(client, frame, target, **options)
        here = uncertain.fit(frame, target, **COLUMNS, **options)
        last, other = model.pipeline_[-1], here.pipeline_[-1]
        assert np.all(last.optimality_gap_ <= 1e-9) and np.all(last.status_ == "converged")
        np.testing.assert_allclose(last.objective_, other.objective_, rtol=2e-9)
        np.testing.assert_allclose(last.coef_, other.coef_, atol=1e-4)
        np.testing.assert_allclose(model.pipeline_[1].scale_, here.pipeline_[1].scale_, rtol=1e-13)
        assert model.classes_.tolist() == here.classes_.tolist()
        assert model.columns_ == here.columns_
        assert model.predict(frame).tolist() == here.predict(frame).tolist()


def test_numbers_with_errors_and_weights(client: Any, frame: pd.DataFrame) -> None:
    options = {"meaning": "spread", "tol": 1e-9, "target_std": "y_err", "sample_weight": "heavy"}
    model = fitted(client, frame, "y", **options)
    here = uncertain.fit(frame, "y", **COLUMNS, **options)
    np.testing.assert_allclose(model.pipeline_[-1].coef_, here.pipeline_[-1].coef_, atol=1e-4)
    np.testing.assert_allclose(model.pipeline_[-1].objective_, here.pipeline_[-1].objective_, rtol=1e-8)
    assert model.residual_std_ == pytest.approx(here.residual_std_, rel=0.05)


def test_measurements_are_denoised_by_passes(client: Any, frame: pd.DataFrame) -> None:
    options = {"meaning": "measurement", "probability": False}
    model = fitted(client, frame, **options)
    here = uncertain.fit(frame, "two", **COLUMNS, **options)
    names = [name for name, _ in model.pipeline_.steps]
    assert names == [name for name, _ in here.pipeline_.steps] and "denoise" in names
    a, b = model.pipeline_["denoise"], here.pipeline_["denoise"]
    np.testing.assert_allclose(a.covariances_, b.covariances_, atol=2e-3)
    assert a.log_likelihoods_[-1] == pytest.approx(b.log_likelihoods_[-1], abs=2e-6)
    assert np.mean(model.predict(frame) == here.predict(frame)) > 0.999


def test_the_same_bits_for_any_number_of_workers_and_threads(
    cluster: Any, client: Any, frame: pd.DataFrame, usual: uncertain.Model
) -> None:
    for workers, threads in ((1, 1), (3, 2)):
        cluster.scale(workers)
        client.wait_for_workers(workers, timeout=PATIENCE)
        model = fitted(client, frame, meaning="spread", n_jobs=threads)
        assert same(model, usual)
        assert np.array_equal(model.predict_proba(frame), usual.predict_proba(frame))
    cluster.scale(2)
    shuffled = fitted(client, frame.sample(frac=1.0, random_state=1), meaning="spread", probability=False)
    assert not same(shuffled, usual)  # the rows' order is what the last digits depend on
    np.testing.assert_allclose(coefficients(shuffled)[0], coefficients(usual)[0], atol=1e-3)


def test_a_lost_worker_changes_no_bit(
    client: Any, frame: pd.DataFrame, usual: uncertain.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[str] = []
    ask, send = OnDask.sums, asking.Cluster.map

    def at(when: str) -> Callable[..., Any]:
        def sent(self: Any, work: Any, *lists: Any, **same: Any) -> Any:
            futures = send(self, work, *lists, **same)
            if work.__name__ == when and not killed:
                killed.append(when)
                kill_one(client)
            return futures

        return sent

    def scoring(self: Any, parts: Any, requests: bytes) -> Any:
        if requests[2] == 4 and not killed:  # scores of held-out rows
            killed.append("scores")
            timer = threading.Timer(0.005, kill_one, [client])
            timer.start()
            try:
                return ask(self, parts, requests)
            finally:
                timer.join()
        return ask(self, parts, requests)

    for moment in ("read", "sums", "scores"):
        killed.clear()
        with monkeypatch.context() as patch:
            if moment == "scores":
                patch.setattr(OnDask, "sums", scoring)
            else:
                patch.setattr(asking.Cluster, "map", at(moment))
            model = fitted(client, frame, meaning="spread")
        assert killed == [moment]
        assert same(model, usual), moment
        assert np.array_equal(model.predict_proba(frame), usual.predict_proba(frame)), moment
        client.wait_for_workers(2, timeout=PATIENCE)


def test_rows_that_change_when_they_are_read_again_are_refused(client: Any) -> None:
    cluster = asking.Cluster(client, timeout=PATIENCE, retries=0)
    beside, reading = working.Beside(uncertain.Columns("two"), "auto"), uncertain.AsGaussians()
    place = OnDask(cluster, reading, beside, Settings(0, SMALL))
    moments = bytes([2, 1, 1, 0])  # see test_internals_rows.py
    place.sums(cluster.map(_other_rows, [0, 1]), moments)
    with pytest.raises(ClusterError, match=r"partitions 1 changed during the fit .8 rows"):
        place.sums(cluster.map(_other_rows, [0, 2]), moments)


def _other_rows(k: int) -> Any:
    return working.Piece.from_rows(uncertain.GaussianArray(np.full((8, 2), float(k)), std=0.1))


def test_discriminants_and_the_worst_case_by_passes(client: Any) -> None:
    frame = table(2_000)
    frame["u"] += 2.0 * (frame["two"] == "dwarf")  # so that a plane is better than none
    for method, options in (
        ("discriminant", {"shared_covariance": False}),
        ("usvc", {"meaning": "spread", "probability": False, "tol": 1e-5}),
    ):
        model = fitted(client, frame, **options | {"method": method})
        here = uncertain.fit(frame, "two", **COLUMNS | {"method": method}, **options)
        last, other = model.pipeline_[-1], here.pipeline_[-1]
        if method == "discriminant":
            assert last.log_likelihoods_[-1] == pytest.approx(other.log_likelihoods_[-1], abs=1e-4)
            assert np.abs(model.predict_proba(frame) - here.predict_proba(frame)).to_numpy().max() < 0.02
        else:
            assert last.optimality_gap_ <= 1e-5
            np.testing.assert_allclose(last.objective_, other.objective_, rtol=2e-5)
        assert np.mean(model.predict(frame) == here.predict(frame)) > 0.98


@pytest.mark.parametrize("target", ["two", "kind"])
def test_the_minimax_machine_by_passes(client: Any, frame: pd.DataFrame, target: str) -> None:
    """Means and covariances of classes are the same sums; folds are others."""
    options = {"method": "minimax", "meaning": "spread", "sample_weight": "heavy"}
    model = fitted(client, frame, target, **options)
    here = uncertain.fit(frame, target, **COLUMNS | options)
    last, other = model.pipeline_[-1], here.pipeline_[-1]
    np.testing.assert_allclose(last.coef_, other.coef_, rtol=1e-11)
    np.testing.assert_allclose(last.intercept_, other.intercept_, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(last.worst_case_accuracy_, other.worst_case_accuracy_, rtol=1e-12)
    assert model.predict(frame).tolist() == here.predict(frame).tolist()
    assert np.abs(model.predict_proba(frame) - here.predict_proba(frame)).to_numpy().max() < 0.02


def test_a_law_with_errors_in_both_by_passes(client: Any, frame: pd.DataFrame) -> None:
    """EM ends where it may; Newton's steps and the scatter's equation lead to the same maximum."""
    for options in ({"target_std": "y_err"}, {"target_std": "y_err", "sample_weight": "heavy"}):
        model = fitted(client, frame, "y", **options, method="mixture")
        here = uncertain.fit(frame, "y", **COLUMNS | {"method": "mixture"}, **options)
        last, other = model.pipeline_[-1], here.pipeline_[-1]
        for name in ("coef_", "intercept_", "intrinsic_scatter_", "coef_std_", "intercept_std_"):
            np.testing.assert_allclose(getattr(last, name), getattr(other, name), rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(last.covariances_, other.covariances_, rtol=1e-8)
        np.testing.assert_allclose(model.predict(frame), here.predict(frame), rtol=1e-8, atol=1e-8)
    # Standard errors of whole groups are not told: those of independent rows would be too small.
    grouped = fitted(client, frame, "y", method="law", target_std="y_err", groups="star")
    here = uncertain.fit(frame, "y", **COLUMNS | {"method": "law"}, target_std="y_err")
    np.testing.assert_allclose(grouped.coef_, here.coef_, rtol=1e-9)
    for ask in (lambda: grouped.coef_std_, grouped.conf_int, grouped.sample_posterior):
        with pytest.raises(AttributeError, match=r"held by a cluster.*bootstrap.*groups"):
            ask()
    curve = fitted(client, frame, "y", method="mixture", n_components=2, random_state=0)
    again = uncertain.fit(frame, "y", **COLUMNS | {"method": "mixture"}, n_components=2, random_state=0)
    best, theirs = curve.pipeline_[-1].log_likelihoods_[-1], again.pipeline_[-1].log_likelihoods_[-1]
    assert best == pytest.approx(theirs, abs=1e-4)


def test_gaps_are_imputed_by_passes(client: Any, frame: pd.DataFrame) -> None:
    holes = frame.copy()
    for j, name in enumerate("uvw"):
        holes.loc[holes.index % 7 == j, name] = np.nan
    options = {"meaning": "spread", "on_missing": "impute", "probability": False}
    model = fitted(client, holes, **options)
    here = uncertain.fit(holes, "two", **COLUMNS, **options)
    a, b = model.pipeline_["impute"], here.pipeline_["impute"]
    assert a.log_likelihoods_[-1] == pytest.approx(b.log_likelihoods_[-1], abs=2e-6)
    np.testing.assert_allclose(a.means_, b.means_, atol=1e-3)
    np.testing.assert_allclose(a.covariances_, b.covariances_, atol=2e-3)
    law = fitted(client, holes, "y", method="mixture", on_missing="impute")
    other = uncertain.fit(holes, "y", **COLUMNS | {"method": "mixture", "on_missing": "impute"})
    np.testing.assert_allclose(law.pipeline_[-1].coef_, other.pipeline_[-1].coef_, rtol=1e-9)


def test_scores_and_reports_of_partitions(client: Any, frame: pd.DataFrame, usual: uncertain.Model) -> None:
    cut = dd.from_pandas(frame, npartitions=5)
    cut = dd.concat([cut.partitions[0].query("u > 1e9"), cut])
    assert usual.score(cut) == usual.score(frame)
    number = fitted(client, frame, "y", meaning="spread")
    assert number.score(cut) == pytest.approx(number.score(frame), rel=1e-12)
    asked: dict[str, Any] = {"folds": 2, "repeats": 1, "meanings": False, "scorers": "accuracy"}
    report = usual.report(cut, max_rows=1_000, **asked)
    assert report.n_table == N and abs(report.n_rows - 1_000) < 150
    assert report.scores.equals(usual.report(frame, max_rows=1_000, **asked).scores)
    stars = usual.report(cut, max_rows=1_000, groups="star", **asked)
    kept = usual.report(frame, max_rows=1_000, groups="star", **asked)
    assert stars.n_groups == kept.n_groups and stars.scores.equals(kept.scores)
    for arguments in ({"y": frame["two"]}, {"sample_weight": np.ones(N)}):
        with pytest.raises(ParameterError, match="must be the name of a column of the Dask DataFrame"):
            usual.report(cut, max_rows=1_000, **arguments)
    with pytest.raises(ParameterError, match="must be the name of a column of the Dask DataFrame"):
        usual.score(cut, frame["two"])


def slept(rows: pd.DataFrame) -> pd.DataFrame:
    time.sleep(2.0)
    return rows


def test_scores_and_reports_do_not_wait_for_ever(
    client: Any, frame: pd.DataFrame, usual: uncertain.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uncertain._rows.partition.PATIENCE", 0.2)
    slow = dd.from_pandas(frame, npartitions=2).map_partitions(slept, meta=frame.iloc[:0])
    with pytest.raises(ClusterError, match=r"scores of the partitions: no answer in 0\.2 s; 2 of 2 tasks"):
        usual.score(slow)
    with pytest.raises(ClusterError, match=r"sizes of the partitions: no answer in 0\.2 s; 2 of 2 tasks"):
        usual.report(slow, max_rows=1_000)


def test_categories_that_differ_between_partitions(client: Any, frame: pd.DataFrame) -> None:
    """Reconciled where they are of one type, refused where not."""
    from uncertain.dask import fit

    options: dict[str, Any] = {"features": ["u"], "std": "{}_err", "categorical": ["band"], "method": "gsu"}
    options |= {"meaning": "spread", "probability": False, "group_bytes": SMALL}
    few = frame[:1200].copy()
    few["band"] = np.repeat(["b", "g", "r"], 400)
    parts = [few[k : k + 400].assign(band=few["band"][k : k + 400].astype("category")) for k in (0, 400, 800)]
    meta = few[:0].assign(band=few["band"][:0].astype("category"))
    cut = dd.from_delayed([dask.delayed(part) for part in parts], meta=meta, verify_meta=False)
    model = fit(client, cut, "two", **options)
    here = uncertain.fit(few, "two", **{k: v for k, v in options.items() if k != "group_bytes"})
    assert list(model.feature_names_) == list(here.feature_names_) and len(model.feature_names_) == 4
    np.testing.assert_allclose(model.pipeline_[-1].coef_, here.pipeline_[-1].coef_, atol=1e-2)
    mixed = [part.assign(band=part["band"].astype(object)) for part in parts]
    mixed[1]["band"] = 7
    odd = dd.from_delayed(
        [dask.delayed(part) for part in mixed], meta=few[:0].assign(band=few["band"][:0].astype(object)),
        verify_meta=False,
    )  # fmt: skip
    with pytest.raises(UncertainError, match="band: its categories are int and str in different partitions"):
        fit(client, odd, "two", **options)


@pytest.mark.usefixtures("few_trees")
def test_the_choice_is_among_what_passes_can_do(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from uncertain.dask import fit

    monkeypatch.setattr("uncertain._model.plan.CHOSEN_ROWS", 600)  # a sample that has not all rows
    few = table(1_000)[["u", "u_err", "two"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertainWarning)  # which of two is best is the data's business
        model = fit(client, dd.from_pandas(few, npartitions=3), "two", group_bytes=SMALL)
    board = model.leaderboard_
    assert {name.split()[0] for name in board["model"]} <= {"gsu", "discriminant", "mixture"}
    assert np.mean(model.predict(few) == few["two"]) > 0.6
    by_rule = fit(client, dd.from_pandas(few, npartitions=3), "two", effort="fast")
    assert type(by_rule.pipeline_[-1]).__name__ == "GaussianDiscriminant"


def test_calibration_by_ranks_and_by_groups(client: Any, frame: pd.DataFrame) -> None:
    here = uncertain.fit(frame, "two", **COLUMNS, meaning="spread")
    for groups in (None, "star"):
        model = fitted(client, frame, meaning="spread", groups=groups)
        p, q = model.predict_proba(frame)["dwarf"], here.predict_proba(frame)["dwarf"]
        assert np.abs(p - q).max() < 0.02  # other folds


def test_strange_partitions(client: Any, frame: pd.DataFrame) -> None:
    """Empty ones, a class in one of them alone, a category in one of them alone, rows without weight."""
    ordered = frame.sort_values("kind", kind="stable").reset_index(drop=True)
    ordered.loc[:10, "band"] = "infrared"
    ordered.loc[:10, "heavy"] = 1.0
    ordered.loc[11:300, "heavy"] = 0.0
    cut = dd.from_pandas(ordered, npartitions=6, sort=False)
    cut = dd.concat([cut.partitions[0].query("u > 1e9"), cut])
    assert len(cut.partitions[0]) == 0
    options = {**COLUMNS, "categorical": ["band"], "sample_weight": "heavy", "meaning": "spread"}
    model = uncertain.fit(cut, "kind", **options, probability=False)
    here = uncertain.fit(ordered, "kind", **options, probability=False)
    assert list(model.feature_names_) == list(here.feature_names_)
    np.testing.assert_allclose(model.pipeline_[-1].coef_, here.pipeline_[-1].coef_, atol=2e-2)
    assert np.mean(model.predict(ordered) == here.predict(ordered)) > 0.995


def test_predictions_are_lazy_and_equal(client: Any, frame: pd.DataFrame, usual: uncertain.Model) -> None:
    model = usual
    number = fitted(client, frame, "y", meaning="spread")
    cut = dd.from_pandas(frame, npartitions=5)
    cut = dd.concat([cut.partitions[0].query("u > 1e9"), cut])
    frame = cut.compute()  # with Dask's types of text
    for asked, here in (
        (model.predict(cut), model.predict(frame)),
        (model.predict_proba(cut), model.predict_proba(frame)),
        (model.predict(cut, append=True), model.predict(frame, append=True)),
        (model.predict_proba(cut, append=True), model.predict_proba(frame, append=True)),
        (number.predict(cut), number.predict(frame)),
        (number.predict_distribution(cut), number.predict_distribution(frame)),
        (number.predict_distribution(cut, append=True), number.predict_distribution(frame, append=True)),
    ):
        found = asked.compute()
        assert hasattr(asked, "dask") or hasattr(asked, "expr")  # nothing was computed before
        assert type(found) is type(here)
        if isinstance(here, pd.Series):
            assert asked.name == here.name and asked.dtype == here.dtype
            pd.testing.assert_series_equal(found, here)
        else:
            assert list(asked.columns) == list(here.columns) and asked.dtypes.equals(here.dtypes)
            pd.testing.assert_frame_equal(found, here)


def test_rows_in_front_of_a_step_are_let_go(
    client: Any, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the classifier asks, the workers hold the scaled groups and nothing else that is large."""
    held: list[int] = []
    ask = OnDask.sums

    def counting(self: Any, parts: Any, requests: bytes) -> Any:
        answer = ask(self, parts, requests)
        if requests[2] == 3:  # the value of a linear problem
            large = [
                key for keys in client.has_what().values() for key in keys if "uncertain-sums" not in str(key)
            ]
            held.append(len(large) - len(parts))
        return answer

    monkeypatch.setattr(OnDask, "sums", counting)
    fitted(client, frame, meaning="spread", probability=False)
    assert held and held[-1] <= 0


def test_the_model_is_an_ordinary_one(usual: uncertain.Model, tmp_path: Path) -> None:
    model = usual
    model.save(tmp_path / "model.safetensors")
    again = uncertain.load(tmp_path / "model.safetensors")
    assert (
        same(model, again)
        and "dask" not in (tmp_path / "model.safetensors").read_bytes().decode("latin1").lower()
    )
    assert same(pickle.loads(pickle.dumps(model)), model)
    assert not hasattr(model.pipeline_[-1], "answer") and model.pipeline_[-1]._remote is None
    assert f"{N:,} rows" in repr(model)


def test_progress_says_passes_bytes_and_the_slowest_worker(
    client: Any, frame: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = []
    fitted(client, frame, meaning="spread", probability=False, verbose=1, callback=heard.append)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[dask] pass")]
    assert len(lines) > 3 and all("MB so far, slowest tcp://127.0.0.1:" in line for line in lines)
    assert heard[-1].gap <= 1e-6


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Sends work that begins (`tmp_path` / "begun") and does not end during the test."""
    send = asking.Cluster.map
    yield lambda self, *lists: send(self, _stuck, *lists[:1], folder=tmp_path)
    (tmp_path / "ended").touch()


def _stuck(_: Any, folder: Path) -> None:
    (folder / "begun").touch()
    _appears(folder / "ended")


def _appears(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)


def at_pass(number: int, instead: Callable[..., Any]) -> Callable[..., Any]:
    """`Cluster.map` with other work in the pass of that number."""
    send = asking.Cluster.map
    count = itertools.count(1)

    def sent(self: Any, work: Any, *lists: Any, **same: Any) -> Any:
        if work is working.sums and next(count) == number:
            return instead(self, *lists)
        return send(self, work, *lists, **same)

    return sent


@contextmanager
def interrupt_when(begun: Path) -> Iterator[None]:
    """One Ctrl-C, when work has begun and this thread waits for it.

    Python loses an interrupt that comes in a callback of the garbage collector, and the signal is only looked
    at between two instructions of this thread: so it is sent until the handler has met the wait.
    """
    main = threading.get_ident()
    over = threading.Event()

    def handler(_: int, frame: FrameType | None) -> None:
        if not over.is_set() and frame is not None and frame.f_code is threading.Condition.wait.__code__:
            over.set()
            raise KeyboardInterrupt

    def press() -> None:
        _appears(begun)
        while not over.wait(0.05):
            signal.pthread_kill(main, signal.SIGINT)

    usual = signal.signal(signal.SIGINT, handler)
    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, usual)


def test_ctrl_c_cancels_what_runs(
    client: Any,
    frame: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    stuck: Callable[..., Any],
    tmp_path: Path,
) -> None:
    futures: list[Any] = []

    def instead(self: Any, *lists: Any) -> list[Any]:
        futures.extend(stuck(self, *lists))
        return futures

    monkeypatch.setattr(asking.Cluster, "map", at_pass(3, instead))
    with interrupt_when(tmp_path / "begun"), pytest.raises(KeyboardInterrupt):
        fitted(client, frame, meaning="spread")
    assert futures and all(future.status == "cancelled" for future in futures)


def test_no_answer_in_time_is_told(
    client: Any, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, stuck: Callable[..., Any]
) -> None:
    def instead(self: Any, *lists: Any) -> Any:
        self._timeout = 0.2
        return stuck(self, *lists)

    monkeypatch.setattr(asking.Cluster, "map", at_pass(2, instead))
    with pytest.raises(ClusterError, match=r"pass 2 over the rows: no answer in 0\.2 s; 4 of 4 tasks"):
        fitted(client, frame)


def test_work_that_is_cancelled_elsewhere_is_told(
    client: Any, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, stuck: Callable[..., Any]
) -> None:
    def instead(self: Any, *lists: Any) -> Any:
        futures = stuck(self, *lists)
        client.cancel(futures)
        return futures

    monkeypatch.setattr(asking.Cluster, "map", at_pass(2, instead))
    with pytest.raises(ClusterError, match=r"pass 2 over the rows: .* the work was cancelled"):
        fitted(client, frame)


def test_workers_that_die_again_and_again_are_told(
    cluster: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    ours = asking.Cluster(client, timeout=PATIENCE, retries=0)
    with pytest.raises(ClusterError, match="reading: workers died again and again over the same rows"):
        ours.results(ours.map(_dies, [0]), "reading")
    client.wait_for_workers(1, timeout=PATIENCE)


def _dies(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_of_other_versions_are_refused(
    client: Any, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run(work: Any, on_error: str) -> Any:
        return {"tcp://one": work(), "tcp://two": "0.0.1"}

    monkeypatch.setattr(client, "run", run)
    with pytest.raises(ClusterError, match=r"tcp://two has version 0\.0\.1"):
        fitted(client, frame)


def test_every_wait_ends(
    client: Any, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, stuck: Callable[..., Any]
) -> None:
    """Also those for versions, and for work that is given up."""

    async def never(*_: Any, **__: Any) -> None:
        await asyncio.sleep(30.0)

    with monkeypatch.context() as patch:
        patch.setattr(client, "run", never)
        patch.setattr(client, "wait_for_workers", lambda *_, **__: None)  # takes its time on a busy machine
        with pytest.raises(ClusterError, match=r"the versions of the workers: no answer in 0\.2 s"):
            fitted(client, frame, timeout=0.2)
    monkeypatch.setattr(asking, "CANCELLING", 0.1)
    ours = asking.Cluster(client, timeout=0.2, retries=0)
    futures = stuck(ours, [0])
    with monkeypatch.context() as patch:
        patch.setattr(client, "cancel", never)
        with pytest.raises(ClusterError, match="1 of 1 tasks were not done"):
            ours.results(futures, "sleeping")
    ours.cancel(futures)


def test_errors_name_the_partition_and_the_column(client: Any, frame: pd.DataFrame) -> None:
    broken = frame.copy()
    broken.loc[N - 1, "v_err"] = -1.0
    with pytest.raises(UncertainError, match=r"partition 3: v_err: row 1499 is -1"):
        fitted(client, broken, meaning="spread", on_missing="error")
    broken = frame.copy()
    broken.loc[N - 1, "two"] = None
    with pytest.raises(UncertainError, match="partition 3: two: row 1499 has no label"):
        fitted(client, broken, meaning="spread", on_missing="error")
    with pytest.raises(UncertainError, match="every label is 'nova'"):
        fitted(client, frame[frame["kind"] == "nova"].reset_index(drop=True), "kind")


def test_what_is_not_fitted_on_a_cluster_is_refused(client: Any, frame: pd.DataFrame) -> None:
    for arguments, words in (
        ({"method": "kernel"}, "not made of sums.*gsu"),
        ({"method": "remeasured"}, "not made of sums"),
        ({"method": "huber"}, 'loss="huber"'),
        ({"method": "tsvc"}, 'use method="usvc"'),
        ({"method": "mixture", "target": "y", "n_components": "auto"}, "choose it on a sample"),
        ({"kernel": "rbf"}, "one memory"),
        ({"class_weight": "balanced"}, "sample_weight"),
        ({"solver": "sgd"}, "auto"),
        ({"alhpa": 1.0}, "unknown option 'alhpa'; did you mean alpha="),
        ({"target": np.zeros(3)}, "name of a column"),
        ({"groups": [1, 2]}, "name of a column"),
    ):
        given = {"target": "two"} | arguments
        with pytest.raises(ParameterError, match=words):
            fitted(client, frame, **given)
    from uncertain.dask import fit

    with pytest.raises(ParameterError, match="Dask DataFrame, got DataFrame"):
        fit(client, frame, "two")
    cut = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ParameterError, match=r"expected a dask\.distributed\.Client"):
        fit(3, cut, "two", **COLUMNS)
    with pytest.raises(ParameterError, match="noise="):
        uncertain.fit(cut, "two", **COLUMNS, noise=(1, 2))


def test_what_is_not_read_is_told_and_what_is_unknown_is_so(client: Any, frame: pd.DataFrame) -> None:
    table, few = frame[["u", "u_err", "two"]][:600], np.arange(600) % 6 == 0
    text, marked = table.u.round(2).astype(str), table.assign(l_u=np.where(few, "<", ""))
    one_memory = r"Pass method=\"gsu\", limits=\{'u': '(l_)?u'\}, on rows in one memory"
    forms = {
        "left out: heavy": table.assign(heavy=1.5 * few),
        f"l_u looks like flags of limits.*{one_memory}": marked,
        r"not read on a cluster: w_err\. uncertain\.fit\(table\.compute": table.assign(w=text + " ± 0.1"),
        one_memory: table.assign(u=np.where(few, "<" + text, text)),
    }
    options: dict[str, Any] = {"method": "gsu", "meaning": "spread", "probability": False}
    for said, form in forms.items():
        told = pytest.raises if form.u.dtype != float else pytest.warns
        with told(UncertainError if told is pytest.raises else UncertainWarning, match=said):  # type: ignore[operator]
            uncertain.fit(dd.from_pandas(form, npartitions=3), "two", **options)
    for unknown in (np.inf, -1.0, 99.0):
        form = table.assign(u_err=np.where(few, unknown, table.u_err))
        cut = dd.from_pandas(form, npartitions=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertainWarning)
            there, here = (uncertain.fit(rows, "two", **options) for rows in (cut, form))
        np.testing.assert_allclose(np.ravel(there.coef_), np.ravel(here.coef_), rtol=1e-3)


def test_without_a_client_it_says_how_to_start_one() -> None:
    def none() -> Any:
        raise ValueError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed, "default_client", none)
        with pytest.raises(ParameterError, match=r"dask\.distributed\.Client\(\)"):
            uncertain.fit(dd.from_pandas(table(20), npartitions=2), "two", **COLUMNS)
