"""How a newcomer finds things on the built site: clicks from the first page, and the search's first answer.

`python tools/newcomer.py`, after `make docs`. Clicks are the fewest along links; a search is typed into the
site's own search page in Chromium, as `make docs-look` opens it. A thing is found where any of the named
pages comes first. The exit code is 1 where a goal is missed: two clicks to each of the things, all but three
of the terms.
"""

from __future__ import annotations

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin

from look_at_docs import BUILT, chromium, served

CLICKS, MISSED = 2, 3

THINGS = {
    "install, on which platforms": "start/install",
    "predict with new error sizes": "how-to/predict",
    "my errors are 90 % intervals": "how-to/error-bars",
    "upper limits": "how-to/missing",
    "correlated and systematic errors": "how-to/correlated",
    "save, load, deploy": "how-to/deploy",
    "pipeline with GridSearchCV": "how-to/scikit-learn",
    "which method, how long": "how-to/choose",
    "missing values": "how-to/missing",
    "prediction interval": "how-to/predict",
    "feature importance": "how-to/check",
    "parameters of fit": "reference/generated/uncertain.fit",
    "command line": "reference/command-line",
}
TERMS = {
    "errors in x and y": ("how-to/slope", "gallery_pages/3_models/plot_errors_in_both"),
    "missing": ("how-to/missing", "gallery_pages/2_errors/plot_gaps"),
    "upper limits": ("how-to/missing",),
    "save": ("how-to/deploy", "reference/generated/uncertain.Model.save"),
    "deploy": ("how-to/deploy",),
    "asymmetric": ("gallery_pages/2_errors/plot_asymmetric", "how-to/missing"),
    "install": ("start/install",),
    "choose a model": ("how-to/choose",),
    "command line": ("reference/command-line",),
    "onnx": ("how-to/deploy", "reference/generated/uncertain.Model.to_onnx"),
    "dask": ("how-to/large-data", "reference/generated/uncertain.dask.fit"),
    "replicates": ("gallery_pages/2_errors/plot_replicates", "how-to/error-bars"),
    "gridsearchcv": ("how-to/scikit-learn",),
    "larger than memory": ("how-to/large-data", "gallery_pages/3_models/plot_larger_than_memory"),
    "model file": ("reference/model-file",),
    "groups": ("gallery_pages/3_models/plot_groups", "how-to/correlated"),
    "intervals": ("how-to/predict", "how-to/error-bars"),
    "systematic": ("how-to/correlated",),
    "check_errors": ("reference/generated/uncertain.check_errors", "how-to/check"),
    "feature importance": ("how-to/check",),
    "odr": ("how-to/migrate",),
    "poisson": ("methods/laws", "reference/generated/uncertain.laws.GeneralizedLinearLaw"),
    "outliers": ("methods/laws",),
    "wrong labels": ("methods/labels",),
    "error bars help": ("methods/choice",),
    "benchmarks": ("benchmarks",),
}  # fmt: skip


class Links(HTMLParser):
    """The addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An anchor."""
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]


def fewest_clicks(folder: Path) -> dict[str, int]:
    """By page how many clicks from the first one."""
    clicks, queue = {"index.html": 0}, deque(["index.html"])
    while queue:
        page = queue.popleft()
        links = Links()
        links.feed((folder / page).read_text(encoding="utf-8"))
        for link in links.found:
            name = urldefrag(urljoin(f"http://site/{page}", link)).url.removeprefix("http://site/")
            if name not in clicks and name.endswith(".html") and (folder / name).is_file():
                clicks[name] = clicks[page] + 1
                queue.append(name)
    return clicks


def first_answers(folder: Path) -> dict[str, str]:
    """By term the page that the search puts first."""
    found = {}
    with served(folder) as address, chromium() as browser:
        page = browser.new_page()
        for term in TERMS:
            page.goto(f"{address}/search.html?q={quote(term)}")
            try:
                page.wait_for_selector("ul.search li a", timeout=10_000)
                page.wait_for_timeout(300)
                link = page.locator("ul.search li a").first.get_attribute("href") or ""
            except Exception:  # nothing was found
                link = ""
            found[term] = urldefrag(link).url.partition("?")[0].removesuffix(".html").removeprefix("./")
    return found


def main() -> None:
    """Two tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILT
    clicks = fewest_clicks(folder)
    far = 0
    for thing, page in THINGS.items():
        count = clicks.get(f"{page}.html")
        far += count is None or count > CLICKS
        print(f"{count if count is not None else '-':>3} clicks  {thing}")
    right = 0
    for term, first in first_answers(folder).items():
        hit = first in TERMS[term]
        right += hit
        print(f"{'ok ' if hit else 'NO '} {term:24} {first}")
    print(
        f"{len(THINGS) - far} of {len(THINGS)} things within {CLICKS} clicks, {right} of {len(TERMS)} terms"
    )
    sys.exit(far > 0 or right < len(TERMS) - MISSED)


if __name__ == "__main__":
    main()
