"""Write docs/guide/errors.md from the cases of error_cases.py: `python tools/error_page.py`."""

from __future__ import annotations

import sys
from pathlib import Path

from error_cases import CASES, Case, Provoked, place, provoked

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "errors.md"

HEAD = """# Errors and what to do

Every error about data or parameters is an `uncertain.UncertainError`, which is a `ValueError`; the
subclasses in `uncertain.exceptions` tell kinds apart. It is raised before any work is done, and names the
column, the row (counted from 0) and the value. Warnings of this library are `UncertainWarning`s; fits that
end early warn with scikit-learn's `ConvergenceWarning`.

Search this page for the words of your message that are no name or number. Below each message is code that
provokes it: there `table` is a table with the columns u, u_err, v, v_err and label, `X` and `y` are its
rows as a `GaussianArray` and its labels, `numbers` is a table with a column of numbers, height, instead of
labels, `put` sets one value, `model` is a fit to the table and `folder` a folder. (`python
tools/error_page.py` writes this page by running them all.)
"""


def entry(case: Case, found: Provoked) -> str:
    """One message as Markdown."""
    code = "\n".join(f"    {line}" for line in case.code.splitlines())
    message = found.message.replace("`", "'")
    return (
        f"**{found.kind.__name__}**: `{message}`\n\n{code}\n\n*Cause:* {case.cause}\\\n*Cure:* {case.cure}\n"
    )


def page() -> str:
    """The whole page, from running every case."""
    parts = [HEAD]
    for section, cases in CASES.items():
        parts.append(f"## {section}\n")
        for case in cases:
            with place() as names:
                parts.append(entry(case, provoked(case, names)))
    return "\n".join(parts)


if __name__ == "__main__":
    text = page()
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{PAGE}: {sum(map(len, CASES.values()))} messages\n")
