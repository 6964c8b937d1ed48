"""Tables of UCI whose features are read with simulated errors."""

from __future__ import annotations

from arena.table import simulated
from arena.task import Task

COMMON = {"licence": "CC BY 4.0", "published": "with exact values only"}
AIRFOIL, WINE = "airfoil_self_noise.parquet", "wine_quality_red.parquet"
TASKS = [
    Task(
        "airfoil", simulated("airfoil", "sound_pressure_level_db", 0.2, AIRFOIL), needs=(AIRFOIL,),
        source="UCI 291", columns="5 quantities, read with errors of typically .2 spreads", **COMMON,
    ),
    Task(
        "wine quality", simulated("wine quality", "quality", 0.3, WINE), needs=(WINE,),
        source="UCI 186, red", columns="11 quantities, read with errors of typically .3 spreads", **COMMON,
    ),
]  # fmt: skip
