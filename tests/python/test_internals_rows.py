"""Rows in parts: pieces on other machines, how they travel and what they answer; parts in temporary files;
the methods of which the guides say that sums suffice; and parts of another engine, one small class."""

import errno
import pickle
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catalogues import KINDS, METHODS, of_kind, up_or_down

import uncertain
from uncertain import GaussianArray, GaussianDenoiser, GaussianScaler, GSUClassifier, Incomplete
from uncertain._rows.mapped import Budget, mapped
from uncertain._rows.rows import Files, Place, Rows
from uncertain._rows.training import TrainingRows
from uncertain._uncertain import keep_at_most, partial_sums
from uncertain.exceptions import ParameterError, UncertainError

pytest.importorskip("distributed")

from dask.sizeof import sizeof

from uncertain._rows.partition import Piece

N, D = 500, 4
MOMENTS = bytes([2, 1, 1, 0])


def rows(n: int = N) -> tuple[GaussianArray, np.ndarray]:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, n).astype(np.uint32)
    return GaussianArray(rng.normal(size=(n, D)) + codes[:, None], std=rng.uniform(0.1, 1.0, (n, D))), codes


def piece(of: slice = slice(None)) -> Piece:
    gaussians, codes = rows()
    return Piece.from_rows(gaussians[of], codes=codes[of], weights=np.arange(1.0, N + 1.0)[of])


