"""Real data with error bars that come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

__all__ = ["kepler", "wdbc"]


def kepler() -> polars.DataFrame:
    """Return 809 Kepler objects of interest of 700 stars, as catalogued.

    A random sample of the stars of NASA's cumulative table, without the candidates. Nothing was cleaned:
    values and error bars are missing in places, error bars are asymmetric, and some are zero.

    Returns
    -------
    polars.DataFrame
        `kepoi_name`; `kepid`, the star (pass ``groups="kepid"``: objects of a star share its quantities);
        `koi_disposition`, "CONFIRMED" (286) or "FALSE POSITIVE" (523); and eight quantities, each with its
        upper error ``<quantity>_err1`` >= 0 and its lower one ``<quantity>_err2`` <= 0: `koi_period` (days)
        and `koi_duration` (hours) of the transit, its `koi_depth` (parts per million) and impact parameter
        `koi_impact`, the radius `koi_prad` of what passes (Earth radii), and of the star the radius
        `koi_srad` (solar radii), the effective temperature `koi_steff` (K) and the surface gravity
        `koi_slogg` (log10 of cm / s^2).

    Notes
    -----
    Source: NASA Exoplanet Archive, table `cumulative` (public domain), doi 10.26133/NEA4.

    Examples
    --------
    >>> from uncertain.demo import kepler
    >>> kepler().shape
    (809, 27)
    """
    import polars

    return polars.read_parquet(Path(__file__).with_name("kepler.parquet"))


def wdbc() -> polars.DataFrame:
    """Return 569 breast biopsies (WDBC): ten features with standard errors.

    Returns
    -------
    polars.DataFrame
        `diagnosis`, "malignant" or "benign"; ten features, each the mean over the nuclei of a biopsy; and the
        standard error of each mean in `<feature>_se`.
    """
    import numpy as np
    import polars
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = [n.removeprefix("mean ").replace(" ", "_") for n in data.feature_names[:10]]
    columns = {"diagnosis": np.where(data.target == 0, "malignant", "benign")}
    for j, name in enumerate(names):
        columns[name] = data.data[:, j]
        columns[f"{name}_se"] = data.data[:, 10 + j]
    return polars.DataFrame(columns)
