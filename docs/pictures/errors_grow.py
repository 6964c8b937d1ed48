"""The picture of the landing page and the README: accuracy as errors grow.

    .venv/bin/python docs/pictures/errors_grow.py [SPLITS]

Prints the table, too. What is compared, and how the noise is simulated: `uncertain/demo/_run.py`.
"""

import sys
from pathlib import Path

from uncertain.demo import _run as growing

if __name__ == "__main__":
    correct = growing.grow(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    growing.draw(correct, Path(__file__).parents[1] / "_static" / "errors-grow.png")
    print(growing.table(correct))
