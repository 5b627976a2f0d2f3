"""What would land a false thing green is refused by name, and what changes nothing stays green."""

import copy
import importlib
import json
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest

from attsvm.cli import main
from attsvm.theory.gate.expectations import UNREVIEWED
from attsvm.theory.packs.code_bases import LOOSE
from attsvm.theory.record import curated, ledger
from attsvm.theory.search.curate import main as curate

FILES = {
    "lemmas/__init__.py": '"""A pack."""\n',
    "lemmas/bounds.py": """
from lemmas import deep

LIMIT = 5


def fine(x: float) -> bool:
    return x >= deep.LEAST


def unused(x: float) -> float:
    return x
""",
    "lemmas/deep.py": "LEAST = -1000.0\nSPREAD = 1000\n",
    "lemmas/factors.json": "[2.0]",
    "lemmas/registry.py": """
TABLE = {}
TERMS = []


def kept(f):
    TABLE[f.__name__] = f
    return f


class Kind:
    ALL = []

    def __init_subclass__(cls):
        Kind.ALL.append(cls)
""",
    "lemmas/rules.py": """
import json
from pathlib import Path

from lemmas.registry import TERMS, Kind, kept

FACTORS = json.loads((Path(__file__).parent / "factors.json").read_text())
TERMS += [1]
NOTHING = TERMS.append(3)


class Whole(Kind):
    LEAST = 0


@kept
def rule(x):
    return x + 1
""",
    "behind/table.json": "[1]",
    "lemmas/counterexamples/notes.txt": "[1]",
    "behind/unused.py": "LEAST = 0\n",
    "spaces/near.py": "NEAR = 0.0\n",
    "notes/readme.txt": "This is no code.",
    "elsewhere/spaces/far.py": "FAR = 0.0\n",
    "elsewhere/notes.py": "NOTED = 0.0\n",
    "lemmas/lazy.py": "def doubled(x: float) -> float:\n    return 2 * x\n",
    "lemmas/squares.py": '''
"""Claims."""

from flint import arb
from hypothesis import strategies as st

from attsvm.exact import rational
from attsvm.theory import Hypothesis, Measured, Reading, Records, Slack, Statement, changed
from lemmas.bounds import LIMIT, fine
from lemmas.deep import SPREAD
from notes import NOTED
from spaces.far import FAR

NUMBERS = Records(float, st.integers(-SPREAD, SPREAD).map(float))
PLACE = {"source": "A paper", "place": "Lemma 1", "cost": 40}


def square(x: float, shift: float = 0.0) -> Slack:
    """A square is not negative."""
    # its error bound
    return Slack(x * x - shift, 1e-9)


def square_ball(x: float, shift: float = 0.0) -> arb:
    return arb(rational(x) ** 2 - rational(shift))


SQUARE = Statement(
    "toys/square",
    **PLACE,
    printed="Squares are not negative.",
    variables=NUMBERS,
    conclusion=Measured("x^2 >= $shift", floats=square, balls=square_ball),
    readings={
        "sharp": Reading("holds",
            proof="lemma_proofs.squares:prove",
            siblings={"x^2 >= 1e6": changed(shift=1e6 + 1), "x^2 >= 1e9": changed(shift=1e9)},
        )
    },
)


def below(x: float, shift: float = 0.0) -> Slack:
    return Slack.at_most(x + shift, float(LIMIT), 0.0)


def below_ball(x: float, shift: float = 0.0) -> arb:
    return arb(LIMIT - rational(x) - rational(shift))


FINE = Hypothesis("x >= -1000", fine)
WHOLE = Hypothesis("x is whole", lambda x: x % 1 == 0)

BELOW = Statement(
    "toys/below",
    **PLACE,
    printed="All numbers are small.",
    variables=NUMBERS,
    hypotheses=(FINE,),
    conclusion=Measured("x <= 5 - $shift", floats=below, balls=below_ball),
    readings={
        "literal": Reading("refuted",
            examples=(7.0,),
            siblings={"x <= 4": changed(shift=1.0), "x <= 3": changed(shift=2.0)},
        )
    },
)


def double(x: float, shift: float = 0.0) -> Slack:
    from lemmas.lazy import doubled

    return Slack(doubled(x) + 2001 - shift + FAR + NOTED, 1e-9)


def double_ball(x: float, shift: float = 0.0) -> arb:
    return arb(2 * rational(x) + 2001 - rational(shift))


DOUBLE = Statement(
    "toys/double",
    **PLACE,
    printed="Double a number and add.",
    variables=NUMBERS,
    hypotheses=(FINE, WHOLE),
    violating={FINE: [-2000.0], WHOLE: [0.5]},
    conclusion=Measured("2 x + 2001 > $shift", floats=double, balls=double_ball),
    readings={
        "amended": Reading("holds",
            siblings={"2 x > 999": changed(shift=3000.0), "2 x > 1999": changed(shift=4000.0)},
        )
    },
)


def made(name: str, least: float):
    def conclusion(x: float, shift: float = 0.0) -> Slack:
        return Slack(x * x - least - shift, 1e-9)

    def balls(x: float, shift: float = 0.0) -> arb:
        return arb(rational(x) ** 2 - rational(least) - rational(shift))

    return Statement(
        f"toys/{name}",
        **PLACE,
        printed="Squares are at least minus one.",
        variables=NUMBERS,
        conclusion=Measured("x^2 >= -1 + $shift", floats=conclusion, balls=balls),
        readings={
            "literal": Reading("holds",
                siblings={"x^2 >= 1e6": changed(shift=1e6 + 2), "x^2 >= 1e9": changed(shift=1e9)},
            )
        },
    )


tabled = made("tabled", -1.0)
''',
    "lemma_proofs/__init__.py": "",
    "lemma_proofs/squares.py": '''
from lemma_proofs.steps import ensure


def prove() -> str:
    """A square of a symbol."""
    ensure(1 + 1, 2)
    return "x^2 >= 0"


def other() -> str:
    return "x = x"
''',
    "lemma_proofs/steps.py": """
from attsvm.theory import ensure_true


def ensure(a, b):
    if a != b:
        raise ArithmeticError(a)
    ensure_true(a == b, "both are the same")
""",
}
STORED = "lemmas/counterexamples/toys--below--literal.json"
LEMMAS, BOUNDS, RULES = "lemmas/squares.py", "lemmas/bounds.py", "lemmas/rules.py"
PROOFS = "lemma_proofs/squares.py"
EXPECTED = "lemmas/expectations.json"
VERIFY = ["verify", "toys/", "--only-pack", "lemmas", "--ledger", "ledger"]
GATE = ["gate", "--only-pack", "lemmas", "--ledger", "ledger"]


