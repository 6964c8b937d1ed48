"""The criterion benches of the Rust crate, as rows of the table."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "target" / "criterion"


def run() -> None:
    """Run all of them; criterion leaves its estimates in target/criterion."""
    command = ["cargo", "bench", "--locked", "-p", "uncertain-learn"]
    subprocess.run([*command, "--", "--warm-up-time", "1", "--measurement-time", "2"], cwd=ROOT, check=True)


def read() -> dict[str, tuple[float, float]]:
    """id -> (median seconds, what it counts per second: bytes, elements, or runs)."""
    found = {}
    for path in sorted(RESULTS.rglob("new/benchmark.json")):
        bench = json.loads(path.read_text(encoding="utf-8"))
        estimates = json.loads(path.with_name("estimates.json").read_text(encoding="utf-8"))
        seconds = estimates["median"]["point_estimate"] * 1e-9
        amount = next(iter((bench["throughput"] or {"runs": 1}).values()))
        found[bench["full_id"]] = (seconds, amount / seconds)
    return found
