"""Options, data, tables and pictures of the programs of this folder."""

import argparse
import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import polars as pl
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "_static"

T = TypeVar("T")


def options(description: str, argv: Sequence[str] | None, *, data: bool = False) -> argparse.Namespace:
    """--quick tries a program on little data."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little data; draw nothing")
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


def report(tables: Mapping[str, str]) -> str:
    """Print the tables, each under its name."""
    text = "\n\n".join(f"{name}\n\n{table}" for name, table in tables.items())
    print(text)
    return text


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
        image.save(PICTURES / name, optimize=True)


def progress(work: Sequence[T], label: str) -> Iterator[T]:
    """The items of `work` with a bar on the terminal."""
    with click.progressbar(work, label=label, file=sys.stderr) as bar:
        yield from bar


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of some runs: other processes do not count, threads do."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
