"""The arena: `python -m arena run|check|show|page|list|add`, in the folder `benches` (or `make arena`).

python -m arena run --data FOLDER [--quick] [--only WORD] [--methods WORD ...] [--jobs 2] [--out FILE]
                    [--cells FILE]       # a line for each fit; those that are there are not run again
python -m arena run --data FOLDER --methods WORD ... --into results.csv    # beside its other methods
python -m arena check --data FOLDER      # is uncertain.fit worse than in the stored result?
python -m arena show                     # tables of the stored result
python -m arena page                     # the table of the site, from the stored result
python -m arena list --data FOLDER       # tasks and methods, and why some cannot run
python -m arena add task|method NAME     # a file to fill in
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from . import results as store
from .again import renewed
from .method import Method, all_methods
from .page import PAGE, written
from .progress import Progress
from .run import Cell, cells, run
from .tables import of_task, overview
from .task import Task, all_tasks
from .templates import add

HERE = Path(__file__).parent
STORED = HERE / "results.csv"
QUICK_ROWS, LIMIT = 600, 900.0


def main() -> int:
    given = _arguments()
    if given.command == "add":
        print(add(given.kind, given.name))
    elif given.command == "list":
        _list(given.data)
    elif given.command == "show":
        _show(store.read(given.out or STORED))
    elif given.command == "page":
        PAGE.write_text(written(store.read(given.out or STORED), _ours()), encoding="utf-8")
    elif given.command == "run":
        if given.into:
            _as_before(given, store.read(given.into))
        _run(given, _chosen(given), given.out or given.into or STORED)
    else:
        return _check(given)
    return 0


def _ours() -> list[str]:
    return [method.name for method in all_methods() if method.ours]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m arena", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "check", "show", "page", "list", "add"))
    parser.add_argument("kind", nargs="?", choices=("task", "method"))
    parser.add_argument("name", nargs="?")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the tables")
    parser.add_argument("--quick", action="store_true", help=f"one split of {QUICK_ROWS} rows, some methods")
    parser.add_argument("--only", nargs="*", default=[], help="words of the names of tasks")
    parser.add_argument("--methods", nargs="*", default=[], help="words of the names of methods")
    parser.add_argument("--without", nargs="*", default=[], help="words of methods that are left out")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=int, help="rows to train with at most")
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time")
    parser.add_argument("--cells", type=Path, help="a line for each fit; those there are not run again")
    parser.add_argument("--into", type=Path, help="a result whose other methods, splits and rows are kept")
    parser.add_argument("--out", type=Path, help=f"the result (default: {STORED.name} beside this file)")
    return parser.parse_args()


def _chosen(given: argparse.Namespace) -> tuple[list[Task], list[Method]]:
    def named(name: str, words: list[str]) -> bool:
        return not words or any(word.lower() in name.lower() for word in words)

    tasks = []
    for task in all_tasks():
        reason = task.missing(given.data)
        if named(task.name, given.only) and not (given.quick and task.large):
            if reason:
                print(f"{task.name}: left out, {reason}")
            else:
                tasks.append(task)
    methods = []
    for method in all_methods():
        reason = method.absent()
        dropped = given.without and named(method.name, given.without)
        if named(method.name, given.methods) and not dropped and (method.quick or not given.quick):
            if reason:
                print(f"{method.name}: left out, {reason}")
            else:
                methods.append(method)
    return tasks, methods


def _run(
    given: argparse.Namespace, chosen: tuple[list[Task], list[Method]], out: Path | None
) -> dict[str, Any]:
    """Run, tell, and store."""
    tasks, methods = chosen
    splits, most = (1, QUICK_ROWS) if given.quick else (given.splits, given.rows)
    progress = Progress(given.cells, most)
    todo = list(cells(tasks, methods, splits))
    rest = [cell for cell in todo if progress.found(cell) is None]

    def keep(cell: Cell, one: dict[str, Any]) -> None:
        progress.keep(cell, one)
        if not one.get("skipped"):
            told = one.get("failed") or f"{one['fit']:.1f} s"
            print(f"{progress.seconds():6.0f} s  {cell.task.name}, {cell.method.name}: {told}", flush=True)

    def told() -> dict[str, Any]:
        found: store.Found = {task.name: {} for task in tasks}
        for cell in todo:
            if (one := progress.found(cell)) is not None:
                found[cell.task.name].setdefault(cell.method.name, []).append(one)
        if given.into:  # all splits of a method, or its former ones
            wanted = Counter((cell.task.name, cell.method.name) for cell in todo)
            found = {t: {m: c for m, c in own.items() if len(c) == wanted[t, m]} for t, own in found.items()}
        results = store.summary(found, {"splits": splits, "rows_at_most": most})
        return renewed(store.read(given.into), results) if given.into else results

    try:
        run(rest, given.data, most=most, jobs=given.jobs, limit=LIMIT, keep=keep)
    finally:  # what there is, if it is interrupted
        results = told()
        _show(results)
        if out is not None:
            store.write(out, results)
            print(f"stored in {out}")
    return results


def _as_before(given: argparse.Namespace, before: dict[str, Any]) -> None:
    about = before["about"]
    given.splits, given.rows, given.quick = about["splits"], about["rows_at_most"], False


def _check(given: argparse.Namespace) -> int:
    before = store.read(STORED)
    _as_before(given, before)
    tasks, _ = _chosen(given)
    tasks = [task for task in tasks if task.name in before["tasks"]]
    now = _run(given, (tasks, [m for m in all_methods() if m.name == store.OURS]), given.out)
    lines = list(store.worse(before, now))
    print("\n".join(lines) if lines else "no task is worse than in the stored result")
    return 1 if lines else 0


def _show(results: dict[str, Any]) -> None:
    for name, entry in results["tasks"].items():
        print(f"\n## {name}\n")
        print("\n".join(of_task(entry)))
    print()
    print("\n".join(overview(results, _ours())))


def _list(folder: Path) -> None:
    for task in all_tasks():
        print(f"{task.name}: {task.missing(folder) or task.columns}")
    for method in all_methods():
        print(f"{method.name}: {method.absent() or ('ours' if method.ours else 'there')}")


if __name__ == "__main__":
    sys.exit(main())
