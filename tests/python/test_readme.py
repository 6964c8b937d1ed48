"""Every Python snippet of the README and the site runs, and every link and command in them leads somewhere.

The snippets of one page share a namespace and an empty working directory, so that a page can be followed from
its first line. The README's Rust snippet is a documentation test of the crate. Descriptions that estimators
share are all put in, and all used.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import uncertain

ROOT = Path(__file__).resolve().parents[2]
SITE = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "guide"]
PAGES = [ROOT / "README.md", *SITE]
FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def snippets(page: Path, language: str) -> list[tuple[int, str]]:
    """The line each snippet starts at, and its text."""
    text = page.read_text(encoding="utf-8")
    found = [match for match in FENCE.finditer(text) if match[1] == language]
    return [(text.count("\n", 0, match.start(2)), match[2]) for match in found]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# A catalogue as it comes is read with warnings, which say what was treated as missing. A chosen average may
# have a member with error bars as spread, whose predictions warn of error sizes unlike those of the fit.
@pytest.mark.filterwarnings("ignore:errors of these rows are unlike")
@pytest.mark.filterwarnings("ignore:treated as missing")
@pytest.mark.filterwarnings("ignore:.* asymmetric by more than")
@pytest.mark.parametrize("page", [page for page in PAGES if snippets(page, "python")], ids=name_of)
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
        exec(compile("\n" * line + code, name_of(page), "exec"), namespace)


def test_the_readme_has_snippets_in_both_languages() -> None:
    assert snippets(ROOT / "README.md", "python")
    assert snippets(ROOT / "README.md", "rust")


def test_every_make_command_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:`|^|^\$ )make ([a-z-]+)", text, re.MULTILINE))
        assert named <= targets, (name_of(page), named - targets)


def test_every_file_that_the_architecture_names_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w-]+(?:/[\w-]+)+\.(?:rs|py))`", text)
    assert len(named) > 40
    roots = [ROOT, ROOT / "rust/uncertain/src", ROOT / "python/uncertain"]
    assert not [path for path in named if not any((root / path).is_file() for root in roots)]
    folders = {path.name for path in (ROOT / "python/uncertain").glob("_[a-z]*") if path.is_dir()}
    rooms = text.partition("## The rooms")[2].partition("## The seams")[0]
    assert {*re.findall(r"`(_\w+)`", rooms)} == folders


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_every_link_leads_to_a_page_and_a_heading_of_it() -> None:
    programs = {path.stem for path in (ROOT / "docs" / "gallery").rglob("plot_*.py")} | {"index"}
    for page in [*PAGES, *(ROOT / "papers").glob("*.md"), *ROOT.glob("*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if "gallery_pages" in path:  # the build makes them of programs
                assert re.sub(r"sphx_glr_|_\d+$", "", target.stem) in programs, (name_of(page), link)
            elif not link.startswith("https://"):
                assert target.exists(), (name_of(page), link)
                assert not anchor or anchor in anchors(target), (name_of(page), link)


def test_the_site_is_small_and_every_page_is_listed() -> None:
    assert len(SITE) <= 25
    assert all(len(page.read_text(encoding="utf-8").splitlines()) <= 200 for page in SITE)
    listed = (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines()
    names = {str(page.relative_to(ROOT / "docs").with_suffix("")) for page in SITE}
    assert names - {"index"} <= {*listed}


def test_every_program_that_is_named_exists() -> None:
    for page in [*PAGES, *(ROOT / "papers").glob("*.md"), ROOT / "benches" / "README.md"]:
        text = page.read_text(encoding="utf-8")
        programs = re.findall(r"python\s((?:benches|papers|docs)/[\w/]+\.py)", text)
        assert all((ROOT / path).is_file() for path in programs), name_of(page)


def test_every_file_and_test_that_the_papers_pages_name_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "papers").glob("*.md"))
    named = re.findall(r"`([\w/]+\.(?:rs|py))(?:::(\w+))?`", text)
    assert len(named) > 80
    for path, function in named:
        places = [ROOT / path, ROOT / "papers" / path, ROOT / "rust" / "uncertain" / "src" / path]
        found = [place for place in places if place.is_file()]
        assert found, path
        assert not function or re.search(rf"(fn|def) {function}\b", found[0].read_text(encoding="utf-8")), (
            f"{path} has no {function}"
        )


PLACE = re.compile(r"^ *\{([A-Z][a-z]+: )?\w+(, \w+)*\}$", re.MULTILINE)
"""A line that stands for descriptions of parameters, such as {n_jobs, classes_}."""

PACKAGE = Path(uncertain.__file__).parent


def docstrings() -> Iterator[tuple[str, str]]:
    """(name, docstring) of what users see: public names, and members of public classes and modules."""
    for name in uncertain.__all__:
        thing: Any = getattr(uncertain, name)
        members = {name: thing} | dict(inspect.getmembers(thing))
        for member, value in members.items():
            if not member.startswith("_") and isinstance(getattr(value, "__doc__", None), str):
                yield f"{name}.{member}", value.__doc__


def test_no_place_is_left_empty() -> None:
    seen = list(docstrings())
    assert len(seen) > 300
    assert not [name for name, text in seen if PLACE.search(text)]


def test_every_parameter_of_an_estimator_is_described() -> None:
    for name in uncertain.__all__:
        thing = getattr(uncertain, name)
        if not hasattr(thing, "_get_param_names"):
            continue
        parameters = (thing.__doc__ or "").partition("Parameters\n")[2]
        for parameter in thing._get_param_names():
            assert re.search(
                rf"^ *([\w, \\\n]+, *)?{parameter}\b[\w, \\\n]*(:|$)", parameters, re.MULTILINE
            ), f"{name}: {parameter}"
