"""`attsvm gate` passes a run as reviewed and stops every other."""

import io
import json
import os
import re
import shlex
import shutil
import sys
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path

import pytest
from commands import PACK, TOYS, expect

from attsvm import cli
from attsvm.cli.actions import annotation, summarise
from attsvm.cli.arguments import LEDGER

GATE = "attsvm gate --only-pack lemma_1.py"
REPEAT = f"repeat it: attsvm verify --only-pack lemma_1.py --profile quick --seed 0 && {GATE}"


@pytest.mark.usefixtures("ran")
def test_the_gate_passes_a_run_as_reviewed_and_stops_every_other(attsvm, document, tmp_path):
    code, out, _ = attsvm("gate", *TOYS, "--expect", expect(tmp_path))
    assert (code, out) == (0, "gate: 1 verdict as reviewed\n")
    code, found = document("gate", *TOYS, "--expect", expect(tmp_path, truth="refuted"))
    assert (code, found["passed"]) == (1, False)
    assert found["reasons"][0].startswith("toy/true:literal: refuted -> holds: 12 instances")


def test_the_gate_of_a_named_pack_leaves_out_what_the_run_did_not_check(attsvm, tmp_path):
    """Without a name a run is held to the shipped expectations."""
    lacking = re.compile(r"^tf: (\d+) of \1 reviewed claims are not part of the run", re.MULTILINE)
    pack = tmp_path / "mine.py"
    pack.write_text("from toy_pack import true\n")
    attsvm("verify", "--pack", pack, "toy/true")
    assert attsvm("gate", "--pack", pack)[0] == 2
    assert attsvm("gate", "--pack", pack, "--update", "--yes")[0] == 0
    assert attsvm("gate", "--pack", pack)[0] == 1
    written = tmp_path / "expectations.json"
    written.write_text(written.read_text().replace("not reviewed yet", "a square"))
    code, out, _ = attsvm("gate", "--pack", pack)
    assert code == 0
    assert out.startswith("gate: 1 verdict as reviewed\nthe run checked nothing of the installed")
    code, out, _ = attsvm("gate")
    assert (code, bool(lacking.search(out))) == (1, True)


@pytest.mark.usefixtures("ran")
def test_expectations_or_a_ledger_of_another_kind_are_bad_input(attsvm, tmp_path):
    (tmp_path / "odd").write_text("{")
    code, out, error = attsvm("gate", *TOYS, "--expect", expect(tmp_path, until="soon"))
    assert (code, out, "toy/true:literal" in error) == (2, "", True)
    for words in (["--expect", "odd"], ["--expect", "none"], ["--ledger", "odd"]):
        assert attsvm("gate", *TOYS, *words)[0] == 2


@pytest.mark.parametrize(
    "words",
    [
        ["verify", *TOYS, "toy/true", "--ledger", "one", "--json", "one"],
        ["verify", *TOYS, "toy/true", "--ledger", "new", "--json", "./new"],
        ["verify", *TOYS, "toy/true", "--ledger", "one", "--json", "linked"],
        ["gate", *TOYS, "--ledger", "one", "--json", "linked"],
        ["gate", *TOYS, "--ledger", "one", "--expect", "two", "--json", "two"],
        ["report", *TOYS, "--ledger", "one", "--out", "one"],
        ["report", *TOYS, "--ledger", "one", "--out", "page", "--graph", "page"],
        ["hunt", *TOYS, "toy/false", "--out", ".", "--json", "toy--false--literal.json"],
    ],
)
@pytest.mark.usefixtures("ran")
def test_an_output_that_another_option_names_is_refused_and_nothing_is_overwritten(
    attsvm, tmp_path, words
):
    text = (tmp_path / LEDGER).read_text()
    for name in ("one", "two"):
        (tmp_path / name).write_text(text)
    os.link(tmp_path / "one", tmp_path / "linked")
    code, out, error = attsvm(*words)
    assert (code, out) == (2, "")
    assert "name one file" in error
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == [text, text]


