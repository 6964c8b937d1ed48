"""What registries, citation and recipe say of this project agrees, and holds outside the repository."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import children
import pytest

ROOT = Path(__file__).resolve().parents[2]
CARGO: dict[str, Any] = tomllib.loads((ROOT / "Cargo.toml").read_text())
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CRATES = ("uncertain", "uncertain-simd")


def field(path: str, name: str) -> str:
    """The value behind ``name:`` or ``name =`` of a file that is simple enough for it."""
    found = re.search(
        rf'^\s*{name}\s*[:=]\s*"?(.*?)"?\s*$', (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert found, (path, name)
    return found[1]


def manifest(crate: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "rust" / crate / "Cargo.toml").read_text())["package"]
    workspace = CARGO["workspace"]["package"]
    return {k: workspace[k] if v == {"workspace": True} else v for k, v in found.items()}


def test_versions_agree() -> None:
    version = CARGO["workspace"]["package"]["version"]
    assert field("CITATION.cff", "version") == version
    assert field("conda/recipe.yaml", "version") == version
    assert CARGO["workspace"]["dependencies"]["uncertain-simd"]["version"] == version
    assert f"## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    fallback = re.search(
        r'return "(.*)"', (ROOT / "python/uncertain/_data/installed.py").read_text(encoding="utf-8")
    )
    assert fallback and fallback[1] == version


def test_addresses_agree() -> None:
    urls = PYPROJECT["urls"]
    workspace = CARGO["workspace"]["package"]
    assert urls["Homepage"] == workspace["homepage"] == field("CITATION.cff", "url")
    assert urls["Repository"] == workspace["repository"] == field("CITATION.cff", "repository-code")
    for name in ("Homepage", "Documentation", "Repository"):
        assert field("conda/recipe.yaml", name.lower()) == urls[name]
    assert urls["Issues"].startswith(urls["Repository"]) and urls["Changelog"].startswith(urls["Repository"])


def test_licences_agree() -> None:
    licence = PYPROJECT["license"]
    assert licence == CARGO["workspace"]["package"]["license"] == field("CITATION.cff", "license")
    assert licence == field("conda/recipe.yaml", "license")
    text = (ROOT / "LICENSE").read_bytes()
    for crate in CRATES:
        assert (ROOT / "rust" / crate / "LICENSE").read_bytes() == text


@pytest.mark.parametrize("crate", CRATES)
def test_crates_have_what_the_registry_shows(crate: str) -> None:
    package = manifest(crate)
    links = ("homepage", "repository", "documentation")
    for name in ("description", *links, "keywords", "categories", "license"):
        assert package[name], name
    assert package["metadata"]["docs"]["rs"]
    assert package["readme"] == "README.md"
    assert (ROOT / "rust" / crate / "README.md").is_file()


def test_the_dependencies_of_the_recipe_are_those_of_the_package() -> None:
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("  run:\n")[2].partition("  run_constraints:")[0]
    wanted = {re.sub(r"\s", "", line.strip("- ")) for line in run.splitlines() if line.strip()}
    assert wanted == {*PYPROJECT["dependencies"], f"python{PYPROJECT['requires-python']}"}


@pytest.mark.parametrize("page", ["python/README.md", *(f"rust/{crate}/README.md" for crate in CRATES)])
def test_pages_of_the_registries_have_no_relative_links(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert not [link for link in links if not link.startswith("https://")]


def test_the_snippet_of_the_registry_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(
        r"```python\n(.*?)```", (ROOT / "python/README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert code
    monkeypatch.chdir(tmp_path)
    said = children.printed(code[1])
    assert "GSUClassifier" in said and "malignant" in said


def test_third_party_licences_are_those_of_the_lock_file() -> None:
    """Every crate that is named has the locked version, and, where cargo is at hand, none is left out."""
    text = (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    known = {f"{package['name']} {package['version']}" for package in lock}
    named = set(re.findall(r"(?:^|, )([a-z][\w-]* \d+\.\d+\.\d+\S*) \(", text, re.MULTILINE))
    assert len(named) > 50
    assert named <= known
    linked = {line.split(" (")[0].replace(" v", " ", 1) for line in crates("-e", "normal")}
    own = {
        f"{name} {CARGO['workspace']['package']['version']}"
        for name in ("uncertain-learn", "uncertain-simd", "uncertain-python")
    }
    assert linked - own <= named


def crates(*asked: str, of: tuple[str, ...] = ("uncertain-python",), form: str = "{p}") -> list[str]:
    """Lines of `cargo tree`; none without cargo, or where the index was never fetched."""
    if shutil.which("cargo") is None:
        return []
    tree = ["cargo", "tree", "--locked", "--offline", "--prefix", "none", "--format", form, *asked]
    packages = [word for name in of for word in ("-p", name)]
    done = subprocess.run([*tree, *packages], cwd=ROOT, capture_output=True, text=True, timeout=240)
    return [] if done.returncode else done.stdout.splitlines()


def test_rust_tests_compile_neither_the_core_nor_dependencies_again() -> None:
    """Crates have the same features in the extension and in what `make test-rust` names."""

    def features(*of: str, edges: str) -> set[str]:
        lines = crates("-e", edges, of=of, form="{p}: {f}")
        return {line.removesuffix(" (*)") for line in lines if "uncertain-python" not in line}

    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (tested,) = re.findall(r"^RUST_TESTED := (.*)$", makefile, re.MULTILINE)
    extension = features("uncertain-python", edges="normal,build")
    among_tests = features(*tested.replace("-p ", "").split(), edges="normal,build,dev")
    assert bool(extension) == bool(among_tests)
    names = {line.split(":")[0] for line in extension}
    assert {line for line in among_tests if line.split(":")[0] in names} == extension


def test_the_lock_file_is_that_of_the_source_distribution() -> None:
    """It has the binding and what that needs, and pip builds from it with this lock file, or not at all."""
    needed = {f"rust/{name}" for name in ("uncertain", "uncertain-simd", "uncertain-python")}
    assert set(CARGO["workspace"]["members"]) == needed


def satisfied(expression: str, allowed: set[str]) -> bool:
    """Is an SPDX expression met by these licences? OR binds weaker than AND; "/" is an old OR."""
    text = expression.replace("(", " ").replace(")", " ").replace("/", " OR ")
    alternatives = [part.split(" AND ") for part in text.split(" OR ")]
    return any(all(term.strip() in allowed for term in terms) for terms in alternatives)


def test_every_linked_crate_has_a_licence_that_deny_toml_allows() -> None:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    text = (ROOT / "THIRD-PARTY-LICENSES.txt").read_text(encoding="utf-8")
    crates = re.findall(r"(?:^|, )([a-z][\w-]* \d+\.\d+\.\d+\S*) \((.+?)\)(?=, |$)", text, re.MULTILINE)
    assert len(crates) > 50
    assert not [crate for crate in crates if not satisfied(crate[1], allowed)]
    assert not satisfied("GPL-3.0", allowed) and not satisfied("MIT AND GPL-3.0", allowed)


def test_workflows_run_make_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    called: set[str] = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"make ([a-z -]+)", path.read_text(encoding="utf-8").partition("jobs:")[2]):
            called |= set(line.split())
    assert (
        {"lint", "typing", "test-rust", "test-python", "docs", "smoke", "release-check"} <= called <= targets
    )
    assert "make" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for part in ("lint", "typing", "test-rust", "test-python"):  # what .ci/run does in one command
        assert re.search(rf"^test: .*\b{part}\b", makefile, re.MULTILINE)


def test_actions_are_pinned_to_commits() -> None:
    used = [
        line.strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(used) > 20
    assert not [line for line in used if not re.search(r"@[0-9a-f]{40} # v\d", line)]


def test_forms_are_complete() -> None:
    files = ("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "deny.toml", ".pre-commit-config.yaml")
    forms = ("pull_request_template.md", "ISSUE_TEMPLATE/bug.yml", "ISSUE_TEMPLATE/config.yml")
    for path in (*files, *(f".github/{form}" for form in forms)):
        assert (ROOT / path).stat().st_size > 200, path