def travelled(one: Piece) -> Piece:
    """A piece as another process has it, its numbers at addresses that are never multiples of eight."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(one, protocol=5, buffer_callback=buffers.append)
    moved = []
    for buffer in buffers:
        raw = np.frombuffer(buffer.raw(), dtype=np.uint8)
        space = np.empty(raw.size + 16, dtype=np.uint8)
        shift = (4 - space.ctypes.data) % 8
        space[shift : shift + raw.size] = raw
        moved.append(space[shift : shift + raw.size])
    again: Piece = pickle.loads(data, buffers=moved)
    return again


def kinds() -> dict[str, GaussianArray]:
    """Rows of every kind of covariances, as users and as steps make them."""
    rng = np.random.default_rng(2)
    means = rng.normal(size=(N, D))
    made = {kind: of_kind(kind, means, rng) for kind in KINDS}
    single = {f"{kind} in float32": data.astype("float32") for kind, data in made.items()}
    for kind in ("diagonal", "full"):
        made[f"{kind}, denoised"] = denoised = GaussianDenoiser(1).fit_transform(made[kind])
        made[f"{kind}, scaled"] = GaussianScaler().fit_transform(denoised)
    return made | single


def test_a_piece_is_the_same_on_every_machine() -> None:
    for kind, gaussians in kinds().items():
        codes = (gaussians.means[:, 0] > 0.0).astype(np.uint32)
        here = Piece.from_rows(gaussians, codes=codes)
        there = travelled(here)
        assert there.part.checksum == here.part.checksum, kind
        assert there.part.checksum != Piece.from_rows(gaussians, codes=1 - codes).part.checksum, kind
        models = [GSUClassifier(tol=1e-8), GSUClassifier(tol=1e-8)]
        for model, part in zip(models, (here.part, there.part), strict=True):
            model._remote = (lambda requests, part=part: [partial_sums(part, requests, 1)], True)
            model.fit(gaussians, codes)
        assert np.array_equal(models[0].coef_, models[1].coef_), kind


def test_dask_knows_the_size_of_a_piece() -> None:
    assert sizeof(piece()) == pytest.approx(N * (2 * D * 8 + 4 + 8), abs=64)


RNG = np.random.default_rng(5)
MEANS = RNG.normal(size=(500, 3))
STD = RNG.uniform(0.1, 1.0, (500, 3))
LIMITS = RNG.integers(-1, 2, (500, 3))

CODES = np.arange(500) % 2
ROWS: dict[str, Any] = {kind: partial(of_kind, kind, MEANS, np.random.default_rng(6)) for kind in KINDS} | {
    "std": lambda: GaussianArray(MEANS, std=STD, feature_names=["u", "g", "r"]),
    "limits": lambda: Incomplete(GaussianArray(MEANS, std=STD), np.zeros((500, 3), dtype=bool), LIMITS),
    "gaps": lambda: Incomplete(GaussianArray(MEANS, std=STD), RNG.random((500, 3)) < 0.2),
}


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [
        ("2GB", 2 << 30), ("2 GiB", 2 << 30), ("500MB", 500 << 20), ("1.5g", 3 << 29),
        ("70000K", 70000 << 10), (1 << 28, 1 << 28),
    ],
)  # fmt: skip
def test_sizes_are_in_powers_of_two(said: str | int, bytes_: int) -> None:
    assert Budget.parse(said).bytes == bytes_


@pytest.mark.parametrize("said", ["two", "2XB", "", "-3GB", True, None, [1], float("nan"), float("inf")])
def test_what_is_no_size_is_refused(said: object) -> None:
    with pytest.raises(ParameterError, match='must be a size such as "2GB"'):
        Budget.parse(said)


def test_too_little_memory_is_refused_with_what_is_needed() -> None:
    with pytest.raises(ParameterError, match="at least 64 MB"):
        Budget.parse("1MB")
    budget = Budget.parse("100MB")
    with pytest.raises(KeyError), budget.keeping():
        assert keep_at_most(500) == 15 * budget.bytes // 32
        raise KeyError
    assert keep_at_most(1 << 29) == 1 << 29


def in_place(place: Place, rows: Any) -> Rows:
    """Rows in four parts of a place."""
    parts = place.keep(rows[first : first + 130] for first in range(0, 500, 130))
    return Rows(parts, TrainingRows(None, CODES))


FILES = Files(Budget.parse("64MB"))


@pytest.mark.parametrize("kind", list(ROWS))
@pytest.mark.parametrize("place", [Place(), FILES], ids=["memory", "files"])
def test_parts_come_back_as_they_went_and_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: Place
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("uncertain._rows.mapped.FILE", 1 << 13)  # two files
    rows = ROWS[kind]()
    store, step = in_place(place, rows), GaussianScaler().fit(rows)
    assert not list(tmp_path.iterdir())  # a file has no name
    asked = store.sums(MOMENTS)
    for expected in (rows, step.transform(rows)):
        whole, other = store.here.rows, expected
        if isinstance(expected, Incomplete):
            assert np.array_equal(whole.missing, expected.missing)
            assert (whole.limits is None) == (expected.limits is None)
            assert expected.limits is None or np.array_equal(whole.limits, expected.limits)
            whole, other = whole.gaussians, expected.gaussians
        assert whole == other and whole.feature_names == other.feature_names
        store.transform(step)
    assert np.array_equal(asked[0], Rows([rows], TrainingRows(None, CODES)).sums(MOMENTS)[0])


def test_files_hold_float32_where_rows_do(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    means, std = (rng.uniform(size=(3000, 3)).astype(np.float32) for _ in range(2))
    marks = rng.uniform(size=means.shape) < 0.1
    narrow = Incomplete(GaussianArray(means, std=std), marks)
    wide = Incomplete(GaussianArray(means, std=std.astype(float)), marks)
    parts = mapped([narrow, wide, narrow[:7]], tmp_path)
    assert [part.gaussians.dtype for part in parts] == [np.float32] * 3
    assert [part.gaussians._core.row_bytes for part in parts] == [4 * 6, 12 * 3, 4 * 6]
    for part, rows in zip(parts, (narrow, wide, narrow[:7]), strict=True):
        assert part.gaussians == rows.gaussians and np.array_equal(part.missing, rows.missing)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is mapped")
def test_mapped_rows_are_read_where_they_lie(tmp_path: Path) -> None:
    (rows,) = mapped([ROWS["std"]()], tmp_path)
    means = rows.means
    assert not means.flags.writeable
    assert sum(str(tmp_path) in line for line in Path("/proc/self/maps").read_text().splitlines()) == 1
    with pytest.raises(ValueError, match="read-only"):
        means[0, 0] = 1.0
    del rows, means
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UncertainError, match="Write the error columns in one form"):
        mapped([ROWS["std"](), ROWS["full"]()], tmp_path)


def test_a_full_disk_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any, data: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class File:
        write = full

        def close(self) -> None:
            pass

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: File())
    with pytest.raises(UncertainError, match=r"no space for the rows is left in .*: make room.*TMPDIR"):
        mapped([ROWS["std"]()], tmp_path)


GUIDE = Path(__file__).parents[2] / "docs" / "how-to" / "large-data.md"
TABLE = up_or_down(900, 4, noise=1.0)


def refused(column: int) -> set[str]:
    """The methods that a column of the table of the guide refuses."""
    table = [
        line.split("|") for line in GUIDE.read_text(encoding="utf-8").splitlines() if line.startswith("|")
    ]
    rows = [cells[1] for cells in table if len(cells) == 5 and "refused" in cells[column]]
    return {name for first in rows for name in re.findall(r'"(\w+)"', first) if name in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_the_guides_say_what_is_refused(method: str) -> None:
    target = "height" if method == "mixture" else "label"
    table = TABLE.select("u", "u_err", "v", "v_err", target)
    try:
        uncertain.fit(table, target, method=method, memory="64MB")  # type: ignore[arg-type]
        fitted = True
    except ParameterError as error:
        fitted = False
        assert "memory=: " in str(error) and "not made of sums over the rows; " in str(error)
    assert fitted == (method not in refused(2))


@pytest.mark.parametrize("method", METHODS)
def test_the_guide_says_what_a_cluster_refuses(method: str) -> None:
    from uncertain.dask import fit

    # Whatever is no table of Dask is refused as well, but later.
    words = "on a cluster: .*not made of sums" if method in refused(3) else "expected a Dask DataFrame"
    with pytest.raises(ParameterError, match=words):
        fit(None, TABLE, "label", method=method)


def test_mixtures_are_refused_on_a_cluster() -> None:
    from uncertain import MixtureArray

    rows = GaussianArray([[1.0], [2.0]], std=0.1)
    assert Piece.from_rows(rows).rows() == rows
    with pytest.raises(UncertainError, match=r"mixtures of several Gaussians are not fitted on a cluster"):
        Piece.from_rows(MixtureArray([0.7, 0.3, 1.0], [[0.4], [2.1], [0.9]], std=0.1, offsets=[0, 2, 3]))