LINE = 5
"""Where `attsvm new` begins the statement."""


OWN = ["--only-pack", "lemma_1.py"]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A folder with a new claim, which was verified."""
    folder = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.chdir(folder)
        assert (cli.main(["new", "my/lemma-1"]), cli.main(["verify", *OWN])) == (0, 0)
    assert out.getvalue().splitlines()[-1].startswith("1 claim on 75 instances")
    return folder


@pytest.fixture
def own(fresh, tmp_path):
    """What names the pack of a new claim, which was verified and of which nothing is expected."""
    shutil.copytree(fresh, tmp_path, dirs_exist_ok=True)
    return OWN


def test_an_author_s_way_from_a_new_claim_to_a_red_gate(attsvm, own, tmp_path):
    code, _, error = attsvm("gate", *own)
    assert (code, "`attsvm gate --only-pack lemma_1.py --update --yes` writes" in error) == (
        2,
        True,
    )
    code, out, _ = attsvm("gate", *own, "--update", "--yes")
    new = "my/lemma-1:literal: new: holds, certified, exercised; replace its reason, which says"
    assert (code, out.startswith(new)) == (0, True)
    assert out.endswith("gate: 1 change written to expectations.json\n")
    code, out, _ = attsvm("gate", *own)
    said = 'my/lemma-1:literal: its reason in the expectations says "not rev'
    assert (code, out.startswith(said)) == (1, True)
    assert "--update" not in out
    written = tmp_path / "expectations.json"
    written.write_text(written.read_text().replace("not reviewed yet", "a square is positive"))
    assert attsvm("gate", *own)[:2] == (0, "gate: 1 verdict as reviewed\n")

    claim = tmp_path / "lemma_1.py"
    claim.write_text(claim.read_text().replace('"factor": 2}', '"factor": 3}'))
    forget()
    code, out, _ = attsvm("gate", *own)
    assert (code, out.startswith("the run is of other code than is checked out")) == (1, True)
    assert attsvm("verify", *own)[0] == 1
    code, out, _ = attsvm("gate", *own)
    found = ".attsvm/counterexamples/my--lemma-1--literal.json"
    assert code == 1
    assert out.splitlines()[0] == (
        f"my/lemma-1:literal: holds -> refuted by x = 1, y = 1, {found} [lemma_1.py:{LINE}]"
    )
    edited = "my/lemma-1:literal: {} edited: reviewed is {}"
    assert out.splitlines()[1].startswith(
        edited.format("statement", '"Let x and y be real. Then 2')
    )
    assert out.splitlines()[2].startswith(edited.format("formula", "2 x y"))
    assert out.splitlines()[3].startswith("my/lemma-1:literal: the code under it changed (")
    assert all(line.endswith(f" [lemma_1.py:{LINE}]") for line in out.splitlines()[:4])
    hint = (
        "if the claims are right as they are now, see `attsvm gate --only-pack lemma_1.py --update`"
    )
    assert out.endswith(f"{hint}\ngate: 4 reasons to stop\n{REPEAT}\n")
    assert claim.read_text().splitlines()[LINE - 1].startswith("STATEMENT = Statement(")
    text = claim.read_text().replace('"holds"', '"refuted"')
    claim.write_text(text.replace("factor=3", "factor=4"))
    forget()
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    code, out, _ = attsvm("gate", *own, "--update")
    assert (code, out.splitlines()) == (
        0,
        [
            "my/lemma-1:literal: its file declares refuted, certified, exercised; reviewed is "
            "holds, certified, exercised. --update never changes a verdict: edit `truth` and "
            "`reason` of its entry in expectations.json",
            "gate: nothing to write; 1 verdict to edit by hand",
        ],
    )


def test_a_gate_that_stops_ends_with_the_commands_that_repeat_it(attsvm, own, tmp_path):
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    options = [*own, "--seed", "3", "--ledger", "own dir/l.jsonl"]
    missing = attsvm("gate", *options)[2]
    verify, gate = (
        f"attsvm {name} --only-pack lemma_1.py{more} --seed 3 --ledger 'own dir/l.jsonl'"
        for name, more in (("verify", " --profile quick"), ("gate", ""))
    )
    assert missing.endswith(f"`{verify}` writes one.\n")
    assert attsvm(*shlex.split(verify)[1:])[0] == 0
    code, out, _ = attsvm("gate", *options)
    assert (code, out.splitlines()[-1]) == (1, f"repeat it: {gate}")
    assert attsvm(*shlex.split(gate)[1:]) == (code, out, "")
    written = tmp_path / "expectations.json"
    written.write_text(written.read_text().replace("not reviewed yet", "a square is positive"))
    assert attsvm("gate", *options)[:2] == (0, "gate: 1 verdict as reviewed\n")
    claim = tmp_path / "lemma_1.py"
    claim.write_text(claim.read_text().replace('"factor": 2}', '"factor": 3}'))
    forget()
    code, out, _ = attsvm("gate", *options, "--update")
    update = shlex.split(re.search("`attsvm (.*)` writes them down$", out)[1])
    assert attsvm(*update)[0] == 0
    assert attsvm(*shlex.split(verify)[1:])[0] == 1
    out = attsvm("gate", *options)[1]
    assert "holds -> refuted" in out
    assert out.splitlines()[-1] == f"repeat it: {verify} && {gate}"


def test_a_claim_that_raises_gets_no_reason_about_instances(attsvm, own, tmp_path):
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    claim = tmp_path / "lemma_1.py"
    claim.write_text(claim.read_text().replace("m.square(v.y)", 'm.exact("a")'))
    forget()
    assert attsvm("verify", *own)[0] == 1
    out = attsvm("gate", *own)[1]
    assert "validity exercised -> error" in out
    assert "not refuted: 95% of the right side; 99.9% of the right side; factor 3" in out
    assert "instance" not in out


def test_counts_stay_as_reviewed_while_half_of_them_are_evaluated(attsvm, own, tmp_path):
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    written = tmp_path / "expectations.json"
    text = written.read_text()
    (seen,) = map(int, re.findall(r'"examples": (\d+)', text))
    for reviewed, kept in ((2 * seen, 2 * seen), (2 * seen + 1, seen), (1, 1), (0, seen)):
        written.write_text(text.replace(f'"examples": {seen}', f'"examples": {reviewed}'))
        assert attsvm("gate", *own, "--update", "--yes")[0] == 0
        assert f'"examples": {kept}' in written.read_text()


def forget():
    """Have the packs of the current folder loaded anew."""
    here = str(Path.cwd())
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(here):
            del sys.modules[name]


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A folder with a claim that was reviewed, and the run that refutes it since it was edited."""
    folder = tmp_path_factory.mktemp("fallen")
    claim = folder / "a,b: 100%.py"
    own = ["--only-pack", claim.name]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert cli.main(["new", "my/a", "--out", claim.name]) == 0
        claim.write_text(claim.read_text().replace("variables={", "cost=12,\n    variables={"))
        assert cli.main(["gate", *own, "--update", "--yes"]) == 0
        claim.write_text(claim.read_text().replace('"factor": 2}', '"factor": 3}'))
        forget()
        assert cli.main(["verify", *own]) == 1
    return folder


