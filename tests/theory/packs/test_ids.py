"""An id leads to its file, and nothing else of its pack is loaded for it."""

import subprocess
import sys

import pytest

from attsvm.errors import ClaimError, UnknownClaimError
from attsvm.theory.packs.known_packs import statements_in
from attsvm.theory.packs.packs import find_claims, load_packs, premises
from attsvm.theory.report.dependencies import dependencies

STATEMENT = """
from attsvm.theory import Integer, Reading, Statement, changed
A = Statement(
    id="{id}", source="s", place="p", printed="n >= 0", variables={{"n": Integer(0, 3)}},
    conclusion=lambda m, v, least=0: m.at_least(v.n, least), rests_on={rests},
    readings={{"literal": Reading("holds", siblings={{"1": changed(least=1)}})}},
)
"""


@pytest.fixture
def package(here, on_path):
    """A package whose files each print their names when they are loaded; a function writes one."""
    (here / "led").mkdir()
    (here / "led" / "__init__.py").write_text("")

    def write(path, id=None, rests=()):
        file = here / "led" / path
        file.parent.mkdir(exist_ok=True, parents=True)
        for folder in {file.parent} - {here / "led"}:
            (folder / "__init__.py").touch()
        file.write_text(f"print({path!r})\n" + (STATEMENT.format(id=id, rests=rests) if id else ""))

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "led"]:
        del sys.modules[name]


def loaded(capsys, *ids):
    packs = load_packs(only=["led"], ids=ids)
    return packs, capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "statements"),
    [
        (["sim/lemma-3.12"], ("sim/lemma-3.12",)),
        (["a/b:literal", "a/b:sharp-2", "a/c"], ("a/b", "a/c")),
        (["sim/"], ()),
        (["sim"], ()),
        (["a/b", "sim/"], ()),
        (["a/*"], ()),
        ([], ()),
    ],
)
def test_ids_name_statements_and_prefixes_do_not(words, statements):
    assert statements_in(words) == statements


@pytest.mark.parametrize("path", ["a_b/lemma_3_1.py", "lemma_3_1.py"])
def test_only_the_file_of_an_id_is_loaded(package, capsys, path):
    package("other.py", "a.b/other")
    package(path, "a.b/lemma-3.1", rests=("a.b/other",))
    (pack,), files = loaded(capsys, "a.b/lemma-3.1:literal")
    assert files == [path]
    assert ([c.id for c in pack.claims], pack.whole) == (["a.b/lemma-3.1:literal"], False)


def test_what_statements_rest_on_is_read_from_their_files_and_none_of_them_is_run(package, capsys):
    package("a/one.py", "a/one")
    package("a/two.py", "a/two", rests=("a/one",))
    package("b/three.py", "b/three", rests=["a/two", "b/five"])
    package("b/four.py", "b/four", rests="tuple(open('four'))")  # no literal: it is left out
    package("a/figure.py")
    own = {"a/one": (), "a/two": ("a/one",), "b/three": ("a/two", "b/five")}
    assert premises(only=["led"]) == own
    assert capsys.readouterr().out == ""


def test_what_shipped_statements_rest_on_is_written_in_their_files():
    (pack,) = load_packs(only=["properties"])
    loaded = {id: needed for id, needed in dependencies(pack.claims).items() if needed}
    assert premises(only=["properties"]) == loaded


def test_a_statement_that_is_a_package_is_loaded_with_its_modules(package, capsys):
    package("a/long/__init__.py")
    package("a/long/made.py", "a/long")
    package("a/other.py", "a/other")
    (pack,), files = loaded(capsys, "a/long")
    assert files == ["a/long/__init__.py", "a/long/made.py"]
    assert [c.id for c in pack.claims] == ["a/long:literal"]


@pytest.mark.parametrize("wanted", ["a/second", "a/misplaced", "a/", "a/none"])
def test_packs_that_do_not_follow_the_rule_and_prefixes_are_loaded_whole(package, capsys, wanted):
    package("several.py", "a/second")
    package("a/misplaced.py", "a/other")
    package("a/elsewhere.py", "a/misplaced")
    (pack,), files = loaded(capsys, wanted)
    assert {"several.py", "a/misplaced.py", "a/elsewhere.py"} == set(files)
    assert pack.whole
    if wanted == "a/none":
        with pytest.raises(UnknownClaimError, match="no claim, statement or source is called"):
            find_claims((pack,), [wanted])
    else:
        assert find_claims((pack,), [wanted])


def test_ids_are_unique_and_dependencies_there_in_packs_that_are_loaded_whole(package):
    package("a/one.py", "a/one", rests=("a/missing",))
    assert load_packs(only=["led"], ids=["a/one"])[0].claims
    with pytest.raises(ClaimError, match="rests on a statement that is not there"):
        load_packs(["led"])
    package("a/missing.py", "a/one")
    with pytest.raises(ClaimError, match="two claims have the id a/one:literal"):
        load_packs(only=["led"])


def test_every_shipped_statement_lies_where_its_id_leads_to():
    (pack,) = load_packs(only=["properties"])
    for statement in {claim.statement_id for claim in pack.claims}:
        (part,) = load_packs(only=["properties"], ids=[statement])
        assert not part.whole, statement
        assert {c.id for c in part.claims} == {
            c.id for c in pack.claims if c.statement_id == statement
        }


RUN = """
import contextlib, io, sys
from attsvm.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    main(sys.argv[1:])
top = [name.partition(".")[0] for name in sys.modules]
print(top.count("attsvm"), top.count("properties"), *(n for n in NAMES if n in top))
""".replace("NAMES", repr(("cvxpy", "matplotlib", "numba", "scipy", "sympy", "torch")))


def counted(*words):
    """How many modules of attsvm and of the pack a command imports, and which large libraries."""
    done = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_replay_imports_the_one_statement_and_no_large_library():
    ours, pack, *large = counted(
        "replay", "properties/sim/counterexamples/sim--lemma-3.11--literal.json"
    )
    assert int(ours) <= 100
    assert int(pack) <= 8
    assert large == []


@pytest.mark.parametrize("statement", ["sim/attention-shape", "sim/lemma-3.12"])
def test_show_imports_one_statement_and_no_large_library(statement):
    """Much rests on the second one, and is named all the same."""
    ours, pack, *large = counted("show", statement)
    assert int(ours) <= 80
    assert int(pack) <= 4
    assert large == []


def test_verify_of_one_statement_imports_100_modules_of_attsvm_at_most_and_no_other_statement(
    tmp_path,
):
    ours, pack, *large = counted(
        *("verify", "sim/lemma-3.12", "-n", "1", "--ledger", str(tmp_path / "ledger.jsonl"))
    )
    assert int(ours) <= 100  # ten of them are the core of proofs, which its proof runs on
    assert int(pack) <= 4
    assert large == ["scipy", "sympy"]  # of its proof