def forget():
    """Have the pack imported anew."""
    own = ("lemmas", "lemma_proofs", "spaces", "notes", LOOSE)
    for name in [n for n in sys.modules if n.startswith(own)]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """A folder with the pack, its reviewed expectations and the ledger of a run of it."""
    folder = tmp_path_factory.mktemp("reviewed")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    (folder / "lemmas/linked").symlink_to("../behind")
    (folder / "behind/around").symlink_to("..")  # it leads back to where it is
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(folder / "elsewhere"))
        patch.syspath_prepend(str(folder))
        patch.setattr(sys, "dont_write_bytecode", True)
        forget()
        assert curate(["--pack", "lemmas", "toys/"]) == 0
        assert main(VERIFY) == 0
        assert main([*GATE, "--update"]) == 1
        assert not (folder / EXPECTED).exists()
        assert main([*GATE, "--update", "--yes"]) == 0
        assert main(GATE) == 1
        text = (folder / EXPECTED).read_text()
        assert text.count(UNREVIEWED) == 4
        (folder / EXPECTED).write_text(text.replace(UNREVIEWED, "a reason"))
        assert main(GATE) == 0
        assert main([*GATE, "--update"]) == 0
        forget()
    return folder


def enter(folder, monkeypatch):
    """Make a folder with the pack the current one."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder / "elsewhere"))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


@pytest.fixture
def pack(reviewed, tmp_path, monkeypatch):
    """A copy of it that may be edited, as the current folder."""
    folder = tmp_path / "pack"
    shutil.copytree(reviewed, folder, symlinks=True)
    enter(folder, monkeypatch)
    forget()
    yield folder
    forget()


@pytest.fixture
def records(reviewed, monkeypatch):
    """That folder itself as the current one, in which ledger and expectations may be edited."""
    enter(reviewed, monkeypatch)
    kept = {file: file.read_bytes() for file in (reviewed / "ledger", reviewed / EXPECTED)}
    yield
    for file, content in kept.items():
        file.write_bytes(content)


def swap(file, old, new):
    """An edit of a file; `old` must be there."""

    def edit():
        text = Path(file).read_text()
        assert old in text
        Path(file).write_text(text.replace(old, new))

    return edit


def new(file, text):
    return lambda: Path(file).write_text(text)


def linked():
    os.symlink(Path("lemmas").rename("real").resolve(), "lemmas")


def unnoticed(file, old, new):
    """An edit that leaves the size and the time of a file whose bytecode is on disk."""

    def edit():
        before = Path(file).stat()
        py_compile.compile(file)
        swap(file, old, new)()
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert Path(file).stat().st_size == before.st_size

    return edit


def append(file, text):
    def edit():
        with Path(file).open("a") as handle:
            handle.write(text)

    return edit


def events():
    return [json.loads(line) for line in Path("ledger").read_text().splitlines()]


def write(changed):
    Path("ledger").write_text("".join(json.dumps(event) + "\n" for event in changed))


def naive(do):
    """An edit of the list of events that leaves their digests as they are."""

    def edit():
        found = events()
        write(do(found) or found)

    return edit


def chained(do):
    """The same by someone who computes the digests anew."""

    def edit():
        found = events()
        found = do(found) or found
        before = ""
        for event in found:
            event.pop("digest", None)
            event["digest"] = before = ledger.chained(before, event)
        write(found)

    return edit


def verdict(found, claim="toys/square:sharp"):
    return next(
        e["verdict"] for e in found if e["event"] == "verdict" and e["verdict"]["id"] == claim
    )


def parts(found, claim="toys/square:sharp"):
    return [e for e in found if e["event"] == "part" and e["outcome"]["claim"] == claim]


def refuted_by(instance):
    return lambda found: parts(found, BELOW)[0]["outcome"]["refuted"].update(instance=instance)


def another_part(found):
    one = copy.deepcopy(parts(found)[0])
    one["outcome"]["part"] = "x"
    return [*found[:-1], one, found[-1]]


def without(kind, claim=None):
    def keep(event):
        if event["event"] != kind:
            return True
        named = event[kind if kind == "verdict" else "outcome"]
        return claim is not None and claim not in (named.get("id"), named.get("claim"))

    return lambda found: [event for event in found if keep(event)]


def doubled(kind):
    """The events with the first of a kind written twice."""

    def do(found):
        place = next(k for k, e in enumerate(found) if e["event"] == kind)
        return [*found[:place], found[place], *found[place:]]

    return do


def changed(**values):
    return lambda found: verdict(found).update(values)


def part(index, **values):
    return lambda found: parts(found)[index]["outcome"].update(values)


def head(**values):
    return lambda found: found[0].update(values)


def end(**values):
    return lambda found: found[-1].update(values)


def turned(found):
    """The events with the parts in the other order, before the verdicts."""
    rest = [e for e in found if e["event"] != "part"]
    ended = [e for e in found if e["event"] == "part"]
    assert [e["event"] for e in rest[:3]] == ["run", "replay", "verdict"]
    return [*rest[:2], *ended[::-1], *rest[2:]]


def twice_listed(found):
    siblings = verdict(found)["siblings"]
    siblings[:] = [siblings[0], siblings[0]]


def mixed(*, begun):
    """A second run's events between those of the first, with or without its start."""

    def do(found):
        second = [{**event, "run": "f" * len(event["run"])} for event in found]
        return [*found[:4], *second[0 if begun else 1 : 6], *found[4:]]

    return chained(do)