@pytest.fixture
def edited(fallen, monkeypatch):
    """What names that claim's pack, in its folder."""
    monkeypatch.chdir(fallen)
    return ["--only-pack", "a,b: 100%.py"]


def test_in_a_workflow_every_reason_is_an_annotation_at_its_line(attsvm, edited, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd()))
    code, out, error = attsvm("gate", *edited)
    *reasons, hint, said, repeat = out.splitlines()
    first, statement, second, third, fourth, fifth = reasons
    at = "::error file=a%2Cb%3A 100%25.py,line=5::my/a:literal: "
    assert first.startswith(f"{at}holds -> refuted by x = 1, y = 1, .attsvm/")
    assert second.startswith(f"{at}its reason in the expectations says")
    assert third.startswith(f"{at}no run of it was reviewed")
    assert statement.startswith(f"{at}statement edited: reviewed is ")
    assert fourth.startswith(f"{at}formula edited: reviewed is 2 x y")
    assert fifth.startswith(f"{at}the code under it changed (")
    assert (code, hint.startswith("if the claims"), said) == (1, True, "gate: 6 reasons to stop")
    assert repeat.startswith("repeat it: attsvm verify --only-pack 'a,b: 100%.py' --profile quick ")
    code, out, error = attsvm("gate", *edited, "--json", "-")
    assert (code, len(json.loads(out)["reasons"])) == (1, 6)
    assert error.splitlines() == reasons
    monkeypatch.setenv("GITHUB_WORKSPACE", str(Path.cwd().parent))
    assert (
        f"::error file={Path.cwd().name}/a%2Cb%3A 100%25.py,line=5::" in attsvm("gate", *edited)[1]
    )
    monkeypatch.setenv("GITHUB_ACTIONS", "false")
    assert "::error" not in attsvm("gate", *edited)[1]


