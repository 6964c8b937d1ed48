"""Sentences that were torn by wrapping: part of `make lint`.

An edited sentence keeps the line breaks of the old one, and the formatter never joins lines. So strings end
up in short pieces, and docstrings and comments in ragged lines. What is found is a line that ends in the
middle of a sentence although the next word, and a good deal more, would have fitted behind it. Lines that end
with a full stop, a colon or a semicolon may be short on purpose, and so may code, tables, lists and formulas.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("python", "tests", "tools", "benches", "papers", "docs")
WIDTH = 110
SLACK = 20
"""Characters that are left behind the next word in a torn line. Fewer may be taste."""
ENDS = re.compile(r"""[.:;!?…)\]}|>=-]["'`*]*$""")
"""How a line ends that may be short."""
LAYOUT = re.compile(r"\s*([-*+|=~^#>$.\\:]|\d+[.)]|\S+ : |```|:\w+:|\w+ {2,}|[A-Z]\w* =|\{)")
"""How a line starts that belongs to a list, a table, a directive or an example."""
FORMULA = re.compile(r" {3,}\S|[=<>] .*[=<>]|^\s*\S*\($|<-|->|^\S+ = ")
"""What formulas and aligned columns look like."""

COMMAND = re.compile(r"\bpython \S+\.py\b")
WORD = re.compile(r"\s*(?:\{[^}]*\}|\S)+")
"""A word of a literal; a field of a format string is one."""

Torn = tuple[int, str]
"""The number of the line, and its text."""


def torn_lines(lines: list[str], first: int = 1, width: int = WIDTH) -> Iterator[Torn]:
    """Lines of prose that end too early; `first` is the number of the first one."""
    code: int | None = None  # how far a block of code is indented at least
    for number, (line, following) in enumerate(pairwise(lines), first):
        indent = len(line) - len(line.lstrip())
        if code is not None and line.strip():
            code = None if indent < code else code
        if re.search(r":$|^\s*\.\. ", line) or line.lstrip().startswith(">>>"):
            code = indent + (0 if line.lstrip().startswith(">>>") else 1)
        if code is None and _goes_on(line, following) and _fits(line, following.split()[0], width):
            yield number, line.strip()


def _goes_on(line: str, following: str) -> bool:
    """Do both lines belong to one sentence?"""
    text, rest = line.strip(), following.strip()
    if len(text.split()) < 2 or not rest or rest.startswith('"""') or ENDS.search(text):
        return False
    same = len(line) - len(line.lstrip()) == len(following) - len(following.lstrip())
    listed = re.match(r"\s*([-*]|\d+\.) ", line) and following.startswith(" ")
    if not (same or listed) or LAYOUT.match(following) or (LAYOUT.match(line) and not listed):
        return False
    if COMMAND.search(text):
        return False
    return not (FORMULA.search(text) or FORMULA.search(rest)) and (
        rest[0].islower() or not text.endswith(",")
    )


def _fits(line: str, word: str, width: int) -> bool:
    return len(line) + 1 + len(word) + SLACK <= width


def torn_docstrings(source: str) -> Iterator[Torn]:
    """Torn lines of the docstrings of a module, its classes, functions and constants."""
    for node in ast.walk(ast.parse(source)):
        for value in (
            getattr(node, "body", None) or () if not isinstance(node, ast.Lambda | ast.IfExp) else ()
        ):
            text = value.value if isinstance(value, ast.Expr) else None
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield from torn_lines(source.splitlines()[text.lineno - 1 : text.end_lineno], text.lineno)


def torn_comments(tokens: list[tokenize.TokenInfo]) -> Iterator[Torn]:
    """Torn lines of comments that have lines for themselves."""
    own = [t for t in tokens if t.type == tokenize.COMMENT and t.line.lstrip().startswith("#")]
    for one, other in pairwise(own):
        if other.start == (one.start[0] + 1, one.start[1]):
            pair = [" " * one.start[1] + t.string.removeprefix("#") for t in (one, other)]
            if not re.search(r"[=()\[\]]", pair[0] + pair[1]):  # code that was taken out
                yield from ((one.start[0], text) for _, text in torn_lines(pair))


def torn_strings(tokens: list[tokenize.TokenInfo]) -> Iterator[Torn]:
    """String literals that go on in the next line although more would fit in theirs."""
    literals = list(_literals(tokens))
    for (line, end, text), (next_line, _, following) in pairwise(literals):
        adjacent = next_line == line + 1 and following is not None and text is not None
        if not adjacent or not following.strip() or re.match(r"\s*(\\n|-|\||\d+\.)", following):
            continue
        body = text.rstrip()
        whole = body.endswith((".", ":", ";", "!", "?", "\\n", "|")) or not body
        word = WORD.match(following)[0]  # type: ignore[index]
        if (
            not whole
            and end + len(word) + SLACK <= WIDTH
            and (text.endswith(" ") or following.startswith(" "))
        ):
            yield line, body


def _literals(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[int, int, str | None]]:
    """(line, column of the end, text) of literals of one line; text None for what ends a run of them."""
    skipped = {tokenize.NL, tokenize.COMMENT}
    starts, ends = (getattr(tokenize, name, -1) for name in ("FSTRING_START", "FSTRING_END"))
    depth, begin = 0, tokens[0]
    for token in tokens:
        if token.type == starts:
            begin = begin if depth else token
            depth += 1
        depth -= token.type == ends
        if depth or token.type in skipped:
            continue
        if token.type not in (tokenize.STRING, ends):
            yield token.start[0], 0, None
            continue
        first = token if token.type == tokenize.STRING else begin
        text = first.line[first.start[1] : token.end[1]]
        literal = re.fullmatch(r"""(?i:f|u)?(["'])(?!\1\1)(.*)\1""", text)
        yield first.start[0], token.end[1], literal[2] if literal and first.start[0] == token.end[0] else None


def torn(source: str) -> list[Torn]:
    """Everything in a module."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    return sorted({*torn_docstrings(source), *torn_comments(tokens), *torn_strings(tokens)})


def main() -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = [
        f"{path.relative_to(ROOT)}:{line}: torn: {text}"
        for path in files
        if not {"_build", "gallery_pages", "generated"} & {*path.parts}
        for line, text in torn(path.read_text(encoding="utf-8"))
    ]
    print("\n".join(found) or f"no torn sentence in {len(files)} files")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
