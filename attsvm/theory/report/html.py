"""A run as one self-contained HTML page, readable without JavaScript."""

import json
import os
from base64 import b64encode
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from attsvm._types import Case, Entry, JsonObject
from attsvm._words import counted
from attsvm.errors import ClaimError
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.verdict import IN_PROSE, Evidence, Fairness, Truth, Validity
from attsvm.theory.instance.in_python import python
from attsvm.theory.instance.letters import letters_in_words
from attsvm.theory.packs.code_digests import homes
from attsvm.theory.packs.packs import Pack, members
from attsvm.theory.record.curated import known_witness
from attsvm.theory.record.errata import Weight
from attsvm.theory.record.runs import Run
from attsvm.theory.report.drawings import drawn, graph
from attsvm.theory.report.mathml import formula, typeset_sentence
from attsvm.theory.report.picture import Painter
from attsvm.theory.report.refutation import refutation
from attsvm.theory.report.rendering import FOLDER, render
from attsvm.theory.report.script import script, writers
from attsvm.theory.report.source_view import SourceView, source_view
from attsvm.theory.report.terminal import NOT_SHOWN, NOT_SHOWN_MEANING, outcome, ranked, tight
from attsvm.theory.report.verifier import verifier_or_reason
from attsvm.theory.report.view import AXES, ReadingView, StatementView

_WORDS = (*map(str, Truth), "none")
"""Words that are also names of classes in the style sheet, each with a colour."""

_FIRST = 4
"""Maximum number of findings of the first weight that are unfolded at first, for each source."""