def test_what_an_annotation_says_cannot_begin_another_line():
    hostile = "50% of\r\n::set-env name=x::y, or: z"
    assert annotation(hostile, None) == "::error::50%25 of%0D%0A::set-env name=x::y, or: z"
    said = annotation("x", (Path("/a\n::b,c:d%.py"), 7))
    assert said == "::error file=/a%0A%3A%3Ab%2Cc%3Ad%25.py,line=7::x"


def test_a_summary_of_the_step_is_added_to_its_file(attsvm, edited, monkeypatch, tmp_path):
    summary = tmp_path / "summary"
    summary.write_text("what another step said")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert attsvm("gate", *edited)[0] == 1
    once = summary.read_text()
    before, heading, _, titles, _, *rows = once.splitlines()
    assert (before, heading) == ("what another step said", "### attsvm gate: 6 reasons to stop")
    assert titles == "| reason | statement |"
    assert rows[0].startswith("| my/a:literal: holds -> refuted by x = 1, y = 1, .attsvm/")
    assert [row.endswith(" | a,b: 100%.py:5 |") for row in rows] == [True] * 6
    assert attsvm("gate", *edited)[0] == 1
    assert summary.read_text() == once + once.removeprefix(before)


def test_text_in_a_summary_is_shown_as_it_is(monkeypatch, tmp_path):
    summary = tmp_path / "summary"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    summarise("a *title*", ("one", "two"), [("<script> | `x`\n# [a](b) &amp;", "_y_")])
    assert summary.read_text() == (
        "\n### a \\*title\\*\n\n| one | two |\n| --- | --- |\n"
        "| \\<script> \\| \\`x\\` # \\[a\\](b) \\&amp; | \\_y_ |\n"
    )


@pytest.mark.parametrize("place", ["", "none/summary", "/dev/full"])
def test_a_summary_that_cannot_be_written_is_told_and_changes_no_verdict(
    attsvm, edited, monkeypatch, tmp_path, place
):
    before = attsvm("gate", *edited)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / place))
    code, out, error = attsvm("gate", *edited)
    assert (code, out) == before[:2]
    assert error.startswith("attsvm: the summary of the step is not written: cannot write ")


@pytest.fixture
def installed(attsvm, tmp_path, monkeypatch):
    """An installed distribution with one claim, whose pack is not called as its entry point."""
    folder = tmp_path / "installed"
    (folder / "lemmas_of_mine").mkdir(parents=True)
    (folder / "lemmas_of_mine" / "__init__.py").write_text("")
    claim = folder / "lemmas_of_mine" / "lemma.py"
    attsvm("new", "my/lemma-1", "--out", claim)
    claim.write_text(claim.read_text().replace("variables={", "cost=12,\n    variables={"))
    info = folder / "mine-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[attsvm.claims]\nmine = lemmas_of_mine\n")
    monkeypatch.syspath_prepend(str(folder))
    yield folder / "lemmas_of_mine"
    forget()


