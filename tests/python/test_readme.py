"""Every Python snippet of the README and the user guide runs, and every command they name exists.

The snippets of one page share a namespace and an empty working directory, so that a page can be
followed from its first line. The README's Rust snippet is a documentation test of the crate.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(page: Path, language: str) -> list[tuple[int, str]]:
    """The line each snippet starts at, and its text."""
    text = page.read_text(encoding="utf-8")
    found = [match for match in FENCE.finditer(text) if match[1] == language]
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# A catalogue as it comes is read with warnings, which say what was taken for missing. A chosen average may
# have a member with error bars as spread, whose predictions warn of error sizes unlike those of the fit.
@pytest.mark.filterwarnings("ignore:the errors of these rows are not like")
@pytest.mark.filterwarnings("ignore:taken for missing")
@pytest.mark.filterwarnings("ignore:.* asymmetric by more than")
@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page, "python")], ids=name)
def test_python_snippets_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if page.name != "README.md":  # chosen with fewer trees its model warns
        request.getfixturevalue("few_trees")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace: dict[str, object] = {"__name__": "snippet"}
    for line, code in snippets(page, "python"):
        # Blank lines in front make the line numbers of a traceback those of the page.
        exec(compile("\n" * line + code, name(page), "exec"), namespace)


def test_the_readme_has_snippets_in_both_languages() -> None:
    assert snippets(ROOT / "README.md", "python")
    assert snippets(ROOT / "README.md", "rust")


def test_every_make_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^|^\$ )make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, (name(page), named - targets)


def test_every_file_that_the_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w-]+(?:/[\w-]+)+\.(?:rs|py))`", text)
    assert len(named) > 40
    roots = [ROOT, ROOT / "rust/uncertain/src", ROOT / "python/uncertain"]
    assert not [path for path in named if not any((root / path).is_file() for root in roots)]


def test_every_file_and_test_that_the_papers_pages_name_exists() -> None:
    pages = (ROOT / "docs" / "guide").glob("from-paper-to-code*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = re.findall(r"`([\w/]+\.(?:rs|py))(?:::(\w+))?`", text)
    assert len(named) > 80
    for path, function in named:
        places = [ROOT / path, ROOT / "rust" / "uncertain" / "src" / path]
        found = [place for place in places if place.is_file()]
        assert found, path
        assert not function or re.search(rf"(fn|def) {function}\b", found[0].read_text(encoding="utf-8")), (
            f"{path} has no {function}"
        )