def again(*words):
    """Forget the ledger and run anew."""

    def edit():
        Path("ledger").unlink()
        forget()
        main([*VERIFY, *words])

    return edit


def meanwhile():
    """A run during which a helper is another one; before and after that it is what it was."""
    replays = curated.replays

    def edited(*of):
        swap("lemmas/lazy.py", "2 * x", "x + x")()
        return replays(*of)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curated, "replays", edited)
        again()()
    swap("lemmas/lazy.py", "x + x", "2 * x")()


def anew(file, old, new):
    """An edit of a file and a new run."""
    return both(swap(file, old, new), again())


def both(*edits):
    def edit():
        for one in edits:
            one()

    return edit


def entry(claim, **values):
    """An edit of an entry of the expectations; None removes a key."""

    def edit():
        document = json.loads(Path(EXPECTED).read_text())
        document["claims"][claim].update(values)
        kept = {k: v for k, v in document["claims"][claim].items() if v is not None}
        document["claims"][claim] = kept
        Path(EXPECTED).write_text(json.dumps(document))

    return edit


def bound(claim, **values):
    """An edit of what an entry says was reviewed."""

    def edit():
        document = json.loads(Path(EXPECTED).read_text())
        document["claims"][claim]["reviewed"].update(values)
        Path(EXPECTED).write_text(json.dumps(document))

    return edit


def without_rest():
    document = json.loads(Path(EXPECTED).read_text())
    del document["packs"]
    Path(EXPECTED).write_text(json.dumps(document))


SQUARE, BELOW, DOUBLE = "toys/square:sharp", "toys/below:literal", "toys/double:amended"
REST = "lemmas: its data files, or modules that no claim imports, changed"
OLD = "the run is of other code than is checked out: "
CODE = "the code under it changed"
FORGED = "its verdict does not follow from its parts"
RIGHT = 'changed(shift=1e6 + 1), "x^2 >= 1e9": changed(shift=1e9)'
ZERO = "Records(float, st.just(0.0))"
TABLED = 'tabled = made("tabled", -1.0)'
ADDED = f'{TABLED}\nnew = made("new", -1.0)'
STRATEGY = "the digest of line"

