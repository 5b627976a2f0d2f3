"""A claim is checked anew exactly if something that its outcomes rest on has changed."""

import hashlib
import importlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from attsvm.cli import main
from attsvm.theory.gate.expectations import UNREVIEWED
from attsvm.theory.packs.checkout import read_contents
from attsvm.theory.packs.code_digests import CONTENTS, key_of_content
from attsvm.theory.record.ledger import chained
from attsvm.theory.record.runs import read_events
from attsvm.theory.verification import verify

CLAIM = """
from attsvm.theory import Reading, Real, Statement, changed
from little import shared{name}

STATEMENT = Statement(
    "my/{name}",
    source="s",
    place="p",
    printed="Squares are not negative.",
    cost=8,
    variables={{"x": Real()}},
    conclusion=lambda m, v, least=0: m.at_most(least, v.x * v.x),
    readings={{"literal": Reading("holds", siblings={{"1": changed(least=1)}})}},
)
"""
VERIFY = ["verify", "--only-pack", "little", "--ledger", "ledger"]
GATE = ["gate", "--only-pack", "little", "--ledger", "ledger"]


def forget():
    for name in [n for n in sys.modules if n.startswith("little")]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a pack of two claims with a helper each, its whole run, and expectations."""
    place = tmp_path_factory.mktemp("prepared")
    folder = place / "little"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in "ab":
        (folder / f"claim_{name}.py").write_text(CLAIM.format(name=name))
        (folder / f"shared{name}.py").write_text("ZERO = 0\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.syspath_prepend(place)
        patch.setattr(sys, "dont_write_bytecode", True)
        forget()
        assert main(VERIFY) == 0
        assert main([*GATE, "--update", "--yes"]) == 0
    forget()
    expected = folder / "expectations.json"
    expected.write_text(expected.read_text().replace(UNREVIEWED, "a square"))
    return place


@pytest.fixture
def pack(prepared, here, on_path, monkeypatch):
    """A copy of the prepared folder, as the current folder."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    shutil.copytree(prepared, here, dirs_exist_ok=True)
    forget()
    yield here / "little"
    forget()


def taken_over(capsys, *more):
    """The claims that a run with --reuse takes over."""
    forget()
    capsys.readouterr()
    assert main([*VERIFY, "--reuse", "--json", "found.json", *more]) == 0
    entries = json.loads(Path("found.json").read_text())["claims"]
    return {entry["id"]: entry["reused"] for entry in entries if "reused" in entry}


A, B = "my/a:literal", "my/b:literal"


def test_what_did_not_change_is_taken_over_and_passes_the_gate(pack, capsys):
    (first,) = {event["run"] for event in read_events("ledger")}
    assert taken_over(capsys) == {A: first, B: first}
    out = capsys.readouterr().out
    assert "2 claims taken over from earlier runs (=), as nothing changed" in out
    assert f"=  {A}" in out
    assert main(GATE) == 0
    assert taken_over(capsys) == {A: first, B: first}  # not of the run that took them over
    before, after = json.loads(Path("found.json").read_text()), [*read_events("ledger")]
    parts = [event for event in after if event["event"] == "part"]
    assert [part.get("reused", first) for part in parts] == [first] * 12
    assert before["matched"]