def review(pack):
    """Put a reason in the place of those that are none."""
    written = pack / "expectations.json"
    written.write_text(written.read_text().replace("not reviewed yet", "a square is positive"))


@pytest.mark.parametrize("name", ["mine", "lemmas_of_mine"])
def test_an_installed_pack_is_run_and_gated_by_itself(attsvm, document, installed, name):
    own = ["--only-pack", name]
    assert [c["id"] for c in document("claims", *own)[1]["claims"]] == ["my/lemma-1:literal"]
    code, found = document("verify", *own)
    assert (code, [c["id"] for c in found["claims"]]) == (0, ["my/lemma-1:literal"])
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    review(installed)
    assert attsvm("gate", *own)[:2] == (0, "gate: 1 verdict as reviewed\n")


def test_a_run_of_several_packs_is_held_to_the_pack_that_is_asked_for(attsvm, document, installed):
    attsvm("verify", "--pack", PACK, "my/", "toy/true", "toy/raises")
    own = ["--pack", PACK, "--only-pack", "mine"]
    assert attsvm("gate", *own, "--update", "--yes")[0] == 0
    review(installed)
    assert attsvm("gate", *own)[:2] == (0, "gate: 1 verdict as reviewed\n")
    _, found = document("report", *own)
    assert [c["id"] for c in found["claims"]] == ["my/lemma-1:literal"]
    assert "toy/" not in Path(found["page"]).read_text()
    assert len(document("report")[1]["claims"]) == 3
    expected = installed / "expectations.json"
    expected.write_text(expected.read_text().replace('"exercised"', '"weak"'))
    code, out, _ = attsvm("gate", *own)
    assert (code, out.splitlines()[0].startswith("my/lemma-1:literal: validity weak -> ")) == (
        1,
        True,
    )


def test_a_pack_that_is_not_there_is_told_with_those_that_are(attsvm, installed):
    attsvm("verify", "--only-pack", "mine")
    names = ("nowhere", "no.where", "")
    for command, name in product(("claims", "verify", "gate", "report"), names):
        code, out, error = attsvm(command, "--only-pack", name)
        assert (code, out) == (2, "")
        assert error.startswith(f"attsvm: there is no pack of that name (got {name}). There are: ")
        assert "lemmas_of_mine, mine, properties. A module, a package" in error
    code, _, error = attsvm("verify", "--only-pack", "nowhere.py")
    assert (code, error.startswith("attsvm: there is no file of that name (got nowhere.py)")) == (
        2,
        True,
    )


def test_other_packs_are_loaded_only_where_claims_rest_on_them(attsvm, tmp_path):
    pack = tmp_path / "leaning.py"
    assert attsvm("new", "my/lemma-2", "--out", pack)[0] == 0
    for needs, code in (
        ("", 0),
        (' depends_on=("sim/lemma-3.12:sharp",),', 0),
        (' depends_on=("no/x:sharp",),', 2),
    ):
        text = pack.read_text()
        assert text.count('"holds",') == 1
        text = text.replace('"holds",', f'"holds",{needs}')
        (tmp_path / f"leaning_{len(needs)}.py").write_text(text)
        done = attsvm("claims", "--only-pack", f"leaning_{len(needs)}.py")
        assert (done[0], "my/lemma-2" in done[1], "sim/" in done[1]) == (code, code == 0, False)