_KINDS = {
    "reading": "One exact form of a statement: hypotheses, data and conclusion.",
    "literal": "Exactly what is printed; numbered if the words admit several forms.",
    "amended": "A repair, meant to change as little as possible; the first ones may fall.",
    "sharp": "The strongest version that we know, with the best constant or rate if it has one.",
    "sibling": "A deliberately false variant of a reading, which the same check must refute.",
    "tightness": "The largest ratio of left to right side that the run reached.",
    "sizes": "Shapes of the variables in the first instances of a check, and how many had them.",
    "equal entries": "Whether two entries of an array other than 0 are equal in size.",
    "support tokens": "Number of tokens of each input that have margin 1 in the Att-SVM.",
    "slack": "The distance of a conclusion from failing at an instance. Below 0 it is violated; a "
    "strict conclusion is also violated at 0.",
}
_MEANINGS = {
    **{
        axis.__name__: {str(w): w.meaning for w in axis}
        for axis in (Truth, Evidence, Validity, Fairness)
    },
    "Other words": _KINDS,
}
_WEIGHTS = {
    Weight.CLAIM: "overturns a theorem or a claim",
    Weight.CONSTANT: "changes a constant, a formula or a condition",
    Weight.MISPRINT: "is a misprint",
}


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A redrawn figure of a source.

    Attributes:
        id: source and name.
        place: the place of the original.
        shows: what the figure shows, in one sentence.
        concludes: what its numbers imply, a sentence each.
        again: the command that draws it.
        pictures: PNG files, by name.
    """

    id: str
    place: str
    shows: str
    concludes: tuple[str, ...]
    again: str
    pictures: tuple[tuple[str, bytes], ...]


def page(
    run: Run,
    packs: Sequence[Pack] = (),
    *,
    only: str | None = None,
    folder: Path | None = None,
    figures: Sequence[ShownFigure] = (),
) -> str:
    """Return the HTML page of a run.

    Args:
        run: the run with its verdicts.
        packs: their claims supply printed sentences, errata and counterexamples.
        only: the source to which the page is restricted.
        folder: the folder of the page, for links to files; the current folder if None.
        figures: redrawn figures of the sources.

    Raises:
        ClaimError: an instance of an erratum refutes nothing.
        FileError: a text about a source fits no claim.
    """
    names = dict.fromkeys(id.partition("/")[0] for id in sorted({*run.claims, *run.verdicts}))
    chosen = [name for name in names if only in (None, name)]
    sources = [source_view(name, packs, run, ran=True) for name in chosen]
    readings = [r for view in sources for r in view.readings]
    results = [r.truth for r in readings]
    known = {c.id for pack in packs for c in pack.claims}
    weights = [(weight, *_by_weight(sources, weight)) for weight in Weight]
    text = render(
        "page.html.j2",
        _filters(packs, folder or Path()),
        title=f"attsvm: {only}" if only else "attsvm: findings",
        style=Markup((FOLDER / "page.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "page.js").read_text(encoding="utf-8")),
        sources=sources,
        known={s.id for view in sources for s in view.statements},
        lead=_lead(run, sources, readings),
        tallies={w: results.count(w) for w in (*map(str, Truth), "not run") if w in results},
        wrong=list(_wrong(run, readings)),
        findings=[(str(weight), *groups) for weight, *groups in weights if any(groups)],
        plain=[
            s for view in sources for s in view.statements if s.refuted and s.shown_erratum is None
        ],
        figures=figures,
        truths=list(map(str, Truth)),
        axes=AXES,
        meanings=_MEANINGS,
        not_shown_meaning=NOT_SHOWN_MEANING,
        about=_about(run, readings),
        again=f"attsvm verify --profile {run.profile} --seed {run.seed}"
        + "".join(f" {name}" for name in _named({*run.claims}, known)),
    )
    return f"{text}\n"


def _lead(run: Run, sources: Sequence[SourceView], readings: Sequence[ReadingView]) -> str:
    """Return a summary: what the run examined, and its result."""
    off = sum(bool(r.entry) and not r.as_expected for r in readings)
    came = outcome(off, len(run.fallen))
    if not run.finished or not all(r.entry for r in readings):
        came += "; the run did not finish"
    if run.damaged:
        came += f"; {counted(run.damaged, 'damaged line')} in its record"
    instances = sum(int(r.entry.get("examples", 0)) for r in readings)
    of = "" if len(sources) == 1 else f" of {counted(len(sources), 'source')}"
    return (
        f"{counted(sum(len(s.statements) for s in sources), 'statement')}{of} in "
        f"{counted(len(readings), 'reading')}, checked on {counted(instances, 'instance')} with "
        f"profile {run.profile} and seed {run.seed}: {came}."
    )


def _wrong(run: Run, readings: Sequence[ReadingView]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each problem of a run: the id of a reading or "", and the text before and after it."""
    for r in readings:
        if not r.entry:
            yield r.id, ("Without a verdict: ", "")
        elif not r.as_expected:
            want = (r.entry.get("expected") or {}).get("truth", "?")
            yield r.id, ("Not as expected: ", f", {r.truth} instead of {want}")
    for file, result, reason in run.fallen:
        yield "", (f"{result}: {file} {reason}", "")
    for fault in run.faults:
        yield "", (f"{fault[:1].upper()}{fault[1:]}", "")


def _by_weight(
    sources: Sequence[SourceView], weight: Weight
) -> tuple[list[StatementView], list[StatementView]]:
    """Return the findings of one weight: the unfolded ones, and the folded ones."""
    results = [view.of_weight(weight) for view in sources]
    most = _FIRST if weight is Weight.CLAIM else 0
    seen = [s for own in results for s in own[:most]]
    return seen, [s for own in results for s in own[most:]]


def _about(run: Run, readings: Sequence[ReadingView]) -> list[tuple[str, object]]:
    seconds = sum(float(r.entry.get("seconds") or 0) for r in readings)
    replayed = f"{len(run.replays)} replayed, {len(run.fallen)} not confirmed"
    return [
        ("profile", run.profile),
        ("seed", run.seed),
        *run.about.items(),
        ("seconds of computing", f"{seconds:.0f}"),
        ("curated counterexamples", replayed),
        ("finished", "yes" if run.finished else "no"),
        *(("record", fault) for fault in run.faults),
    ]


