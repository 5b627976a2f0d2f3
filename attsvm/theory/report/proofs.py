"""Proofs as text: numbered facts with rule and premises, or the names of steps."""

import dis
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType

from attsvm._words import counted
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.proof import CHAIN, recorded
from attsvm.theory.declaration.verdict import SHARP
from attsvm.theory.proof.facts import Fact, Proof
from attsvm.theory.proof.linked import is_linked
from attsvm.theory.proof.printing import as_text
from attsvm.theory.verification.check import ensure_steps, execute_proof, found_proof

LINKED, PROSE = "steps linked by facts", "steps connected by prose"
"""Names of the two kinds of proofs: facts checked by a small core, or steps joined by sentences."""

_FOLDED = {"assumed", "cut", "instance", "positive", "regrouped", "scaled", "square"}
"""Rules whose facts are left out of a printed proof, unless a sentence says what they show."""


def connection(claim: Claim) -> str:
    """Return how the steps of the proof of a claim are connected; "" if it has no proof."""
    if claim.proof is None:
        return ""
    return LINKED if is_linked(claim.formula, found_proof(claim)) else PROSE


def proofs_table(claims: Iterable[Claim]) -> str:
    """Return a table in Markdown of all claims with a proof, and how its steps are connected."""
    own = sorted((c for c in claims if c.proof), key=lambda c: c.id)
    kinds = [connection(c) for c in own]
    counts = (f"{kinds.count(LINKED)} {LINKED}", f"{kinds.count(PROSE)} {PROSE}")
    rows = (
        f"| {c.id} | `{c.proof}` | {_KINDS[kind]} |" for c, kind in zip(own, kinds, strict=True)
    )
    lines = (f"Of {len(own)} readings with a proof: {', '.join(counts)}.", "", *_TITLES, *rows)
    prose = ((c.id, by) for c, by in rests_on(own) if connection(c) == PROSE)
    ends = [f"| {id} | {', '.join(x.id for x in by)} |" for id, by in prose]
    return "".join(f"{line}\n" for line in (*lines, *(_TAKEN if ends else ()), *ends))


_KINDS = {LINKED: "linked", PROSE: "in prose"}
_TITLES = ("| reading | proof | steps |", "| --- | --- | --- |")
_TAKEN = (
    *("", "Readings proved in prose whose whole proof is a step of the proofs of others:", ""),
    *("| reading | taken by |", "| --- | --- |"),
)


def rests_on(claims: Iterable[Claim]) -> Iterator[tuple[Claim, list[Claim]]]:
    """Yield each claim whose proof is a step of proofs of other claims, with these claims.

    A proof is a step of every proof that calls it, directly or through other functions.
    """
    own = [(claim, inspect.unwrap(found_proof(claim))) for claim in claims]
    calls = {prove: called(prove) - {prove} for _, prove in own}
    for claim, prove in own:
        if by := [other for other, its in own if prove in calls[its]]:
            yield claim, by


def called(prove: Callable[..., object]) -> set[object]:
    """Return the functions of its package that a proof names, directly or through others."""
    result, package = set[object](), prove.__module__.partition(".")[0]
    open_: list[object] = [prove]
    while open_:
        last = open_.pop()
        one = inspect.unwrap(last) if callable(last) else last
        if not isinstance(one, FunctionType) or one in result:
            continue
        if one.__module__.partition(".")[0] != package:
            continue
        result.add(one)
        open_ += _callees(one)
    return result


@functools.cache
def _callees(function: FunctionType) -> tuple[object, ...]:
    """Return the callables that a function names; many proofs call the same functions."""
    return tuple(filter(callable, _named(function.__code__, function.__globals__)))


def _named(code: CodeType, known: Mapping[str, object]) -> Iterator[object]:
    """Yield the objects that code names, including its inner functions and comprehensions.

    A name is looked up in the code's module, or in the module before its dot: `facts.tangent`.
    """
    owner: object = None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            yield (owner := known.get(step.argval))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(owner, ModuleType):
            yield (owner := vars(owner).get(step.argval))
        else:
            owner = None
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _named(inner, known)


def _but(claim: Claim) -> str:
    """Return which clause of a sentence the facts of a linked proof do not say, if any."""
    sharp = SHARP in claim.statement.lower() and connection(claim) == LINKED
    return f', but for "{SHARP}", which no fact says' if sharp else ""


def proof_lines(claim: Claim, *, whole: bool = False) -> Iterator[str]:
    """Run the proof of a claim, and yield it as lines of text.

    Args:
        claim: a claim with a proof.
        whole: whether to print all facts. Otherwise instances, scalings, products and signs are
            left out. A fact that used one of them then names its premises in their place.
    """
    with recorded() as steps:
        sentence = execute_proof(claim)
    ensure_steps(claim, steps)
    yield f"{claim.id}: {sentence}"
    kind = connection(claim)
    yield f"proof: {claim.proof}, {kind}{_but(claim)}"
    # in prose a chain of facts is a step among others; a linked proof is one chain
    names = [name for name in steps if kind == PROSE or not name.startswith(CHAIN)]
    if kind == LINKED and not whole:
        if names:
            yield f"  {counted(len(names), 'step')} beside the facts, connected by prose"
    else:
        yield from (f"  step {k}: {name}" for k, name in enumerate(names, 1))
    for chain in steps.linked:
        yield ""
        yield from chain_lines(chain, whole=whole)


def chain_lines(chain: Proof, *, whole: bool = False) -> Iterator[str]:
    """Yield the facts of a linked proof, with rules, premises and sentences."""
    shown = {f for f in chain.facts if whole or not _is_folded(f, chain)}
    more = "" if len(shown) == len(chain.facts) else "; --all prints the others as well"
    yield f"{len(shown)} of {len(chain.facts)} facts{more}"
    for fact in chain.facts:
        if fact not in shown:
            continue
        if note := chain.notes.get(fact.number):
            yield f"     {note}:"
        assumed = ", ".join(sorted(map(as_text, fact.assumptions)))
        text = (
            f"if {assumed}, then {as_text(fact.proposition)}"
            if assumed
            else as_text(fact.proposition)
        )
        yield f"{fact.number:>4} {text}"
        numbers = sorted({p.number for p in _premises(fact, shown)})
        source = f" from {', '.join(map(str, numbers))}" if numbers else ""
        yield f"     [{fact.rule}{source}]"


def _is_folded(fact: Fact, chain: Proof) -> bool:
    """Return whether the short form of a proof leaves a fact out."""
    if fact in chain.concluded or fact.number in chain.notes:
        return False
    sign = fact.rule == "decided" and len(fact.proposition.term.parts) == 1
    return fact.rule in _FOLDED or (sign and fact.proposition.relation != "==")


def _premises(fact: Fact, shown: set[Fact]) -> Iterator[Fact]:
    """Yield the shown premises of a fact; a premise that is left out is replaced by its own."""
    for premise in fact.premises:
        if premise in shown:
            yield premise
        else:
            yield from _premises(premise, shown)
