"""`uncertain.fit(path, target=...)` of tables as archives hand them out: the model, what is said, the time.

Usage: .venv/bin/python benches/python/archives.py [--data ../shared/data] [--only WORD] [--method gsu]

Each fit is a process of its own. The page "Your table" of the guide shows what this prints.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from pathlib import Path

import uncertain

ARCHIVES = {
    "Kepler, NASA Exoplanet Archive": ("kepler_koi_cumulative.parquet", "koi_disposition"),
    "TESS, NASA Exoplanet Archive": ("tess_toi.csv.gz", "tfopwg_disp"),
    "TESS, radii": ("tess_toi.csv.gz", "pl_rade"),
    "Fermi 3FGL": ("fermi_3fgl.fit.gz", "CLASS1"),
    "simulated galaxies (dc2)": ("dc2_photoz_training.parquet", "redshift"),
    "Pantheon+": ("pantheon_plus_supernovae.parquet", "mB"),
    "Pantheon+, moduli": ("pantheon_plus_supernovae.parquet", "MU_SH0ES"),
    "news (UCI 326)": ("tv_news_commercials_bbc_ndtv.parquet", "label"),
    "biopsies (WDBC, UCI)": ("wdbc.parquet", "diagnosis"),
}


def one(path: Path, target: str, method: str) -> None:
    """Fit, and print what a user sees."""
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            print(uncertain.fit(path, target=target, method=method))  # type: ignore[arg-type]
        except uncertain.UncertainError as error:
            print(f"{type(error).__name__}: {error}")
    for warning in caught:
        print(f"{warning.category.__name__}: {warning.message}")
    print(f"{time.process_time() - start:.1f} s of the processor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", default="", help="a word of the name")
    parser.add_argument("--method", default="auto")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(Path(options.one[0]), options.one[1], options.method)
        return
    for name, (file, target) in ARCHIVES.items():
        if options.only.lower() in name.lower():
            print(f'\n# {name}: uncertain.fit("{file}", target="{target}")', flush=True)
            call = [
                sys.executable,
                __file__,
                "--method",
                options.method,
                "--one",
                options.data / file,
                target,
            ]
            subprocess.run(call, check=False)


if __name__ == "__main__":
    main()