def _named(ran: Set[str], known: Set[str]) -> list[str]:
    """Return prefixes and ids that name the claims of a run; none if all known claims ran."""

    def shortest(id: str) -> str:
        for end in "/:":
            prefix = id.partition(end)[0] + end
            if all(other in ran for other in known if other.startswith(prefix)):
                return prefix.removesuffix(":")
        return id

    return [] if known <= ran else list(dict.fromkeys(map(shortest, sorted(ran))))


def _filters(packs: Sequence[Pack], folder: Path) -> JsonObject:
    """Return the functions that templates apply to views, by name."""
    own, painters = writers(packs), members(packs, Painter)
    return {
        "base64": lambda content: b64encode(content).decode("ascii"),
        "bold": lambda word: Markup("<b>{}</b>").format(word),
        "capitalised": str.capitalize,
        "colour": _colour,
        "confirmed": _confirmed,
        "counted": counted,
        "differences": lambda r: list(_differences(r)),
        "doubtful": _doubtful,
        "drawing": _drawing,
        "facts": lambda r: list(_facts(r)),
        "figures": _figures,
        "filters": lambda s: _data(s).items(),
        "formula": formula,
        "from_here": lambda file: Path(os.path.relpath(file)).as_posix(),
        "how_known": _how_known,
        "hypotheses": _hypotheses,
        "in_a_word": _in_a_word,
        "letters_in_words": letters_in_words,
        "json": lambda entry: json.dumps(entry, indent=1, ensure_ascii=False),
        "letter": lambda truth: truth[0].upper() if truth in _WORDS else "?",
        "lines_that_run": _lines_that_run,
        "picture": lambda r, case: _picture(r, case, painters),
        "places": lambda s: list(_places(s, folder)),
        "proof_places": lambda r: list(_proof_places(r, folder)),
        "resting": _resting,
        "sentence": typeset_sentence,
        "standing_readings": lambda s: [r for r in s.readings if r.id in s.shown_erratum.stands],
        "texts": lambda r, cases: list(_texts(r, cases, own)),
        "what_it_does": _WEIGHTS.__getitem__,
        "without": lambda id, name: id.removeprefix(f"{name}/"),
    }


def _colour(word: object) -> str:
    """Return the class in the style sheet for a word on truth."""
    return str(word) if word in _WORDS else "none"


def _doubtful(r: ReadingView) -> bool:
    return bool(r.entry.get("validity", "exercised") != "exercised")


def _in_a_word(r: ReadingView) -> str:
    """Return the id of a reading with its verdict."""
    verdict = ", ".join(str(r.entry.get(axis, "")) for axis in AXES) if r.entry else "not run"
    words = [f"{r.id}: {verdict}", *filter(None, [r.mark])]
    return ", ".join(words + ([] if r.as_expected else ["not as expected"]))


def _data(s: StatementView) -> JsonObject:
    """Return the properties by which the page filters and sorts statements."""
    marks = {
        "off": any(not r.as_expected for r in s.readings),
        "doubt": any(map(_doubtful, s.readings)),
        "unneeded": any(r.entry.get("not_shown_to_be_needed") for r in s.readings),
        "printed-falls": s.refuted,
    }
    tightest = max((r.entry.get("tightness") or 0.0 for r in s.readings), default=0.0)
    texts = [s.id, s.place, s.printed, s.shown_erratum.gist if s.shown_erratum else ""]
    texts += [str(r.entry.get("statement", "")) for r in s.readings]
    return {
        "truth": " ".join(sorted({r.truth for r in s.readings})),
        "mark": " ".join(mark for mark, has in marks.items() if has),
        "weight": len(Weight) - list(Weight).index(s.shown_erratum.weight)
        if s.shown_erratum
        else 0,
        "tight": tightest if tightest < 1e300 else 1e300,
        "seconds": round(sum(float(r.entry.get("seconds") or 0) for r in s.readings), 3),
        "text": " ".join(texts).lower(),
    }