RECORDS = {
    # a ledger that was edited
    "a verdict edited": (naive(changed(truth="undecided")), STRATEGY),
    "an outcome edited": (naive(part(0, examples=0)), STRATEGY),
    "a time edited": (naive(changed(seconds=0.0)), STRATEGY),
    "an event removed": (naive(without("part", SQUARE)), STRATEGY),
    "the start edited": (naive(head(seed=1)), STRATEGY),
    "two events exchanged": (naive(lambda e: [*e[:3], e[4], e[3], *e[5:]]), STRATEGY),
    "a line doubled": (naive(doubled("part")), STRATEGY),
    "the end written by hand": (
        naive(lambda e: [*e[:-1], {"schema": 1, "event": "finished", "matched": True}]),
        "does not belong between the others",
    ),
    "no end": (naive(lambda e: e[:-1]), "the run did not finish: 4 of 4 claims"),
    "no digests": (naive(lambda e: [i.pop("digest") for i in e] and None), "has no digest"),
    "no run": (naive(lambda e: [i.pop("run") for i in e] and None), "names no run"),
    "two runs mixed": (mixed(begun=True), "two runs are mixed"),
    "another run's events": (mixed(begun=False), "two runs are mixed"),
    "noise": (append("ledger", "noise\n"), "1 line of the run is damaged"),
    # a ledger that was edited, with digests to fit
    "forged: truth": (
        chained(lambda e: verdict(e, DOUBLE).update(truth="proved")),
        "holds -> proved",
    ),
    "forged: both siblings survive": (
        chained(lambda e: [p["outcome"].update(refuted=None) for p in parts(e)[1:]] and None),
        f"{FORGED}: validity",
    ),
    "forged: no instance": (chained(part(0, examples=0, drawn=0)), f"{FORGED}: truth"),
    "forged: few instances": (
        chained(lambda e: part(0, examples=3)(e) or changed(examples=3)(e)),
        "3 instances evaluated, at least",
    ),
    "forged: a sibling on nothing": (
        chained(part(1, examples=0, probed=0)),
        "is refuted without an instance",
    ),
    "forged: no proof ran": (chained(part(0, proof=None)), f"{FORGED}: reason"),
    "forged: a proof is linked": (chained(part(0, linked=True)), f"{FORGED}: truth"),
    "forged: open instances": (chained(part(0, undecided=1)), f"{FORGED}: truth"),
    "forged: an error": (chained(part(0, error="broke")), f"{FORGED}: truth"),
    "forged: the statement": (chained(changed(statement="x^2 > 0")), f"{FORGED}: statement"),
    "forged: a sibling renamed": (
        chained(lambda e: verdict(e)["siblings"][0].update(name="x > x")),
        f"{FORGED}: siblings",
    ),
    "forged: siblings listed twice": (chained(twice_listed), "recorded 2 times"),
    "forged: no parts": (chained(without("part")), "a verdict without an outcome of the reading"),
    "forged: no part of a claim": (chained(without("part", SQUARE)), "a verdict without an"),
    "forged: a part twice": (chained(doubled("part")), "is recorded twice"),
    "forged: a part under another name": (
        chained(part(0, part="x")),
        "a verdict without an outcome of the reading",
    ),
    "forged: a part of no sibling": (
        chained(another_part),
        "the claim has no such part",
    ),
    "forged: an outcome of another form": (
        chained(lambda e: parts(e)[0].update(outcome=[])),
        "of another form",
    ),
    "forged: a counterexample that refutes nothing": (
        chained(refuted_by({"float": "0"})),
        f"{BELOW}: its recorded counterexample does not refute it: the conclusion holds",
    ),
    "forged: a counterexample of another form": (
        chained(refuted_by([])),
        f"{BELOW}: its recorded counterexample does not refute it",
    ),
    "forged: two verdicts": (chained(doubled("verdict")), "verdict of"),
    "forged: two replays": (chained(doubled("replay")), "replay of"),
    "forged: two starts": (chained(doubled("run")), "two runs are mixed"),
    "forged: no verdict": (chained(without("verdict", SQUARE)), "skipped by the run"),
    "forged: fewer claims": (
        chained(lambda e: without("verdict", SQUARE)(head(claims=[BELOW, DOUBLE])(e) or e)),
        "toys: 1 of 4 reviewed claims is not part of the run, the first toys/square",
    ),
    "forged: a claim of nobody": (
        chained(lambda e: e[0]["claims"].append("toys/none:literal")),
        "no pack that is loaded has this claim",
    ),
    "forged: not matched": (
        chained(end(matched=False)),
        "that some verdict did not match, but all did",
    ),
    "forged: no replay asked for": (
        chained(
            lambda e: (
                head(curated=[])([i for i in e if i["event"] != "replay"] and e)
                or [i for i in e if i["event"] != "replay"]
            )
        ),
        "the run did not plan to replay this",
    ),
    "forged: a replay left out": (
        chained(lambda e: [i for i in e if i["event"] != "replay"]),
        "the run did not replay this curated counterexample",
    ),
    "forged: a replay that fell": (
        chained(lambda e: e[1]["replay"].update(result="NOT CONFIRMED")),
        "the curated counterexample no longer stands",
    ),
    "forged: goes on after its end": (
        chained(lambda e: [*e[:-2], e[-1], e[-2]]),
        "the run goes on after its end",
    ),
    "forged: no code": (chained(head(code={})), "does not say which code"),
    # another run than the one that is asked for
    "another profile": (chained(head(profile="deep")), "profile deep"),
    "no such profile": (chained(head(profile="tiny")), "profile tiny"),
    "a part of the run": (
        lambda: main(["verify", SQUARE, *VERIFY[2:]]),
        "3 of 4 reviewed claims are not part of the run",
    ),
    "an engine of yesterday": (
        chained(lambda e: e[0]["code"].update({"attsvm/theory/verification/check.py": "0" * 12})),
        f"{OLD}1 file differs, attsvm/theory/verification/check.py",
    ),
    # expectations
    "no review": (entry(SQUARE, reviewed=None), "its expectation records no review"),
    "no run reviewed": (bound(SQUARE, examples=0), "no run of it was reviewed"),
    "more instances required": (bound(SQUARE, examples=9999), "at least 5000 are required"),
    "a reason of nobody in other letters": (
        entry(SQUARE, reason="Not reviewed yet."),
        "its reason in the expectations says",
    ),
    "a reason that shows nothing": (entry(SQUARE, reason="\u200b"), "expected without a reason"),
    "a reason of nobody": (entry(SQUARE, reason=UNREVIEWED), "its reason in the expectations says"),
    "another word": (entry(SQUARE, truth="proved"), "proved -> holds"),
    "another text": (bound(SQUARE, statement="x >= 0"), 'reviewed is "x >= 0"'),
    "another digest": (bound(SQUARE, digest="0"), CODE),
    "no digest of what the claims do not import": (without_rest, REST),
    "another text of the formula": (bound(SQUARE, formula="x"), "formula edited: reviewed is x"),
    "a lapsed day": (entry(SQUARE, until="2020-01-01"), "lapsed on 2020-01-01"),
    "a review of another form": (bound(SQUARE, examples="many"), "of another form"),
}
ATTACKS = {
    # yesterday's run
    "a helper": (swap(BOUNDS, "LIMIT = 5", "LIMIT = 6"), f"{OLD}1 file differs, {BOUNDS}"),
    "a helper that nothing uses": (swap(BOUNDS, "return x\n", "return -x\n"), OLD),
    "a helper's helper": (swap("lemmas/deep.py", "-1000.0", "-9.0"), OLD),
    "a helper imported late": (swap("lemmas/lazy.py", "2 * x", "x"), OLD),
    "a proof's helper": (swap("lemma_proofs/steps.py", "a != b", "False"), OLD),
    "a data file": (
        swap("lemmas/factors.json", "2", "3"),
        f"{OLD}1 file differs, lemmas/factors.j",
    ),
    "a new file": (lambda: Path("lemmas/more.py").write_text("x = 1\n"), OLD),
    "a file that is gone": (lambda: Path("lemma_proofs/steps.py").unlink(), OLD),
    "a data file behind a link": (
        swap("behind/table.json", "1", "2"),
        f"{OLD}1 file differs, lemmas/linked/table.json",
    ),
    "a data file among counterexamples": (
        swap("lemmas/counterexamples/notes.txt", "1", "2"),
        f"{OLD}1 file differs, lemmas/counterexamples/notes.txt",
    ),
    "a module behind a link": (
        swap("behind/unused.py", "0", "1"),
        f"{OLD}1 file differs, lemmas/linked/unused.py",
    ),
    "a package in two folders": (
        swap("elsewhere/spaces/far.py", "0.0", "1.0"),
        f"{OLD}1 file differs, spaces/far.py",
    ),
    "a module that a folder here has the name of": (
        swap("elsewhere/notes.py", "0.0", "1.0"),
        f"{OLD}1 file differs, notes.py",
    ),
    "a helper that was another one during the run": (meanwhile, "the run did not finish"),
    # claims that are not those that were reviewed, whether or not they are run anew
    "statement": (
        swap(LEMMAS, "x^2 >= $shift", "x^2 > $shift"),
        'statement edited: reviewed is "x^2 >= 0.0.", now it says "x^2 > 0.0."',
    ),
    "hypothesis added": (
        swap(LEMMAS, "(FINE, ", '(FINE, Hypothesis("x >= 4", lambda x: x >= 4), '),
        f"{DOUBLE}: formula edited: reviewed is x >= -1000",
    ),
    "hypothesis dropped": (
        both(
            swap(LEMMAS, "(FINE, WHOLE)", "(WHOLE,)"),
            swap(LEMMAS, "FINE: [-2000.0], ", ""),
        ),
        f"{DOUBLE}: formula edited: reviewed is x >= -1000",
    ),
    "hypothesis dropped, what violates it left": (
        swap(LEMMAS, "(FINE, WHOLE)", "(WHOLE,)"),
        "gives records that violate hypotheses that no reading of it has (got x >= -1000)",
    ),
    "helper of the formula": (anew("lemmas/lazy.py", "2 * x", "x + x"), f"{DOUBLE}: {CODE}"),
    "a proof that goes on after a step that failed": (
        anew(
            PROOFS,
            "    ensure(1 + 1, 2)\n",
            "    import contextlib\n\n    from attsvm.theory import ensure_zero\n\n"
            '    with contextlib.suppress(Exception):\n        ensure_zero(1, "1 is 0")\n'
            "    ensure(1 + 1, 2)\n",
        ),
        f"{SQUARE}: holds -> undecided, validity exercised -> error: the proof of {SQUARE} went "
        "on after a step that failed: the proof failed at step 1: 1 is 0",
    ),
    "a proof in prose is said to prove": (
        anew(LEMMAS, '"sharp": Reading("holds"', '"sharp": Reading("proved"'),
        "its file declares proved, symbolic",
    ),
    "expected word": (
        anew(LEMMAS, '"amended": Reading("holds"', '"amended": Reading("undecided"'),
        "its file declares undecided, numeric",
    ),
    "claim removed": (
        anew(LEMMAS, TABLED, ""),
        "toys: 1 of 4 reviewed claims is not part of the run, the first toys/tabled",
    ),
    "claim added": (
        anew(LEMMAS, TABLED, ADDED),
        "toys/new:literal: checked, but its expected verdict was never reviewed",
    ),
    "claim added and not run": (
        swap(LEMMAS, TABLED, ADDED),
        "toys/new:literal: this claim was never reviewed",
    ),
    "claim false": (anew("lemmas/lazy.py", "2 * x", "30 * x"), f"{DOUBLE}: holds -> undecided"),
    "a helper patched by another module": (
        new("lemmas/z.py", "import lemmas.lazy\nlemmas.lazy.doubled = lambda x: 9.0\n"),
        REST,
    ),
    "a global patched by another module": (
        new("lemmas/z.py", "import lemmas.squares as s\nsetattr(s, 'LIMIT', 9)\n"),
        REST,
    ),
    "a helper of a pack behind a symbolic link": (
        both(linked, swap("lemmas/lazy.py", "2 * x", "x + x")),
        f"{DOUBLE}: {CODE}",
    ),
    "a helper edited at the same time and size": (
        both(unnoticed("lemmas/lazy.py", "2 * x", "9 * x"), again()),
        f"{DOUBLE}: holds -> undecided",
    ),
    "claims that no longer parse": (swap(LEMMAS, "NUMBERS =", "NUMBERS = ("), "cannot be imported"),
    # curated counterexamples
    "curated deleted": (
        lambda: Path(STORED).unlink(),
        f"{BELOW}: curated counterexample deleted",
    ),
    "curated edited": (swap(STORED, '"6"', '"8"'), f"{BELOW}: curated counterexample edited"),
    "curated added": (
        lambda: shutil.copy(STORED, Path(STORED).with_name("toys--square--sharp.json")),
        f"{SQUARE}: curated counterexample added",
    ),
}
FACTORED, FACTORS = "toys/tabled:literal", "lemmas/factors.json"
EDITS = {
    # the file of the claims
    "place": (LEMMAS, "Lemma 1", "Lemma 2", SQUARE),
    "hypothesis": (LEMMAS, "x % 1 == 0", "x == 1", DOUBLE),
    "strategy": (LEMMAS, "variables=NUMBERS,\n    hyp", f"variables={ZERO},\n    hyp", BELOW),
    "sibling removed": (LEMMAS, RIGHT, RIGHT.replace("x^2 >= 1e9", "three"), SQUARE),
    "sibling added": (LEMMAS, RIGHT, f'{RIGHT}, "three": changed(shift=1e9)', SQUARE),
    "sibling made trivial": (LEMMAS, RIGHT, RIGHT.replace("shift=1e9", "shift=1e99"), SQUARE),
    "sibling of its own data": (LEMMAS, RIGHT, f"{RIGHT[:-1]}, variables={ZERO})", SQUARE),
    "violating record": (LEMMAS, "[-2000.0]", "[-2001.0]", DOUBLE),
    "explicit instance": (LEMMAS, "examples=(7.0,)", "examples=(8.0,)", BELOW),
    "error bound": (LEMMAS, "x * x - shift, 1e-9", "x * x - shift, 1e300", SQUARE),
    "formula": (LEMMAS, "x * x - shift", "x * x + 1 - shift", SQUARE),
    "certificate": (LEMMAS, "LIMIT - rational", "9 - rational", BELOW),
    "factory": (LEMMAS, "x * x - least", "x * x + 9 - least", FACTORED),
    "argument of a factory": (LEMMAS, '"tabled", -1.0', '"tabled", -2.0', FACTORED),
    "cost": (LEMMAS, '"cost": 40', '"cost": 10**6', SQUARE),
    "proof of another lemma": (LEMMAS, "squares:prove", "squares:other", SQUARE),
    # a file that it imports, or that its proof lies in
    "helper of a hypothesis": (BOUNDS, ">= deep.LEAST", "== deep.LEAST", DOUBLE),
    "bound of a strategy": ("lemmas/deep.py", "SPREAD = 1000", "SPREAD = 1001", SQUARE),
    "proof of nothing": (PROOFS, "    ensure(1 + 1, 2)\n", "", SQUARE),
    "step of a proof": ("lemma_proofs/steps.py", "a != b", "False", SQUARE),
    "helper in another folder of its package": ("elsewhere/spaces/far.py", "0.0", "1.0", DOUBLE),
    "helper that a folder here has the name of": ("elsewhere/notes.py", "0.0", "1.0", DOUBLE),
    # a file that no claim imports, or its data
    "data": (FACTORS, "2", "3", None),
    "function that is registered": (RULES, "x + 1", "x + 2", None),
    "list that is added to": (RULES, "TERMS += [1]", "TERMS += [2]", None),
    "list that is appended to": (RULES, "append(3)", "append(4)", None),
    "class that its base keeps": (RULES, "LEAST = 0", "LEAST = 1", None),
}
"""Edits of one file each, and a claim whose code changes by it; None if it changes for no claim."""
ATTACKS |= {
    name: (swap(*edit), f"{claim}: {CODE}" if claim else REST)
    for name, (*edit, claim) in EDITS.items()
}
HARMLESS = {
    "comments, docstrings and layout": both(
        swap(LEMMAS, "# its error bound", "# what floats may be off"),
        swap(LEMMAS, '    """A square is not negative."""\n', ""),
        swap("lemmas/__init__.py", "A pack", "A small pack"),
        swap(PROOFS, "A square of a symbol", "Squares"),
        swap(
            LEMMAS,
            "return Slack(x * x - shift, 1e-9)",
            "return Slack(\n        x*x - shift,\n        1e-9,\n    )",
        ),
        swap(LEMMAS, '"Double a number and add."', "'Double a number and add.'"),
        swap(LEMMAS, "\n\ndef below_ball", "\n\n\n\n\n\ndef below_ball"),
    ),
    "files in another form": both(
        lambda: Path("lemmas/lazy.py").write_bytes(
            Path("lemmas/lazy.py").read_bytes().replace(b"\n", b"\r\n")
        ),
        lambda: py_compile.compile("lemmas/deep.py"),
        new("lemmas/.notes", "words"),
    ),
    "a run whose workers ended in another order": chained(turned),
    "an earlier run that was cut": both(naive(lambda e: e[:7]), lambda: main(VERIFY)),
}