EDITS = {
    "its helper": (lambda: Path("little/shareda.py").write_text("ZERO = 0.0\n"), {B}),
    "a comment": (lambda: Path("little/shareda.py").write_text("ZERO = 0  # nil\n"), {A, B}),
    "its statement": (
        lambda: Path("little/claim_b.py").write_text(CLAIM.format(name="b") + "x = 1\n"),
        {A},
    ),
    "a data file": (lambda: Path("little/data.json").write_text("1"), set()),
    "a module that no claim imports": (lambda: Path("little/z.py").write_text("x = 1"), set()),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_claim_is_checked_anew_if_what_it_rests_on_changed(pack, capsys, edit):
    EDITS[edit][0]()
    assert set(taken_over(capsys)) == EDITS[edit][1]
    if not EDITS[edit][1]:
        assert "no claim taken over: " in capsys.readouterr().out


def test_nothing_is_taken_over_of_another_seed_library_or_engine(pack, capsys, monkeypatch):
    assert taken_over(capsys, "--seed", "1") == {}
    versions = verify.versions()
    with monkeypatch.context() as patch:
        patch.setattr(verify, "versions", lambda: {**versions, "numpy": "0"})
        assert taken_over(capsys) == {}
    base = verify.bases_of

    def edited(packs, claims, code):
        return base(packs, claims, {**code, "attsvm/risk.py": "0" * 12})

    with monkeypatch.context() as patch:
        patch.setattr("attsvm.theory.verification.verify.bases_of", edited)
        assert taken_over(capsys) == {}
    assert set(taken_over(capsys)) == {A, B}


def test_nothing_is_taken_over_of_a_run_that_was_cut_or_edited(pack, capsys):
    lines = Path("ledger").read_text().splitlines(keepends=True)
    Path("ledger").write_text("".join(lines[:-1]))
    assert taken_over(capsys) == {}
    edited = [line.replace('"examples": 9', '"examples": 8') for line in lines]
    assert edited != lines
    Path("ledger").write_text("".join(edited))
    assert taken_over(capsys) == {}


def test_a_run_that_took_outcomes_over_counts_for_what_it_evaluated(pack, capsys):
    EDITS["its statement"][0]()
    assert set(taken_over(capsys)) == {A}
    (first, second) = dict.fromkeys(event["run"] for event in read_events("ledger"))
    assert taken_over(capsys) == {A: first, B: second}
    lines = Path("ledger").read_text().splitlines(keepends=True)
    (last,) = {line for line in lines if '"finished"' in line and second in line}
    Path("ledger").write_text("".join(line for line in lines if line != last))
    assert taken_over(capsys) == {A: first}


def rewritten(change):
    """Write the ledger anew with events that were changed, by someone who computes the digests."""
    events, digests = read_events("ledger"), {}
    for event in events:
        change(event)
        event.pop("digest")
        digests[event["run"]] = event["digest"] = chained(digests.get(event["run"], ""), event)
    Path("ledger").write_text("".join(json.dumps(event) + "\n" for event in events))


def test_the_gate_refuses_what_is_taken_over_from_a_run_that_is_not_at_hand(pack, capsys):
    first = taken_over(capsys)[A]
    whole = Path("ledger").read_text()
    assert main(GATE) == 0
    last = [line for line in whole.splitlines(keepends=True) if f'"run": "{first}"' not in line]
    Path("ledger").write_text("".join(last))
    capsys.readouterr()
    assert main(GATE) == 1
    said = f"{A}: the reading is taken over from the run {first}, but no complete run with this"
    assert said in capsys.readouterr().out

    Path("ledger").write_text(whole)

    def forge(event):
        if event["event"] == "part" and "reused" in event and event["outcome"]["part"] == "":
            event["outcome"]["examples"] += 1000

    rewritten(forge)
    assert main(GATE) == 1
    assert said in capsys.readouterr().out


PATCHED = """
import little.shareda

little.shareda.ZERO = 1
"""


def test_nothing_is_taken_over_from_a_run_with_another_pack_that_changes_modules(
    pack, tmp_path, capsys
):
    (tmp_path / "other").mkdir()
    text = CLAIM.format(name="a").replace("my/", "its/")
    (tmp_path / "other/__init__.py").write_text(PATCHED + text)
    Path("ledger").unlink()
    forget()
    assert main([*VERIFY, "--only-pack", "other"]) == 0
    assert taken_over(capsys) == {}


def stored(ledger="ledger"):
    """The file of parsed contents beside the ledger."""
    return Path(f".{ledger}.modules")


def test_a_run_that_reuses_nothing_keeps_contents_too(pack):
    stored().unlink()
    forget_contents()
    assert main([*VERIFY]) == 0
    assert read_contents(stored()).items() <= CONTENTS.items()
    assert read_contents(stored())


def test_contents_of_modules_are_kept_and_never_stale(pack, capsys):
    assert set(taken_over(capsys)) == {A, B}
    first = read_contents(stored())
    assert first.items() <= CONTENTS.items()
    before = Path("little/shareda.py").stat()
    Path("little/shareda.py").write_text("ZERO = 1\n")  # of the same size
    os.utime("little/shareda.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    forget_contents()
    assert set(taken_over(capsys)) == {B}
    assert first.items() < read_contents(stored()).items()


def forget_contents():
    """Let this process read all files of the pack anew, as another process does."""
    CONTENTS.clear()
    for file in Path("little").glob("*.py"):
        status = file.stat()
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def edit_digest(text):
    """Change a digest, but not the checksum."""
    digest = next(iter(read_contents(stored()).values())).digest
    return text.replace(digest.encode(), b"0" * len(digest))


DAMAGE = {
    "cut": lambda text: text[: len(text) // 2],
    "edited": edit_digest,
    "of another parser": lambda text: resealed(text, '"parser": "', '"parser": "1'),
    "of another form": lambda text: resealed(text, '"contents": {', '"contents": {"x": 1, '),
    "empty": lambda text: b"",
}


def resealed(text, old, new):
    """The file with another text, and the checksum of that text."""
    body = text.partition(b"\n")[2].replace(old.encode(), new.encode())
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_file_of_contents_is_not_read(pack, capsys, how):
    taken_over(capsys)
    assert read_contents(stored())
    stored().write_bytes(DAMAGE[how](stored().read_bytes()))
    assert read_contents(stored()) == {}
    assert set(taken_over(capsys)) == {A, B}


def test_the_gate_does_not_read_contents_that_are_kept(pack, capsys):
    """A false entry leads to a run that the gate refuses."""
    taken_over(capsys)
    key = next(k for k, content in read_contents(stored()).items() if is_of("sharedb", k))
    body = json.loads(stored().read_bytes().partition(b"\n")[2])
    body["contents"][key][0] = "0" * 12
    lying = json.dumps(body).encode()
    stored().write_bytes(hashlib.sha256(lying).hexdigest().encode() + b"\n" + lying)
    forget_contents()
    assert set(taken_over(capsys)) == {A}
    forget_contents()
    assert main(GATE) == 1


def is_of(name, key):
    path = f"little/{name}.py"
    return key == key_of_content(path, Path(path).read_bytes())