def _drawing(view: SourceView) -> Markup:
    """Return the graph of dependencies of a source; empty if there are none."""
    ids = {s.id for s in view.statements}
    if not any(ids.intersection(s.rests_on) for s in view.statements):
        return Markup()
    return graph(view.statements, linked=True)


def _resting(s: StatementView) -> list[tuple[str, tuple[str, ...]]]:
    falls = "Statements that fall with it, or have to be read as repaired"
    return [
        ("Rests on", s.rests_on),
        (falls if s.refuted else "Statements that rest on it", s.carries),
    ]


def _places(s: StatementView, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield links to the declarations of its readings, relative to the page, with their texts."""
    for file, line in dict.fromkeys((r.claim.file, r.claim.line) for r in s.readings if r.claim):
        where, shown = _place(Path(file), folder)
        yield where, f"{shown}:{line}" if line else shown


def _proof_places(r: ReadingView, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the file of its proof, if it has one: a link relative to the page, and its text."""
    if r.claim is not None and r.claim.proof:
        for file in homes(r.claim.file, r.claim.proof)[1:]:
            where, shown = _place(file, folder)
            yield where, f"{shown}, {r.claim.proof.partition(':')[2]}"


def _place(file: Path, folder: Path) -> tuple[str, str]:
    """Return the link from a folder to a file, and the file's path from the current folder."""
    present, path = Path.cwd(), file.resolve()
    where = Path(os.path.relpath(path, folder.resolve())).as_posix()
    shown = path.relative_to(present).as_posix() if path.is_relative_to(present) else path.name
    return quote(where), shown


def _confirmed(r: ReadingView, case: Case) -> tuple[str, str]:
    """Return an instance that refutes a reading and its slack, after confirming both again."""
    if r.claim is None:
        raise ClaimError(
            "an instance of an erratum has no claim to refute",
            value=r.id,
            remedy="Name the pack of the claim with --pack.",
        )
    return refutation(r.claim, case, r.names)


def _lines_that_run(
    s: StatementView,
) -> tuple[list[tuple[Entry, list[str]]], list[Entry]]:
    """Return the distinct formulas that ran, each with its readings, and their definitions."""
    lines: dict[str, tuple[Entry, list[str]]] = {}
    where: dict[str, Entry] = {}
    for r in s.readings:
        ran = r.entry.get("formula")
        if ran:
            line = ran["conclusion"]
            lines.setdefault(line["plain"], (line, []))[1].append(r.name)
            where |= {line["plain"]: line for line in ran.get("where", [])}
    return list(lines.values()), list(where.values())


def _differences(r: ReadingView) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield how a reading differs from the first one, and the added hypotheses that it needs."""
    needed = dict.fromkeys(r.entry.get("needed", {}), " (needed)")
    needed |= dict.fromkeys(r.entry.get("not_shown_to_be_needed", []), " (not shown to be needed)")
    yield f"Otherwise than in {r.first}", r.differs
    yield f"Hypotheses that {r.first} lacks", [f"{n}{needed.get(n, '')}" for n in r.added]
    yield f"Hypotheses of {r.first} that it drops", r.dropped


def _picture(r: ReadingView, case: Case, painters: Sequence[Painter]) -> Markup:
    if r.claim is None:
        return Markup()
    pictures = (painter.draw(r.claim, case) for painter in painters)
    return Markup().join(drawn(picture) for picture in pictures if picture is not None)


def _how_known(r: ReadingView) -> str:
    """Return how the stored counterexample was confirmed: by this run's replay, or when stored."""
    if r.replayed:
        result, reason = r.replayed.get("result", ""), r.replayed.get("reason", "")
        return f"{result.capitalize()} at the start of this run: {reason}"
    certificate = (r.stored.document.get("certificate") if r.stored else None) or {}
    return f"{certificate.get('evidence', '')}: {certificate.get('method', '')}"


def _texts(r: ReadingView, cases: Sequence[Case], own: Any) -> Iterator[tuple[str, str]]:
    """Yield the parts of a counterexample that can be copied, by name."""
    claim: Claim | None = r.claim
    if claim is not None:
        short = next(filter(None, (script(claim, case, own) for case in cases)), None)
        if short is not None:
            shown = "shows it" if short.shows else "prints sides that floats cannot tell apart"
            yield f"NumPy script that {shown}", short.text
        exact = next(filter(None, (verifier_or_reason(claim, case)[0] for case in cases)), None)
        if exact is not None:
            yield "Verifier in Python's standard library", exact
        witness = known_witness(claim, cases[0])
        yield "Python that confirms it with attsvm", python(claim, "", cases[0], witness)
    if r.stored is not None and isinstance(r.stored.document.get("latex"), str):
        yield "LaTeX of the stored one", r.stored.document["latex"]


def _figures(r: ReadingView) -> list[str]:
    """Return the figures of a check, for the line above it."""
    entry = r.entry
    siblings, steps = entry.get("siblings", []), entry.get("steps", [])
    refuted = sum(bool(s.get("refuted")) for s in siblings)
    figures = [counted(int(entry.get("examples", 0)), "instance")] if entry else ["not run"]
    figures += [f"tightness {text}"] if (text := tight(entry)) else []
    figures += [f"{refuted} of {counted(len(siblings), 'sibling')} refuted"] if siblings else []
    kind = IN_PROSE if r.in_prose else "proof"
    return figures + ([f"{kind}, {counted(len(steps), 'step')}"] if steps else [])


def _facts(r: ReadingView) -> Iterator[tuple[str, object]]:
    """Yield the figures that a check recorded, by name."""
    entry = r.entry
    if entry:
        screened = entry.get("screened")
        more = f"; {screened} more screened in floats" if screened else ""
        yield "instances", f"{entry.get('examples', 0)} examined{more}"
        if entry.get("stand_in"):
            text = f"{entry.get('decided', 0)} in balls or rationals"
            yield "decided", f"{text}, {entry.get('by_stand_in', 0)} by {entry['stand_in']} alone"
    if text := tight(entry):
        yield "tightness", text
    if entry.get("reason"):
        yield "evidence", typeset_sentence(entry["reason"])
    for kind, result in entry.get("coverage", {}).items():
        yield f"{kind} (how often)", ranked(result, 8)
    if entry.get("broke"):
        yield "raised on", f"{entry['broke']} made-up: {entry.get('broke_note', '')}"


def _hypotheses(r: ReadingView) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return a table: each hypothesis as evaluated, how often it held, whether it is needed."""
    entry = r.entry
    met = entry.get("hypotheses", {})
    looked = int(entry.get("examples", 0)) + int(entry.get("rejected", 0))
    ran = (entry.get("formula") or {}).get("hypotheses", {})
    needed, open_ = entry.get("needed", {}), entry.get("not_shown_to_be_needed", [])
    rows: list[tuple[object, ...]] = []
    for name in dict.fromkeys([*met, *open_]):
        shown, line = needed.get(name), ran.get(name)
        runs = formula(line, block=False) if line and line.get("plain") != name else Markup()
        text = NOT_SHOWN if name in open_ else ""
        if shown:
            text = f"yes: without it refuted by {shown['found_by']}, {shown['evidence']}"
        last = [text] if needed or open_ else []
        times = f"{met[name]} of {looked}" if name in met else ""
        rows.append((Markup("{} {}").format(typeset_sentence(name), runs), times, *last))
    titles = ("hypothesis", "satisfied by", "needed")
    return titles[: 3 if needed or open_ else 2], rows