REFACTORED = {
    "functions in another order": both(
        swap(BOUNDS, "\nLIMIT = 5\n", ""),
        append(BOUNDS, "\nLIMIT = 5\n"),
        again(),
    ),
    "a helper and the statements moved to files of other names, behind a link": both(
        lambda: Path("lemmas/lazy.py").rename("lemmas/late.py"),
        swap(LEMMAS, "lemmas.lazy", "lemmas.late"),
        lambda: Path(LEMMAS).rename("lemmas/numbers.py"),
        linked,
        again(),
    ),
    "a helper moved beside another one, and an import that is not needed": both(
        swap("lemmas/lazy.py", "def doubled", "def unused"),
        append(BOUNDS, "\n\ndef doubled(x: float) -> float:\n    return 2 * x\n"),
        swap(LEMMAS, "from lemmas.lazy", "from lemmas.bounds"),
        append(BOUNDS, "import lemmas.lazy\n"),
        again(),
    ),
}


@pytest.mark.parametrize("attack", RECORDS)
@pytest.mark.usefixtures("records")
def test_an_edited_record_is_refused_by_name(capsys, attack):
    refused(capsys, *RECORDS[attack])


@pytest.mark.usefixtures("records")
def test_a_sibling_may_fall_after_instances_that_searchers_made(capsys):
    chained(part(1, probed=7))()
    assert main(GATE) == 0


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.usefixtures("pack")
def test_edited_code_is_refused_by_name(capsys, attack):
    edit, reason = ATTACKS[attack]
    refused(capsys, both(edit, forget), reason)