def author(attsvm, name, reason):
    """The four commands of a new claim in its own file, and a reason for its verdict."""
    pack = Path(f"{name}.py")
    attsvm("new", f"my/{name}", "--out", pack)
    pack.write_text(pack.read_text().replace("variables={", "cost=12,\n    variables={"))
    own = ["--only-pack", pack]
    assert attsvm("verify", *own)[0] == 0
    code, out, _ = attsvm("gate", *own, "--update", "--yes")
    assert (code, "removed" in out) == (0, False)
    written = Path("expectations.json")
    written.write_text(written.read_text().replace("not reviewed yet", reason))
    return attsvm("gate", *own)[:2]


def claims_expected():
    return json.loads(Path("expectations.json").read_text())["claims"]


def test_packs_of_one_folder_are_reviewed_and_gated_one_by_one_and_together(attsvm, document):
    said = "gate: 1 verdict as reviewed\n"
    assert author(attsvm, "a", "mine") == (0, said)
    assert author(attsvm, "b", "yours") == (0, f"{said}{ALONE} 1 entry of a.py\n")
    told = [(entry["pack"], entry["reason"]) for entry in claims_expected().values()]
    assert told == [("a.py", "mine"), ("b.py", "yours")]
    assert attsvm("gate", "--only-pack", "b.py", "--update")[1] == (
        f"{ALONE} 1 entry of a.py\ngate: the expectations are up to date\n"
    )
    (alone,) = document("gate", "--only-pack", "b.py")[1]["left_alone"]
    assert alone == f"{ALONE} 1 entry of a.py"
    both = ["--only-pack", "a.py", "--only-pack", "b.py"]
    assert attsvm("verify", *both)[0] == 0
    for name, other in ("ab", "ba"):  # a run of both packs can be held to each
        code, out, _ = attsvm("gate", "--only-pack", f"{name}.py")
        assert (code, out) == (0, f"{said}{ALONE} 1 entry of {other}.py\n")
    assert attsvm("gate", *both)[:2] == (0, "gate: 2 verdicts as reviewed\n")

    Path("a.py").write_text(Path("a.py").read_text().replace("my/a", "my/c"))
    forget()
    assert attsvm("verify", *both)[0] == 0
    for packs in (["--only-pack", "a.py"], both):
        code, out, _ = attsvm("gate", *packs)
        assert (code, "my/a:literal: reviewed, but the claim no longer exists" in out) == (
            1,
            True,
        )
    assert attsvm("verify", "--only-pack", "b.py")[0] == 0
    assert attsvm("gate", "--only-pack", "b.py")[0] == 0
    out = attsvm("gate", "--only-pack", "a.py", "--update", "--yes")[1]
    assert out.startswith("my/a:literal: removed, there is no such claim\nmy/c:literal: new")
    assert list(claims_expected()) == ["my/b:literal", "my/c:literal"]


ALONE = "left alone in expectations.json:"


def test_an_entry_that_names_no_pack_is_kept_while_another_file_may_have_it(attsvm):
    author(attsvm, "a", "mine")
    written, own = Path("expectations.json"), ["--only-pack", "b.py"]
    written.write_text(written.read_text().replace('   "pack": "a.py",\n', ""))
    attsvm("new", "my/b", "--out", "b.py")
    attsvm("verify", *own)
    out = attsvm("gate", *own, "--update", "--yes")[1]
    assert "my/a:literal: it does not name its pack" in out
    assert claims_expected()["my/a:literal"]["reason"] == "mine"
    code, out, _ = attsvm("gate", *own)  # nothing says that it is of a.py, so it is missed
    assert (code, "my/a:literal: reviewed, but the claim no longer exists" in out) == (1, True)
    out = attsvm("gate", "--only-pack", "a.py", "--update", "--yes")[1]
    assert out.startswith("my/a:literal: its pack is now a.py\n")
    assert "my/a:literal" not in "".join(attsvm("gate", *own)[1])
    Path("a.py").unlink()
    code, out, _ = attsvm("gate", *own)
    assert (code, "my/a:literal: reviewed, but the claim no longer exists" in out) == (1, True)
    out = attsvm("gate", *own, "--update", "--yes")[1]
    assert out.startswith("my/a:literal: removed, there is no such claim\n")
