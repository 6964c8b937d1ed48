"""Rows in temporary files: sizes, folders, and what comes back."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from uncertain import GaussianArray, GaussianScaler, Incomplete
from uncertain._spill import Budget, Parts, Spill
from uncertain._spill import _folder as folder_module
from uncertain._spill._column import Column
from uncertain._spill._folder import checked_folder, kind_of
from uncertain._uncertain import keep_at_most
from uncertain.exceptions import ParameterError, UncertainError

RNG = np.random.default_rng(5)
MEANS = RNG.normal(size=(500, 3))
STD = RNG.uniform(0.1, 1.0, (500, 3))
LIMITS = RNG.integers(-1, 2, (500, 3))
FACTOR = RNG.normal(size=(500, 3, 2))

ROWS: dict[str, Any] = {
    "zero": lambda: GaussianArray(MEANS),
    "isotropic": lambda: GaussianArray(MEANS, std=STD[:, 0]),
    "std": lambda: GaussianArray(MEANS, std=STD, feature_names=["u", "g", "r"]),
    "var": lambda: GaussianArray(MEANS, var=STD),
    "full": lambda: GaussianArray(MEANS, cov=FACTOR @ FACTOR.transpose(0, 2, 1)),
    "low-rank": lambda: GaussianArray(MEANS, factor=FACTOR),
    "low-rank and diagonal": lambda: GaussianArray(MEANS, factor=FACTOR, var=STD),
    "shared": lambda: GaussianArray(MEANS, cov=np.cov(MEANS.T)),
    "limits": lambda: Incomplete(GaussianArray(MEANS, std=STD), np.zeros((500, 3), dtype=bool), LIMITS),
    "gaps": lambda: Incomplete(GaussianArray(MEANS, std=STD), RNG.random((500, 3)) < 0.2),
}


@pytest.mark.parametrize(
    ("said", "bytes_"),
    [
        ("2GB", 2 << 30),
        ("2 GiB", 2 << 30),
        ("500MB", 500 << 20),
        ("1.5g", 3 << 29),
        ("70000K", 70000 << 10),
        (1 << 28, 1 << 28),
    ],
)
def test_sizes_are_in_powers_of_two(said: str | int, bytes_: int) -> None:
    assert Budget.of(said).bytes == bytes_


@pytest.mark.parametrize("said", ["two", "2XB", "", "-3GB", True, None, [1], float("nan"), float("inf")])
def test_what_is_no_size_is_refused(said: object) -> None:
    with pytest.raises(ParameterError, match='must be a size such as "2GB"'):
        Budget.of(said)


def test_too_little_memory_is_refused_with_what_is_needed() -> None:
    with pytest.raises(ParameterError, match="at least 64 MB"):
        Budget.of("1MB")
    budget = Budget.of("100MB")
    free = budget.check(1_000_000, 160, 28)
    assert 0 < free < budget.bytes - 28_000_000
    with pytest.raises(KeyError), budget.keeping(1000):
        assert keep_at_most(500) == 500
        raise KeyError
    assert keep_at_most(1 << 29) == 1 << 29
    with pytest.raises(ParameterError, match=r"50,000,000 rows need about 1\.\d GB .* pass memory=\"\d+MB\""):
        budget.check(50_000_000, 160, 28)


@pytest.mark.parametrize("kind", list(ROWS))
def test_rows_come_back_as_they_went_and_change_in_place(tmp_path: Path, kind: str) -> None:
    rows = ROWS[kind]()
    spill, parts = Spill(tmp_path, 1 << 16), Parts()
    for first in range(0, 500, 130):
        spill.append(rows[first : first + 130])
        parts.append(rows[first : first + 130])
    assert not list(tmp_path.iterdir())  # the file has no name
    step = GaussianScaler().fit(rows)
    for expected in (rows, step.transform(rows)):
        for found in (spill.rows(), parts.rows()):
            whole, other = found, expected
            if isinstance(expected, Incomplete):
                assert isinstance(found, Incomplete)
                assert np.array_equal(found.missing, expected.missing)
                assert (found.limits is None) == (expected.limits is None)
                assert expected.limits is None or np.array_equal(found.limits, expected.limits)
                whole, other = found.gaussians, expected.gaussians
            assert whole == other
            assert whole.feature_names == other.feature_names
        spill.transform(step)
        parts.transform(step)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is mapped")
def test_mapped_rows_are_read_where_they_lie(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 1 << 20)
    spill.append(ROWS["std"]())
    means = spill.rows().means
    assert not means.flags.writeable
    assert sum(str(tmp_path) in line for line in Path("/proc/self/maps").read_text().splitlines()) == 2
    with pytest.raises(ValueError, match="read-only"):
        means[0, 0] = 1.0


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    spill = Spill(tmp_path, 1 << 20)
    spill.append(ROWS["std"]())
    with pytest.raises(UncertainError, match="write the columns of error bars alike"):
        spill.append(ROWS["full"]())
    with pytest.raises(UncertainError, match="has no rows"):
        Spill(tmp_path, 1 << 20).rows()


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def test_a_full_disk_is_an_error_before_a_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int, offset: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10 << 30, 10 << 30, 3 << 20))
    with pytest.raises(UncertainError, match=r"rows need 64 MB in .*, where 3 MB are free: .*spill="):
        Column(tmp_path, 3).append(MEANS)


def test_folders_that_are_none_are_refused(tmp_path: Path) -> None:
    assert checked_folder(tmp_path) == tmp_path
    with pytest.raises(ParameterError, match="is no folder"):
        checked_folder(tmp_path / "absent")
    with pytest.raises(ParameterError, match="must be a folder"):
        checked_folder(3)


@pytest.mark.parametrize(
    ("kind", "why"),
    [("tmpfs", "in memory"), ("nfs4", "network file system"), ("fuse.sshfs", "network file system")],
)
def test_memory_and_networks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, why: str
) -> None:
    inside = tmp_path / "a b"
    inside.mkdir()
    mounts = tmp_path / "mounts"
    at = str(inside).replace(" ", "\\040")
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nhost:/b {at} {kind} rw 0 0\nproc /proc proc rw 0 0\n")
    monkeypatch.setattr(folder_module, "MOUNTS", mounts)
    assert (kind_of(inside), kind_of(tmp_path)) == (kind, "ext4")
    with pytest.raises(ParameterError, match=rf"spill='.*a b' is .*{why} \({kind}\).* pass spill="):
        checked_folder(inside)
    assert checked_folder(tmp_path) == tmp_path
    monkeypatch.setattr(folder_module, "MOUNTS", tmp_path / "absent")
    assert kind_of(inside) == ""