def refused(capsys, edit, reason):
    """The gate refuses an edit for that reason, without an internal error."""
    edit()
    capsys.readouterr()
    code = main(GATE)
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "internal error" not in said.err
    assert code in (1, 2)
    assert reason in said.out + said.err


@pytest.mark.parametrize("edit", HARMLESS)
def test_what_changes_nothing_stays_green(pack, capsys, edit):
    HARMLESS[edit]()
    forget()
    capsys.readouterr()
    code = main(GATE)
    assert capsys.readouterr().out.startswith("gate: 4 verdicts as reviewed\n")
    assert code == 0


@pytest.mark.parametrize("edit", REFACTORED)
def test_a_refactoring_takes_one_command(pack, capsys, edit):
    REFACTORED[edit]()
    forget()
    capsys.readouterr()
    assert main([*GATE, "--json", "reasons.json"]) == 1
    reasons = json.loads(Path("reasons.json").read_text())["reasons"]
    assert all(f": {CODE} (" in reason for reason in reasons)
    assert main([*GATE, "--update", "--yes"]) == 0
    assert main(GATE) == 0


def test_reasons_name_the_place_of_the_claim_and_the_most_important_is_first(pack, capsys):
    swap(LEMMAS, "x^2 >= $shift", "x^2 > $shift")()
    entry(BELOW, truth="holds", evidence="numeric")()
    forget()
    main(GATE)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(OLD)
    file = "counterexamples/toys--below--literal.json"
    assert lines[1].startswith(f"{BELOW}: holds -> refuted by x = 7, {file} [{LEMMAS}:")
    line = 1 + (pack / LEMMAS).read_text().splitlines().index("SQUARE = Statement(")
    assert f"[{LEMMAS}:{line}]" in next(x for x in lines if x.startswith(f"{SQUARE}: statement"))


