"""The arena's pages on the site from the stored result: a summary with pictures, and one for each task."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .critical_difference import draw
from .tables import of_task, overview
from .task import Task, all_tasks

DOCS = Path(__file__).parents[2] / "docs"
HEAD = Path(__file__).with_name("page_head.md")
"""The text in front of the tables."""
PICTURE = """
```{{image}} ../_static/{name}
:alt: {alt}
:width: 640px
:align: center
```
"""
CONTENTS = """
```{{toctree}}
:hidden:

{names}
```
"""


def write_pages(results: dict[str, Any], ours: list[str]) -> str:
    """Where the summary was written; the tasks are in the folder beside it."""
    summary, folder = DOCS / "guide" / "arena.md", DOCS / "guide" / "arena"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    described = {task.name: task for task in all_tasks()}
    for name, entry in results["tasks"].items():
        lines = task_page(name, described.get(name), entry)
        (folder / f"{slug(name)}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    summary.write_text("\n".join(summary_page(results, ours, described)) + "\n", encoding="utf-8")
    return str(summary)


def slug(name: str) -> str:
    """The name of a task as that of a file."""
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def task_page(name: str, task: Task | None, entry: dict[str, Any]) -> Iterator[str]:
    """What is known of a task, and a line for each method."""
    train, test = entry["rows"]
    yield f"# Arena: {name}\n"
    if task is not None:
        yield f"{task.columns[0].upper()}{task.columns[1:]}. Published results: {task.published}.\n"
        yield f"Source: {task.source}. Licence: {task.licence}.\n"
    yield (
        f"Fitted to {train:,} rows, tested on {test:,}. Errors x 1 are those of the table, x 8 are eight "
        "times as large; lower losses are better. The [summary](../arena.md) says how it was measured.\n"
    )
    yield from of_task(entry)


def measured_again(results: dict[str, Any]) -> Iterator[str]:
    """Which methods are of a later date than the others, and what that means for differences."""
    methods = [(m, one) for entry in results["tasks"].values() for m, one in entry["methods"].items()]
    everywhere = Counter(m for m, _ in methods)
    runs = {run["date"]: run for run in results["about"].get("again", [])}
    for day, run in runs.items():
        counts = Counter(m for m, one in methods if one.get("date") == day)
        named = (f"`{m}` ({n} of {everywhere[m]} tasks)" for m, n in counts.items())
        yield (
            f"Measured again on {day}, with version {run.get('uncertain-learn', '?')}: {', '.join(named)}. "
            "Results of the other methods are those of the date above."
        )
    if runs:
        yield (
            "Differences are to the latest losses of `uncertain.fit`. Where block losses of the other method "
            "were not kept, the mean difference is exact, and its standard error is estimated from that of "
            "the difference to the former `uncertain.fit` (`benches/arena/again.py` has the formula)."
        )


def summary_page(results: dict[str, Any], ours: list[str], described: dict[str, Task]) -> Iterator[str]:
    """How it was measured, a line for each task, and mean ranks of methods."""
    about = results["about"]
    yield HEAD.read_text(encoding="utf-8").format(
        rows=f"{about['rows_at_most'] or 3_000:,}",
        splits="one split" if about["splits"] == 1 else f"{about['splits']} splits",
        command=f"python -m arena {about['command']}",
        version=about.get("uncertain-learn", "?"),
        date=about["date"],
        minutes=about["seconds"] // 60,
        machine=about.get("machine") or f"{about['cores']} cores, load {about['load_at_the_end']:.0f}",
        again="".join(f"\n{line}\n" for line in measured_again(results)),
    )
    links = {name: f"[{name}](arena/{slug(name)}.md)" for name in results["tasks"]}
    yield from overview(results, ours, links)
    yield "\n## Mean ranks\n"
    yield (
        "Ranks by the main loss at all sizes of errors, averaged over the tasks with classes (first picture) "
        "and with numbers (second), of the methods that were fitted to all of them. Methods joined by a bar "
        "do not differ by Nemenyi's test at 5 % (J. Demšar, Journal of Machine Learning Research 7, 2006)."
    )
    for regression, kind in ((False, "classes"), (True, "numbers")):
        name = f"arena-{kind}.png"
        if draw(results, regression=regression, path=DOCS / "_static" / name):
            alt = f"Mean ranks of methods over tasks with {kind}; bars join methods that do not differ."
            yield PICTURE.format(name=name, alt=alt)
    if absent := [name for name in described if name not in results["tasks"]]:
        yield f"Tasks without a result here: {', '.join(absent)}."
    yield CONTENTS.format(names="\n".join(f"{name} <arena/{slug(name)}>" for name in results["tasks"]))
