"""The page "Arena" of the site, and its picture, from the stored result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .critical_difference import draw
from .tables import of_task, overview
from .task import all_tasks

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


def write_page(results: dict[str, Any], ours: list[str]) -> str:
    """Where it was written."""
    about = results["about"]
    splits = "one split" if about["splits"] == 1 else f"{about['splits']} splits"
    machine = about.get("machine") or f"{about['cores']} cores, load {about['load_at_the_end']:.0f}"
    told = (
        f"`python -m arena {about['command']}`, version {about.get('uncertain-learn', '?')}, "
        f"{about['date']}, {about['seconds'] // 60} minutes; {machine}"
    )
    rows = f"{about['rows_at_most'] or 3_000:,}"
    lines = [
        HEAD.read_text(encoding="utf-8").format(about=told, rows=rows, splits=splits),
        "## All tasks\n",
        *overview(results, ours),
    ]
    for kind, text in ((False, "classes"), (True, "numbers")):
        name = f"arena-{text}.png"
        if draw(results, regression=kind, path=DOCS / "_static" / name):
            alt = f"Mean ranks of methods over tasks with {text}; bars join methods that do not differ."
            lines.append(PICTURE.format(name=name, alt=alt))
    lines.append(
        "\nMean ranks over tasks, by the main loss (log loss, CRPS) at all sizes of errors, of the methods "
        "that were fitted to all of them. Methods joined by a bar do not differ by Nemenyi's test at 5 % "
        "(J. Demšar, Journal of Machine Learning Research 7, 2006).\n"
    )
    absent = [task.name for task in all_tasks() if task.name not in results["tasks"]]
    if absent:
        lines.append(f"Not in this result: {', '.join(absent)}.\n")
    described = {task.name: task for task in all_tasks()}
    for name, entry in results["tasks"].items():
        task = described.get(name)
        lines.append(f"\n## {name}\n")
        if task is not None:
            lines.append(
                f"{task.columns}. Source: {task.source}; licence: {task.licence}. "
                f"Published: {task.published}.\n"
            )
        lines += of_task(entry)
    path = DOCS / "guide" / "arena.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
