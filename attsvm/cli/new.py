"""The command `attsvm new` writes a claim file that runs, as a start for your own, and its test."""

import argparse
import shlex
from pathlib import Path

from attsvm.cli.arguments import Parsers, tell
from attsvm.errors import FileError, UsageError

_FILE = '''"""What the statement is about, in a sentence."""

from attsvm.theory import Reading, Real, Statement, changed

STATEMENT = Statement(
    "{id}",
    source="My paper",
    place="Lemma 1",
    printed="2 x y <= x^2 + y^2",
    # What it quantifies over. There are also Vector("n"), Matrix("n", "d") with "n": Integer(1, 4),
    # Near("x", ()) for a second point, Choice for families, Fitted() for bounds R in hypotheses.
    variables={{"x": Real(), "y": Real()}},
    # Conditions, each as Hypothesis("x >= 0", lambda m, v: m.at_least(v.x, m.exact(0))). All these
    # names are imported from attsvm.theory.
    hypotheses=(),
    # The formula, once: m has the functions (m.norm, m.softmax, ...), v the variables. It runs in
    # floats to search and in exact arithmetic to decide, so write constants as integers, Fractions
    # or m.exact("0.95"), and return m.at_most, m.below or m.equal.
    conclusion=lambda m, v, factor: m.at_most(factor * v.x * v.y, m.square(v.x) + m.square(v.y)),
    # The literal reading is the statement as printed; `amended` and `sharp` ones come beside it.
    readings={{
        "literal": Reading(
            "holds",  # the verdict; attsvm show prints the sentence, composed of all these parts
            constants={{"factor": 2}},
            tight=True,  # 95 % and 99.9 % of the right side must be refuted
            siblings={{"factor 3": changed(factor=3)}},  # a false neighbour; it must fall
        ),
    }},
)
'''

_TEST = '''"""Every reading has the verdict that is expected, and its false neighbours fall."""

from pathlib import Path

from attsvm import verify
from attsvm.theory import load_packs

(PACK,) = load_packs(only=[str(Path(__file__).with_name("{name}"))])


def test_every_verdict_is_as_expected():
    assert verify(*PACK.claims).as_expected
'''


def add(parsers: Parsers) -> None:
    """Add the command."""
    parser = parsers.add(
        "new", help="write a claim file that runs and its test, as a start for your own"
    )
    parser.add_argument("id", metavar="ID", help="id of the statement, such as mine/lemma-1")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the file (default: named after the statement, in this folder)",
    )


def run(options: argparse.Namespace) -> int:
    """Write the file and its test, and name the next commands; return 0."""
    from attsvm._files import write_text
    from attsvm.theory.declaration.claim import is_id

    if not is_id(f"{options.id}:literal"):
        raise UsageError(
            "a statement's id is source/statement in lower case, digits, hyphens and dots",
            value=options.id,
            remedy="Choose an id such as mine/lemma-1.",
        )
    name = options.id.rpartition("/")[2].replace("-", "_").replace(".", "_")
    path = Path(options.out or f"{name}.py")
    if path.suffix != ".py":
        raise UsageError(
            "a claim file ends in .py", value=str(path), remedy=f"Write --out {name}.py."
        )
    test = path.with_name(f"test_{path.name}")
    for chosen in (path, test):
        if chosen.exists() or chosen.is_symlink():
            raise FileError(f"{chosen} exists already", remedy="Name another file with --out.")
    write_text(path, _FILE.format(id=options.id))
    write_text(test, _TEST.format(name=path.name))
    file = shlex.quote(str(path))
    following = [
        f"attsvm verify --pack {file} {options.id}",
        f"attsvm show --pack {file} {options.id}",
        f"attsvm hunt --pack {file} {options.id}:literal --seconds 10",
        f"attsvm gate --only-pack {file} --update --yes",
        f"pytest {shlex.quote(str(test))}",
    ]
    lines = [
        f"wrote {path} and {test}; they run as they are:",
        *(f"  {command}" for command in following),
        "the last one needs pytest, which attsvm does not bring: pip install pytest",
    ]
    tell(
        options, {"id": options.id, "file": str(path), "test": str(test), "next": following}, lines
    )
    return 0