def test_an_update_shows_what_changed_and_writes_only_when_told(pack, capsys):
    before = Path(EXPECTED).read_text()
    swap(LEMMAS, "x^2 >= $shift", "x^2 > $shift")()
    swap(LEMMAS, TABLED, 'other = made("other", -1.0)')()
    again()()
    capsys.readouterr()
    assert main([*GATE, "--update"]) == 1
    shown = capsys.readouterr().out
    assert (
        f'{SQUARE}: statement edited: reviewed is "x^2 >= 0.0.", now it says "x^2 > 0.0."' in shown
    )
    assert "toys/tabled:literal: removed" in shown
    assert "toys/other:literal: new: holds, numeric, exercised" in shown
    assert Path(EXPECTED).read_text() == before

    assert main([*GATE, "--update", "--yes"]) == 0
    after = json.loads(Path(EXPECTED).read_text())["claims"]
    assert sorted(after) == [BELOW, DOUBLE, "toys/other:literal", SQUARE]
    assert after[SQUARE]["reviewed"]["statement"] == "x^2 > 0.0."
    assert after[SQUARE]["reason"] == "a reason"
    assert after["toys/other:literal"]["reason"] == UNREVIEWED
    assert after["toys/other:literal"]["reviewed"]["examples"] == 8
    kept = json.loads(before)["claims"][BELOW]
    kept["reviewed"]["digest"] = after[BELOW]["reviewed"]["digest"]  # of a module that was edited
    assert after[BELOW] == kept
    capsys.readouterr()
    assert main(GATE) == 1
    assert (
        capsys.readouterr()
        .out.splitlines()[0]
        .startswith("toys/other:literal: its reason in the expectations says")
    )
    assert main([*GATE, "--update"]) == 0


