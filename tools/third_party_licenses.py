"""Write THIRD-PARTY-LICENSES.txt: the Rust crates that are linked into the extension, and their licences.

    python tools/third_party_licenses.py           # write the file
    python tools/third_party_licenses.py --check   # exit 1 if it is not what would be written

The file ships in the wheel. A crate that may be taken under Apache-2.0 is taken under it, and its text
stands once, in LICENSE beside this file; for all others their own files are quoted. A crate without one is an
error. deny.toml says which licences are allowed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "THIRD-PARTY-LICENSES.txt"
OWN = ("uncertain-learn", "uncertain-simd", "uncertain-python")
HEAD = """\
Third-party software in the extension module of uncertain-learn
===============================================================

Written by tools/third_party_licenses.py from Cargo.lock. The crates below are linked into the wheels; which
of them a wheel holds depends on its platform.
"""


def linked() -> dict[str, str]:
    """ "name version" of every crate that is linked in, on any platform, and its licence expression."""
    command = ["cargo", "tree", "--locked", "-p", "uncertain-python", "-e", "normal", "--target", "all"]
    done = subprocess.run(
        [*command, "--prefix", "none", "--format", "{p}\t{l}"], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    crates = {}
    for line in done.stdout.splitlines():
        package, _, expression = line.partition("\t")
        name, version = package.split()[:2]
        if name not in OWN:
            crates[f"{name} {version.removeprefix('v')}"] = expression.removesuffix(" (*)").strip()
    return dict(sorted(crates.items()))


MIT = """\
MIT License

Copyright (c) {authors}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
"""For the crates that say "MIT" in their manifest and ship no file."""


def packages() -> dict[str, dict[str, Any]]:
    """cargo's description of each package."""
    done = subprocess.run(
        ["cargo", "metadata", "--locked", "--format-version", "1"], cwd=ROOT, capture_output=True, check=True
    )
    found = json.loads(done.stdout)["packages"]
    return {f"{package['name']} {package['version']}": package for package in found}


def texts(package: dict[str, Any]) -> list[str]:
    """The licence files of a crate."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(
        path
        for path in folder.iterdir()
        if path.is_file() and path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))
    )
    if not files and package["license"] == "MIT":
        authors = ", ".join(author.partition(" <")[0] for author in package["authors"])
        return [MIT.format(authors=authors or f"the authors of {package['name']}").strip()]
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in files]


def written() -> str:
    """The text of the file."""
    crates, where = linked(), packages()
    apache = [crate for crate, terms in crates.items() if "Apache-2.0" in terms and " AND " not in terms]
    quoted: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for crate in crates.keys() - set(apache):
        found = tuple(texts(where[crate]))
        if not found:
            sys.exit(f"{crate}: no licence file, and its licence is {crates[crate] or 'not stated'}")
        quoted[found].append(crate)
    parts = [HEAD, "Under the Apache License, Version 2.0 (its text is in LICENSE)\n" + "-" * 62 + "\n"]
    parts.append("".join(f"{crate} ({crates[crate]})\n" for crate in apache))
    for found, owners in sorted(quoted.items(), key=lambda pair: sorted(pair[1])):
        title = ", ".join(f"{crate} ({crates[crate]})" for crate in sorted(owners))
        parts.append(f"{title}\n{'-' * min(len(title), 110)}\n\n" + "\n\n".join(found) + "\n")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    text = written()
    if not parser.parse_args().check:
        OUT.write_text(text, encoding="utf-8")
    elif not OUT.exists() or OUT.read_text(encoding="utf-8") != text:
        sys.exit(f"{OUT.name} is out of date: run python tools/third_party_licenses.py")


if __name__ == "__main__":
    main()
