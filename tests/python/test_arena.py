"""The arena: splits keep groups whole, errors grow as they say, scores are what they are named after."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from test_widths import crps

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

from arena import page, results, task
from arena.__main__ import STORED
from arena.answers import Numbers, losses, normal
from arena.cell import measured
from arena.method import Method, all_methods
from arena.progress import Progress
from arena.run import Cell
from arena.table import Table, read


def table(n: int, *, regression: bool, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, 3))
    y = truth[:, 0] + 0.3 * rng.normal(size=n)
    return read("made", truth, y if regression else (y > 0).astype(int), 0.3, regression=regression)


def made(loaded: Table, **more: object) -> task.Task:
    return task.Task("made", lambda folder: loaded, "here", "none", "three", "nothing", **more)  # type: ignore[arg-type]


def test_there_are_enough_tasks_and_they_say_where_they_come_from() -> None:
    tasks = task.all_tasks()
    assert len(tasks) >= 14 and len({t.name for t in tasks}) == len(tasks)
    assert all(t.source and t.licence and t.columns and t.published for t in tasks)
    absent = [t for t in tasks if t.missing(Path("no/such/folder"))]
    assert all("original:" in t.missing(Path("no/such/folder")) for t in absent)
    assert len(tasks) - len(absent) >= 6  # made here, or of a package
    assert len({m.name for m in all_methods()}) == len(all_methods()) >= 20


def test_splits_hold_whole_groups_out_and_test_different_ones() -> None:
    loaded = table(900, regression=False)
    loaded = Table(**vars(loaded) | {"groups": np.arange(900) // 7})
    seen = []
    for k in range(2):
        train, test = made(loaded).split(Path(), k)
        assert not {*train.groups} & {*test.groups}
        seen.append({*test.groups})
        fewer, _ = made(loaded).split(Path(), k, most=300)
        assert len(fewer) == 300 and {*map(tuple, fewer.values)} <= {*map(tuple, train.values)}
    assert not seen[0] & seen[1]


def test_errors_grow_and_shrink_as_they_say() -> None:
    loaded = table(20_000, regression=False)
    for factor in (0.5, 1.0, 4.0):
        again = loaded.worse(factor, seed=1)
        assert loaded.truth is not None
        z = (again.values - loaded.truth) / again.std
        assert z.std() == pytest.approx(1.0, abs=0.02)
        np.testing.assert_allclose(again.std, factor * loaded.std)


def test_scores_of_numbers_are_those_of_closed_forms() -> None:
    rng = np.random.default_rng(0)
    y, mean, std = rng.normal(size=300), rng.normal(size=300), rng.uniform(0.3, 1.0, 300)
    grid = np.linspace(-9, 9, 4_001)
    loaded = Table("t", mean[:, None], mean[:, None], mean[:, None], y, np.arange(300), True)
    found = losses(Numbers(mean, normal(mean, std, grid)), loaded, loaded, grid)
    np.testing.assert_allclose(found["crps"], crps(y - mean, std), atol=4e-3)
    cde_loss = norm.pdf(0.0, scale=np.sqrt(2.0) * std) - 2.0 * norm.pdf(y, mean, std)
    np.testing.assert_allclose(found["cde_loss"], cde_loss, atol=2e-2)
    assert found["width_95"] == pytest.approx(2 * norm.isf(0.025) * std, abs=0.02)
    inside = np.abs(y - mean) <= norm.isf(0.16) * std
    assert np.mean(found["within_68"] == inside) > 0.98


def test_scores_of_classes_know_a_class_that_was_not_learned() -> None:
    train, test = table(10, regression=False), table(4, regression=False, seed=1)
    train = Table(**vars(train) | {"y": np.array([0, 1] * 5)})
    test = Table(**vars(test) | {"y": np.array([0, 1, 1, 2])})
    given = np.array([[0.9, 0.1], [0.6, 0.4], [0.0, 1.0], [0.5, 0.5]])
    found = losses(given, train, test, np.empty(0))
    np.testing.assert_allclose(found["log_loss"], -np.log([0.9, 0.4, 1.0, 1e-6]))
    assert found["accuracy"].tolist() == [True, False, True, False]
    np.testing.assert_allclose(found["brier"], [0.02, 0.72, 0.0, 1.5])


@pytest.mark.parametrize("regression", [False, True])
def test_a_run_is_compared_with_itself_and_with_a_worse_one(regression: bool, tmp_path: Path) -> None:
    loaded = table(400, regression=regression)
    linear = next(m for m in all_methods() if m.name == "linear, means")
    shifted = Method(
        results.OURS,
        lambda train: linear.fit(Table(**vars(train) | {"y": np.random.default_rng(0).permutation(train.y)})),
    )
    found = {}
    for name, ours in (("good", Method(results.OURS, linear.fit)), ("bad", shifted)):
        cells = {
            m.name: [measured(made(loaded), m, k, Path(), None) for k in range(2)] for m in (ours, linear)
        }
        results.write(tmp_path / name, results.summary({"made": cells}, {"splits": 2, "rows_at_most": None}))
        found[name] = results.read(tmp_path / name)
    assert list(results.worse(found["good"], found["good"])) == []
    assert len(list(results.worse(found["good"], found["bad"]))) >= 2
    one = found["good"]["tasks"]["made"]["methods"]["linear, means"]["scores"]["1"]
    assert one["behind"] == [0.0, 0.0]
    verdicts = list(results.verdicts(found["bad"], [results.OURS]))
    assert {verdict[1] for verdict in verdicts} == {"0.5", "1", "2", "4", "8"}
    assert not any(within or ahead for _, factor, _, within, ahead in verdicts if factor in ("0.5", "1"))


def test_the_table_of_the_site_is_that_of_the_stored_result() -> None:
    ours = [m.name for m in all_methods() if m.ours]
    assert page.PAGE.read_text(encoding="utf-8") == page.written(results.read(STORED), ours), (
        "python -m arena page"
    )


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    cells = [Cell(made(table(40, regression=False)), all_methods()[0], split) for split in range(3)]
    first = Progress(tmp_path / "cells", 600)
    first.keep(cells[0], {"fit": 1.0})
    first.keep(cells[1], {"failed": "it"})
    with (tmp_path / "cells").open("a") as file:
        file.write('\n{"cell": ["made", ')  # stopped while it wrote
    again = Progress(tmp_path / "cells", 600)
    assert [again.found(cell) for cell in cells] == [{"fit": 1.0}, {"failed": "it"}, None]
    again.keep(cells[2], {"fit": 2.0})
    assert Progress(tmp_path / "cells", 600).found(cells[2]) == {"fit": 2.0}
    assert Progress(tmp_path / "cells", 900).found(cells[0]) is None  # of other rows
    assert Progress(None, 600).found(cells[0]) is None
