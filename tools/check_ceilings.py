"""Folders stay below their ceilings of lines: `make lint` runs this. Ceilings only go down.

The numbers are lines of tracked .py and .pyi files (Rust: .rs files with their tests). An issue that adds a
behaviour books its lines here, in the commit that adds them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CEILINGS = {
    "python": 41_000,
    "tests/python": 36_000,
    "rust": 71_100,
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
