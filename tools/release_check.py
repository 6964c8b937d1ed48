"""Everything that can be checked before a release, in one table; publishes nothing: `make release-check`.

A check that needs what is not here (a tool, the network, a published baseline) is reported as skipped, by
name and with the reason, and never as passed. The exit code is 1 if a check failed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
DIST = ROOT / "dist"
CRATES = ("uncertain-simd", "uncertain-learn")
NETWORK = (
    "failed to fetch",
    "could not resolve",
    "connection",
    "timed out",
    "failed to download",
    "max retries",
    "failed to lookup",
    "couldn't fetch",
    "unable to update registry",
    "name or service not known",
    "unreachable",
    "failed to retrieve",
)
"""Words of tools that could not reach what they need."""


class Skipped(Exception):
    """Why a check could not be done here."""


def run(*command: str | Path, needs_network: bool = False) -> str:
    """The output of a command; Skipped where it failed for want of the network, else RuntimeError."""
    if shutil.which(str(command[0])) is None:
        raise Skipped(f"{Path(command[0]).name} is not installed")
    done = subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode:
        if needs_network and any(word in said.lower() for word in NETWORK):
            raise Skipped(f"needs the network: {said.strip().splitlines()[-1][:150]}")
        raise RuntimeError(said.strip()[-3000:])
    return said


def cargo_tool(name: str, *arguments: str) -> str:
    """A subcommand of cargo that is installed by itself."""
    if shutil.which(f"cargo-{name}") is None:
        raise Skipped(f"cargo-{name} is not installed (cargo install --locked cargo-{name})")
    return run("cargo", name, *arguments, needs_network=True)


def wheels() -> list[Path]:
    return sorted(DIST.glob("*.whl"))


def build() -> str:
    """The wheel, as it would be published."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(BIN / "maturin", "build", "--release", "--locked", "--out", DIST)
    run(BIN / "maturin", "sdist", "--out", DIST)
    return ", ".join(f"{path.name} ({path.stat().st_size / 1e6:.1f} MB)" for path in sorted(DIST.iterdir()))


def contents() -> str:
    """The wheel holds what users need and nothing else."""
    names = zipfile.ZipFile(wheels()[0]).namelist()
    for wanted in (
        "uncertain/py.typed",
        "uncertain/_uncertain.pyi",
        "licenses/LICENSE",
        "licenses/THIRD-PARTY-LICENSES.txt",
    ):
        assert any(name.endswith(wanted) for name in names), wanted
    strange = [
        name
        for name in names
        if "__pycache__" in name or name.startswith(("tests", "docs", "benches", "papers"))
    ]
    assert not strange, strange
    return f"{len(names)} files"


def pythons() -> list[str]:
    """This Python and every newer one that can be found."""
    found = [sys.executable]
    for minor in range(sys.version_info.minor + 1, 20):
        on_path = shutil.which(f"python3.{minor}")
        versions = sorted(map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python")))
        for path in [on_path, *versions] if on_path else versions:
            if not subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True).returncode:
                found.append(path)
                break
    return found


def smoke() -> str:
    """The wheel in empty environments without Rust."""
    run(sys.executable, ROOT / "tools" / "smoke_wheel.py", DIST, "--python", *pythons())
    return f"{len(pythons())} Pythons: required packages only, newest tables, oldest dependencies on 3.11"


def build_from_sdist() -> str:
    """The sdist has all files that a build needs."""
    sdist = next(DIST.glob("*.tar.gz"))
    names = subprocess.run(["tar", "tzf", sdist], capture_output=True, text=True, check=True).stdout.split()
    for wanted in (
        "Cargo.lock",
        "rust/uncertain/src/lib.rs",
        "rust/uncertain-simd/src/lib.rs",
        "python/uncertain/py.typed",
        "LICENSE",
        "THIRD-PARTY-LICENSES.txt",
    ):
        assert any(name.endswith(wanted) for name in names), wanted
    return f"{sdist.name}, {len(names)} files (its build is a job of the release workflow)"


def package_crates() -> str:
    """The crates as they would be uploaded, compiled from their packages."""
    arguments = [word for crate in CRATES for word in ("-p", crate)]
    run("cargo", "package", "--locked", "--allow-dirty", *arguments, needs_network=True)
    return "compiled from the packages: " + ", ".join(CRATES)


def publish_crates() -> str:
    arguments = [word for crate in CRATES for word in ("-p", crate)]
    run(
        "cargo",
        "publish",
        "--dry-run",
        "--locked",
        "--allow-dirty",
        "--no-verify",
        *arguments,
        needs_network=True,
    )
    return "dry run"


def workflows() -> str:
    files = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *files)
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.dependabot", ".github/dependabot.yml")
    return f"{len(files)} workflows fit the schema"


def semantic_versions() -> str:
    try:
        cargo_tool("semver-checks", "-p", "uncertain-learn")
    except RuntimeError as error:
        if "not found in registry" in str(error):
            raise Skipped("no version of uncertain-learn is published to compare with") from error
        raise
    return "no break since the published version"


def licences() -> str:
    run(sys.executable, "tools/third_party_licenses.py", "--check")
    return "up to date"


def allowed() -> str:
    cargo_tool("deny", "check", "licenses", "bans", "sources")
    return "as deny.toml says"


def metadata() -> str:
    run(BIN / "twine", "check", "--strict", *DIST.iterdir())
    return "valid"


def stable_abi() -> str:
    run(BIN / "abi3audit", "--strict", *wheels())
    return "only symbols of the stable ABI of Python 3.11"


def audit() -> str:
    said = run(BIN / "pip-audit", "--skip-editable", needs_network=True)
    unknown = said.count("could not be audited")
    if unknown:  # which pip-audit itself counts as success
        raise Skipped(f"the advisories of {unknown} packages cannot be reached")
    return "no known fault"


CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("third-party licences", licences),
    ("maturin build, sdist", build),
    ("contents of the wheel", contents),
    ("contents of the sdist", build_from_sdist),
    ("twine check --strict", metadata),
    ("abi3audit", stable_abi),
    ("smoke tests of the wheel", smoke),
    ("cargo package", package_crates),
    ("cargo publish --dry-run", publish_crates),
    ("cargo deny: licences, bans", allowed),
    ("cargo deny: advisories", lambda: cargo_tool("deny", "check", "advisories") and "none"),
    ("cargo semver-checks", semantic_versions),
    ("pip-audit", audit),
    ("workflows: schema", workflows),
    ("workflows: zizmor", lambda: run(BIN / "zizmor", "--offline", "--quiet", ".github") or "no findings"),
    ("workflows: actionlint", lambda: run("actionlint") or "no findings"),
    ("citation", lambda: run("cffconvert", "--validate", "-i", "CITATION.cff") and "valid"),
)


def main() -> None:
    os.environ.setdefault("PYO3_PYTHON", sys.executable)
    failed = 0
    only = sys.argv[1:]
    for name, check in CHECKS:
        if only and not any(word in name for word in only):
            continue
        try:
            state, said = "passed", check()
        except Skipped as why:
            state, said = "SKIPPED", str(why)
        except (RuntimeError, AssertionError, StopIteration) as error:
            state, said = "FAILED", str(error)
            failed += 1
        lines = said.strip().splitlines() or [""]
        print(f"{state:8} {name:28} {lines[-1] if state == 'passed' else said}", flush=True)
    print("Nothing was published.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
