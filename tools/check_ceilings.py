"""Folders stay below their ceilings of lines: `make lint` runs this. Ceilings only go down.

The numbers are lines of tracked .py and .pyi files (Rust: .rs files with their tests). An issue that adds a
behaviour books its lines here, in the commit that adds them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CEILINGS = {
    "python": 36_416,
    "python/uncertain/_base": 1_396,
    "python/uncertain/_choice": 1_760,
    "python/uncertain/_data": 3_255,
    "python/uncertain/_errors": 1_196,
    "python/uncertain/_estimators": 1_651,
    "python/uncertain/_held_out": 1_209,
    "python/uncertain/_model": 3_768,
    "python/uncertain/_onnx": 1_170,
    "python/uncertain/_report": 682,
    "python/uncertain/_rows": 2_466,
    "python/uncertain/_tables": 6_315,
    "python/uncertain/_trees": 1_260,
    "python/uncertain/cli": 690,
    "python/uncertain/demo": 260,
    "python/uncertain/huber": 618,
    "python/uncertain/laws": 2_175,
    "python/uncertain/plot": 1_202,
    "python/uncertain/preprocessing": 2_723,
    "python/uncertain/uncertainty": 1_380,
    "rust": 67_994,
    "rust/uncertain/src/data": 5_415,
    "rust/uncertain/src/deconvolution": 4_286,
    "rust/uncertain/src/kernel": 3_092,
    "rust/uncertain/src/model": 25_175,
    "rust/uncertain/src/solver": 5_941,
    "rust/uncertain/src/transform": 2_576,
    "rust/uncertain-simd": 5_718,
    "rust/uncertain-python": 3_101,
    "tests/python": 29_350,
    "tests/rust": 5_980,
    "benches": 4_301,
    "papers": 3_410,
}


def lines(files: list[str], folder: str) -> int:
    wanted = [f for f in files if f.startswith(folder + "/") and Path(f).suffix in (".py", ".pyi", ".rs")]
    return sum(Path(f).read_text(encoding="utf-8").count("\n") for f in wanted if Path(f).is_file())


def main() -> int:
    files = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")
    sizes = {folder: lines(files, folder) for folder in CEILINGS}
    for folder, size in sizes.items():
        if size > CEILINGS[folder]:
            print(f"{folder} has {size} lines, its ceiling is {CEILINGS[folder]} (tools/check_ceilings.py)")
    return int(any(size > CEILINGS[folder] for folder, size in sizes.items()))


if __name__ == "__main__":
    sys.exit(main())
