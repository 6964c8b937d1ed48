"""Look at every page of the built site as a reader would: `make docs-look`, after `make docs`.

Each page is opened in Chromium, wide (1400 pixels) and on a phone (390), light and dark. What fails:
code that is cut, a page that scrolls sideways, errors of the console, pictures without alternative text,
text below the contrast of WCAG AA, a page that begins with neither a sentence nor a program, and one longer
than 12,000 pixels when wide (but for source code and the index, which Sphinx writes). Sphinx finds none of
these, and looking by hand finds them once.

Not part of `make test`: it needs Chromium (Debian: apt install chromium; or `playwright install chromium`).
With `--pictures FOLDER` each page is saved as a picture in all four states.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

BUILT = Path(__file__).resolve().parents[1] / "docs/_build/html"
WIDTHS = (1400, 390)
SCHEMES = ("light", "dark")
NO_PROSE = ("search.html", "genindex.html", "py-modindex.html", "_modules/", "gallery_pages/used_in/")
"""Pages that Sphinx makes, which have no text of ours."""

FIND = (Path(__file__).parent / "look_at_docs.js").read_text()


class QuietServer(ThreadingHTTPServer):
    """A browser that leaves before a file has come is no error."""

    def handle_error(self, *_: object) -> None:
        """Nothing."""


class QuietHandler(SimpleHTTPRequestHandler):
    """A server of files that does not print what it serves."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address under which the folder is served while the block runs."""
    server = QuietServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser: the one of the system, or playwright's own."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("This needs playwright: pip install playwright.")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def pages_below(folder: Path, only: str) -> list[str]:
    """The pages' addresses, relative to the folder."""
    found = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.html")))
    return [name for name in found if not name.startswith(("_static/", "rust/")) and only in name]


def faults_on_page(page: Any, address: str, name: str, pictures: Path | None) -> Iterator[tuple[str, str]]:
    """Where (width and scheme) and what is wrong with a page."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{address}/{name}", wait_until="load")
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            prose = not name.startswith(NO_PROSE)
            for fault in page.evaluate(FIND, {"width": width, "prose": prose}):
                yield f"{width} {scheme}", fault
            if pictures:
                path = pictures / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{scheme}.png"
                page.screenshot(path=path, full_page=True)
    for text in said:
        yield "console", text


def main() -> None:
    """Print what is wrong, page by page; the exit code is 1 where anything is."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=BUILT, help="the built site")
    parser.add_argument("--only", default="", help="pages whose address has this in it")
    parser.add_argument("--pictures", type=Path, help="a folder for a picture of each page in each state")
    options = parser.parse_args()
    names = pages_below(options.folder, options.only)
    if not names:
        sys.exit(f"There is no page in {options.folder}: run make docs first.")
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)

    kinds: Counter[str] = Counter()
    with served(options.folder) as address, chromium() as browser:
        for name in names:
            page = browser.new_page()
            found: dict[str, list[str]] = {}
            for where, fault in faults_on_page(page, address, name, options.pictures):
                found.setdefault(fault, []).append(where)
            page.close()
            for fault, states in found.items():
                kinds[fault.partition(":")[0]] += 1
                print(f"{name} [{', '.join(states)}] {fault}")
    print(f"{len(names)} pages, {sum(kinds.values())} faults", dict(kinds) if kinds else "")
    sys.exit(bool(kinds))


if __name__ == "__main__":
    main()
