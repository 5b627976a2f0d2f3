"""The site: tutorials run, the drawing shows the imports, pages are written from the code."""

import functools
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

import attsvm
from attsvm import theory
from attsvm.cli import main
from attsvm.theory import load_packs
from attsvm.theory.arithmetic.namespace import Namespace
from tests.test_arrows import imports, rooms

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


FEWER = {"attsvm verify sim/lemma-3.13": "attsvm verify sim/lemma-3.13:literal"}
"""Commands of pages that check what `properties` checks, with the part that is shown."""


def run(page, capsys):
    """Run the code of a page in the current folder; what it shows must be what is printed."""
    names, printed = {"__name__": "__main__"}, ""
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python" and (name := re.match(r"# (\w+\.py)\n", text)):
            Path(name[1]).write_text(text, encoding="utf-8")
        elif language == "python":
            exec(compile(text, page.name, "exec"), names)
        elif language == "sh":
            printed = ""
            for line in text.splitlines():
                command, _, comment = line.partition("   # ")
                command = FEWER.get(command, command)
                expected = re.search(r"exit code (\d+)", comment)
                assert main(shlex.split(command)[1:]) == int(expected[1] if expected else 0), line
                printed += capsys.readouterr().out
        elif not language:
            printed += capsys.readouterr().out
            for line in text.splitlines():  # columns are narrower where fewer rows are shown
                pattern = re.escape(" ".join(line.split())).replace(r"\.\.\.", r"[\d.e-]*")
                assert re.search(pattern, " ".join(printed.split())), line
    assert names


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_shows_what_it_prints(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "properties").symlink_to(ROOT / "properties")
    before = set(sys.modules)
    run(page, capsys)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            monkeypatch.delitem(sys.modules, name)


def test_another_output_is_noticed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```\n2\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        run(page, capsys)


@functools.cache
def written():
    """The pages that are written from the code, by name."""
    pages = runpy.run_path(str(ROOT / "docs/pages.py"))
    kinds = ("reference", "namespace", "statements", "notebooks")
    return {kind: dict(pages[kind]()) for kind in kinds}


def test_the_reference_has_all_public_names():
    text = "".join(written()["reference"].values())
    listed = set(re.findall(r"automodule:: (\S+)", text))
    public = [getattr(attsvm, name) for name in attsvm.__all__]
    public += [getattr(theory, name) for name in theory.__all__]
    homes = {one.__module__ for one in public if hasattr(one, "__module__")}
    assert {home for home in homes if re.match(r"attsvm\.(?!_)", home)} <= listed


def test_the_table_of_the_namespace_has_each_function():
    (text,) = written()["namespace"].values()
    shown = set(re.findall(r"^\| `m\.(\w+)\(", text, re.M))
    assert shown >= {name for name in dir(Namespace) if name[0] != "_"} - {"name"}


def test_every_statement_has_a_page_in_mathematics():
    pages = written()["statements"]
    ids = {claim.statement_id for pack in load_packs() for claim in pack.claims}
    assert {f"statements/{id}" for id in ids} <= pages.keys()
    for name, text in pages.items():
        prose = re.sub(r"\$\$.*?\$\$|\$.*?\$|``.*?``", "", text, flags=re.S)
        assert not re.search(r"\\|\bNone\b|\|\||<=", re.sub(r"\\[*\[\]~_`$]", "", prose)), name
    lemma = pages["statements/sim/lemma-3.13"]
    assert r"Let $h$ be in $\mathbb{R}^n$, $b$ and $R$ real" in lemma
    assert r"- $R \ge 4$" in lemma
    assert r"\le 3 \, n^{3} \, R^{7} \, \exp\left(13 \, R^{2}\right)" in lemma
    assert "`` h = [1, -1], b = 2^161" in lemma
    assert "symbolic.sim.lemma_3_13:prove" in lemma


def test_every_notebook_has_a_page_with_its_outputs():
    pages, index = written()["notebooks"], (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert pages.keys() == {f"notebooks/{f.stem}" for f in (ROOT / "examples").rglob("*.ipynb")}
    assert all(f"\ngenerated/{name}\n" in index for name in pages)
    text = pages["notebooks/your_own_claim"]
    assert text.startswith("# Your own claim\n")
    assert "\nhunt(thirds, seconds=None, rounds=1)\n```\n\n```{code-block} text\n" in text
    assert re.search(r"^refuted, certified: mine/softmax-lipschitz:literal after \d", text, re.M)


def test_the_first_task_of_a_contributor_works(here, capsys):
    """In a folder of its own, so that the checkout stays as it is."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (copied,) = re.findall(r"^cp (\S+) ", page, re.M)
    text = (ROOT / copied).read_text(encoding="utf-8")
    text = text.replace('"sim/lemma-3.12"', '"sim/lemma-3.12-first"').replace('"proved"', '"holds"')
    file = here / "lemma_3_12_first.py"
    file.write_text(re.sub(r"^ +proof=.*\n", "", text, flags=re.M), encoding="utf-8")
    commands = re.findall(r"^attsvm (\S+ sim/lemma-3.12-first.*?)(?: +#.*)?$", page, re.M)
    assert len(commands) == 3
    for command in commands:
        words = command.replace("--seconds 10", "--rounds 1").split()
        assert main([*words, "--only-pack", file.name]) == 0, capsys.readouterr().err


def test_a_version_has_at_most_60_lines_in_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *versions = re.split(r"^## ", text, flags=re.M)
    assert len(versions) >= 3
    assert [v.splitlines()[0] for v in versions if len(v.strip().splitlines()) > 60] == []


def test_there_are_four_tutorials():
    assert len(TUTORIALS) == 4


@pytest.mark.parametrize("parent", ["attsvm", "attsvm.theory"])
def test_the_drawing_of_the_architecture_shows_the_imports(parent):
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    (drawing,) = re.findall(rf"^```text\n{re.escape(parent)}\n\n(.*?)^```$", text, re.M | re.S)
    rows = [line.split() for line in drawing.splitlines()]
    row = {f"{parent}.{name}": k for k, line in enumerate(rows) for name in line}
    arrows = rooms(imports(), parent)
    shown = {room for room in arrows if not room.rpartition(".")[2].startswith("_")}
    assert row.keys() == shown
    assert len(row) == sum(map(len, rows))
    upward = [(a, b) for a in row for b in arrows[a] & row.keys() if row[a] >= row[b]]
    assert upward == []
