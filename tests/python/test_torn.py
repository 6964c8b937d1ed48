"""The check of `make lint` for sentences that were torn by wrapping finds them, and nothing else."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PATH = Path(__file__).parents[2] / "tools" / "check_torn.py"
SPEC = importlib.util.spec_from_file_location("check_torn", PATH)
assert SPEC is not None and SPEC.loader is not None
CHECK = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(CHECK)

TORN = '''
"""A sentence of a docstring that ends too
early for no reason."""


def f(names):
    """One line.

    x : int
        What it is. A description that was edited
        once.
    """
    # A comment that was shortened and
    # goes on here.
    raise ValueError(
        "none of these can be read: "
        "pass a list of "
        f"names, such as {names}"
    )
'''

WHOLE = '''
"""A summary.

Parameters, a list, a formula and an example may have short lines:

- one
- two

    y = a x
    z = b

>>> f(1)
1

.. code-block:: text

    short lines
    of a block
"""


def f(names):
    """Short.

    x : int
        What it is.
    y : str
    """
    print("one sentence.\\n" "another")
    raise ValueError(
        f"{names}: this is as long as a line of this project may be when it has the indentation of this one; "
        "so it goes on here"
    )
'''


def test_torn_sentences_are_found() -> None:
    places = [text for _, text in CHECK.torn(TORN)]
    assert places == [
        '"""A sentence of a docstring that ends too',
        "What it is. A description that was edited",
        "A comment that was shortened and",
        "pass a list of",
    ]


def test_short_lines_on_purpose_are_left_alone() -> None:
    assert CHECK.torn(WHOLE) == []
