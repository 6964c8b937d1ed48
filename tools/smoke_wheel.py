"""Install a wheel (or an sdist) into empty environments and run tests/smoke.py there.

    python tools/smoke_wheel.py dist [--python python3.12 ...] [--interpreter python3.14t] [--newest-only]

Three environments for each Python: nothing but the required packages; the newest of all tables' libraries;
and, on Python 3.11, the oldest versions that pyproject.toml allows (tests/oldest.txt). Rust is taken off the
PATH, so that a wheel cannot be compiled unseen; for an sdist it stays.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLES = ("pandas", "polars", "pyarrow")


def without_rust() -> dict[str, str]:
    """The environment with no folder on the PATH that has cargo or rustc."""
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [f for f in folders if not any(shutil.which(tool, path=f) for tool in ("cargo", "rustc"))]
    hidden = {"PYTHONPATH", "VIRTUAL_ENV", "CARGO_HOME", "RUSTUP_HOME"}
    return {k: v for k, v in os.environ.items() if k not in hidden} | {"PATH": os.pathsep.join(kept)}


def archive_in(folder: Path) -> Path:
    """The newest wheel, or the newest sdist where there is no wheel."""
    for pattern in ("*.whl", "*.tar.gz"):
        found = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
        if found:
            return found[-1]
    sys.exit(f"{folder}: neither a wheel nor an sdist")


def smoke(python: str, archive: Path, name: str, packages: list[str], options: list[str]) -> None:
    """One empty environment."""
    print(f"-- {python}, {name}", flush=True)
    environment = without_rust() if archive.suffix == ".whl" else dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True, env=environment)
        binary = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = [binary, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options]
        subprocess.run([*install, archive, *packages], check=True, env=environment)
        subprocess.run([binary, "-m", "pip", "check"], check=True, env=environment)
        test = ROOT / "tests" / "smoke.py"
        subprocess.run([binary, "-I", test], check=True, env=environment, cwd=folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("dist", type=Path)
    parser.add_argument(
        "--python", nargs="+", default=[], help="interpreters; by default the one that runs this"
    )
    parser.add_argument(
        "--interpreter", help="the one that the wheel was built for, as the workflow names it"
    )
    parser.add_argument("--newest-only", action="store_true")
    given = parser.parse_args()
    archive = archive_in(given.dist.resolve()).resolve()
    pythons = given.python or [sys.executable]
    if given.interpreter and given.interpreter.endswith("t"):
        pythons = [given.interpreter]
    for python in pythons:
        version = subprocess.run(
            [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        binary_only = ["--only-binary", ":all:"] if archive.suffix == ".whl" else []
        if given.newest_only:
            smoke(python, archive, "newest, required packages only", [], [])
            continue
        smoke(python, archive, "newest, required packages only", [], binary_only)
        smoke(python, archive, "newest, with tables", list(TABLES), binary_only)
        if version == "3.11":
            oldest = ["-c", str(ROOT / "tests" / "oldest.txt"), *binary_only]
            smoke(python, archive, "oldest", list(TABLES), oldest)


if __name__ == "__main__":
    main()
