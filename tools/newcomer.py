"""How a newcomer finds things on the built site: clicks from the first page, and the search's first answer.

`python tools/newcomer.py`, after `make docs`. Clicks are the fewest along links; a search is typed into the
site's own search page in Chromium, as `make docs-look` opens it. A thing is found where any of the named
pages comes first. The exit code is 1 where a goal is missed: two clicks to each of the twelve things, 27 of
the 30 terms.

2026-11-23: all twelve things within two clicks, 30 of 30 terms. From an empty folder, on a busy machine: 21 s
to install what the wheel needs, 6 s more to the first result from an own CSV file of 400 rows.
"""

from __future__ import annotations

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urldefrag, urljoin

from look_at_docs import BUILT, chromium, served

CLICKS, FOUND = 2, 27

THINGS = {
    "install it": "guide/installation",
    "five-minute tutorial": "gallery_pages/0_tutorial/plot_tutorial",
    "read my table": "guide/your-table",
    "which model": "guide/which-model",
    "spread or measurement error": "guide/meaning",
    "are my error bars right": "guide/check-errors",
    "prediction sets": "guide/sets-and-intervals",
    "what to measure again": "guide/what-to-measure",
    "errors in x and y": "guide/errors-in-both",
    "parameters of fit": "guide/generated/uncertain.fit",
    "command line": "guide/command-line",
    "cite": "start/cite",
}
TERMS = {
    "cite": ("start/cite",),
    "errors in x and y": ("guide/errors-in-both", "gallery_pages/2_methods/plot_errors_in_both"),
    "missing": ("guide/missing", "guide/your-table", "gallery_pages/3_kinds/plot_gaps"),
    "upper limits": ("guide/errors-in-both", "guide/your-table"),
    "save": ("guide/model-file", "guide/generated/uncertain.Model.save",
             "gallery_pages/5_larger/plot_model_file"),
    "asymmetric": ("gallery_pages/3_kinds/plot_asymmetric", "guide/error-bars"),
    "install": ("guide/installation",),
    "which model": ("guide/which-model",),
    "command line": ("guide/command-line",),
    "onnx": ("guide/model-file", "guide/generated/uncertain.Model.to_onnx"),
    "rust": ("guide/rust",),
    "dask": ("guide/on-a-cluster", "gallery_pages/5_larger/plot_dask", "guide/generated/uncertain.dask.fit"),
    "replicates": ("gallery_pages/3_kinds/plot_replicates", "guide/error-bars",
                   "guide/generated/uncertain.uncertainty.from_replicates"),
    "scikit-learn": ("guide/scikit-learn", "start/coming-from"),
    "memory": ("guide/larger-than-memory", "gallery_pages/5_larger/plot_larger_than_memory"),
    "larger than memory": ("guide/larger-than-memory",),
    "model file": ("guide/model-file", "gallery_pages/5_larger/plot_model_file"),
    "groups": ("gallery_pages/4_data/plot_groups", "guide/when-error-bars-help"),
    "prediction sets": ("guide/sets-and-intervals",),
    "intervals": ("guide/sets-and-intervals",),
    "check_errors": ("guide/generated/uncertain.check_errors", "guide/check-errors"),
    "glossary": ("guide/glossary",),
    "odr": ("start/coming-from-scipy-odr",),
    "logistic regression": ("guide/laws",),
    "poisson": ("guide/laws", "guide/generated/uncertain.laws.GeneralizedLinearLaw"),
    "denoiser": ("guide/denoiser", "guide/generated/uncertain.GaussianDenoiser"),
    "minimax": ("guide/generated/uncertain.MinimaxProbabilityClassifier",),
    "wrong labels": ("guide/huber", "gallery_pages/2_methods/plot_noisy_labels"),
    "changelog": ("changelog",),
    "error bars help": ("guide/when-error-bars-help",),
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
    sys.exit(far > 0 or right < FOUND)


if __name__ == "__main__":
    main()