def test_an_update_does_not_take_counts_from_a_run_of_other_code(pack):
    swap(LEMMAS, "x * x - shift", "x * x + 1 - shift")()
    forget()
    entry(BELOW, reviewed=None)()
    assert main([*GATE, "--update", "--yes"]) == 0
    after = json.loads(Path(EXPECTED).read_text())["claims"]
    assert after[BELOW]["reviewed"]["examples"] == 0
    assert main(["gate", "--yes"]) == 2


def beside(folder, *names):
    """Packs of one file each in a folder, checked and reviewed together; the words that say so."""
    folder.mkdir()
    text = TWO.replace("st.just(ZERO)", "st.integers(-999, 1).map(float)").replace(": 1}", ": 10}")
    for name in names:
        (folder / f"{name}.py").write_text(text.replace("toys/two", f"toys/{name}"))
    packs = [w for name in names for w in ("--only-pack", str(folder / f"{name}.py"))]
    assert main(["verify", *packs, "--ledger", "ledger"]) == 0
    assert main(["gate", *packs, "--ledger", "ledger", "--update", "--yes"]) == 0
    place = folder / "expectations.json"
    place.write_text(place.read_text().replace(UNREVIEWED, "a reason"))
    return [*packs, "--ledger", "ledger"]


def test_claims_of_all_files_of_a_folder_are_held(pack, capsys):
    words = beside(pack / "loose", "one", "other")
    claims = json.loads((pack / "loose/expectations.json").read_text())["claims"]
    assert sorted(claims) == [f"toys/{n}:{r}" for n in ("one", "other") for r in READINGS]
    assert main(["gate", *words]) == 0
    more = TWO[TWO.index("TWO =") :].replace("TWO =", "MORE =").replace("toys/two", "toys/more")
    append(pack / "loose/one.py", more)()
    forget()
    assert main(["verify", "toys/one", "toys/other", *words]) == 0
    capsys.readouterr()
    assert main(["gate", *words]) == 1
    assert "toys/more:literal: this claim was never reviewed" in capsys.readouterr().out


def test_two_files_that_expect_something_of_one_claim_are_refused(pack, capsys):
    words = beside(pack / "loose", "one")
    assert main(["verify", *words, "--only-pack", "lemmas"]) == 0
    assert main(["gate", *words, "--only-pack", "lemmas"]) == 0
    claims = json.loads(Path(EXPECTED).read_text())["claims"]
    document = json.loads((pack / "loose/expectations.json").read_text())
    document["claims"][SQUARE] = claims[SQUARE] | {"truth": "holds"}
    (pack / "loose/expectations.json").write_text(json.dumps(document))
    assert main(["gate", *words, "--only-pack", "lemmas"]) == 2
    said = "has an expectation of a claim that another file has as well"
    assert f"{said} (got {SQUARE})" in capsys.readouterr().err


def test_a_run_of_another_seed_passes_only_where_it_is_asked_for(pack, capsys):
    again("--seed", "3")()
    forget()
    assert main(GATE) == 1
    assert "seed 3, not quick and 0" in capsys.readouterr().out
    assert main([*GATE, "--seed", "3"]) == 0


TWO = """
from flint import arb
from hypothesis import strategies as st
from attsvm.theory import Hypothesis, Measured, Reading, Records, Slack, Statement, changed

ZERO = 0.0
ONE = 1.0
BOTH = {"cost": 1}


def slack(x: float, k: float = 0.0) -> Slack:
    return Slack(-k, 0.0)


def ball(x: float, k: float = 0.0) -> arb:
    return arb(-k)


LOW = Hypothesis("x <= 1", lambda x: x <= 1)

TWO = Statement(
    "toys/two", source="s", place="p", printed="0 >= 0", **BOTH,
    variables=Records(float, st.just(ZERO)),
    hypotheses=(LOW,),
    violating={LOW: [2.0]},
    conclusion=Measured("0 >= $k", floats=slack, balls=ball),
    readings={
        "literal": Reading("holds", siblings={"k = 1": changed(k=ONE)}),
        "amended": Reading("holds", constants={"k": 0.0}, siblings={"k = 2": changed(k=2.0)}),
    },
)
"""
READINGS = ("amended", "literal")
