"""What the scripts of this folder share: options, data, tables, pages of docs/papers."""

import argparse
import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import polars as pl
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "papers"
PROGRESS = "UNCERTAIN_PAPERS_PROGRESS"
"""Name of the environment variable in which run.py names the file that it reads a script's progress from."""

T = TypeVar("T")


def options(description: str, argv: Sequence[str] | None, *, data: bool = False) -> argparse.Namespace:
    """--quick tries a script out on little data: it prints, and never writes a page."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little data; write nothing")
    if data:
        parser.add_argument(
            "--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of Parquet files"
        )
    return parser.parse_args(argv)


def load(folder: Path, name: str, target: str, origin: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features and target of FOLDER/NAME.parquet; a column called `row` is only a number."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        raise SystemExit(
            f"{path} is not there. Original: {origin}; as Parquet with {target!r} as the target."
        )
    frame = pl.read_parquet(path)
    features = frame.drop(target, *({"row"} & set(frame.columns))).cast(pl.Float64)
    return features.to_numpy(), frame[target].cast(pl.Float64).to_numpy()


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 1) -> str:
    """Markdown; the columns from `numbers` on are aligned right."""
    marks = ["---" if k < numbers else "---:" for k in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, marks, *rows])


def update(pages: str, tables: Mapping[str, str], *, quick: bool) -> str:
    """Print the tables, and put each between its two comments in the page that has them, of those named."""
    report = "\n\n".join(tables.values())
    print(report)
    if not quick:
        for key, content in tables.items():
            mark = f"<!-- {key} -->"
            (path,) = (path for path in PAGES.glob(pages) if mark in path.read_text(encoding="utf-8"))
            before, rest = path.read_text(encoding="utf-8").split(mark)
            text = f"{before}{mark}\n\n{content}\n\n<!-- end -->{rest.split('<!-- end -->', 1)[1]}"
            path.write_text(text, encoding="utf-8")
    return report


def panels(width: float, height: float, columns: int, *, rows: int = 1, **shared: Any) -> tuple[Any, Any]:
    """A figure that needs no display, and its axes side by side (or in rows)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **shared)


def picture(name: str, figure: Any, *, quick: bool, colors: int = 96) -> None:
    """A PNG of few colours, which is a third of the size; a --quick run draws it and drops it."""
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    if not quick:
        image = Image.open(buffer).convert("RGB").quantize(colors, dither=Image.Dither.NONE)
        image.save(PAGES / name, optimize=True)


def progress(work: Sequence[T], label: str) -> Iterator[T]:
    """The items of `work` with a bar on the terminal, or, under run.py, with a share done in its file."""
    file = os.environ.get(PROGRESS)
    with click.progressbar(work, label=label, file=sys.stderr, hidden=bool(file)) as bar:
        for done, item in enumerate(bar):
            yield item
            if file:
                Path(file).write_text(str((done + 1) / len(work)), encoding="utf-8")


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some runs: other processes do not count, threads do."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
