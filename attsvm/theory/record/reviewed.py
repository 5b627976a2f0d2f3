"""What was reviewed of a claim, and how the claim that is checked out differs from it."""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from types import ModuleType
from typing import Any

from attsvm.theory.declaration.claim import Claim, Sibling
from attsvm.theory.declaration.code_bases import base_of, home_of, located
from attsvm.theory.declaration.code_digests import Definitions, Start
from attsvm.theory.declaration.formula import Formula
from attsvm.theory.declaration.packs import Pack, modules
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.statement import Reading, Statement
from attsvm.theory.declaration.syntax import constant
from attsvm.theory.declaration.variables import Meeting
from attsvm.theory.record import curated, forms
from attsvm.theory.record.checkout import data_of
from attsvm.theory.run.profiles import profile_named

BASIS = "quick"
"""The profile whose counts are reviewed."""

_TOPICS = {
    "variables": "strategy",
    "hypotheses": "hypotheses",
    "under": "hypotheses",
    "violating": "siblings",
    "siblings": "siblings",
    "tight": "siblings",
}
"""Arguments of a statement and of a reading by what they serve; others serve the check."""

_TOLD = frozenset(("id", "source", "place", "cost", "says", "expected", "proof", "rests_on"))
"""Arguments that are held in words."""

_CODE = {
    "hypotheses": "the code of its hypotheses changed",
    "siblings": "the code of its siblings changed",
    "strategy": "its strategy of instances changed",
    "check": "the code of its conclusion or of what it rests on changed",
    "proof": "the code of its proof changed",
    "loading": "what its pack changes as it is loaded changed",
    "data": "data files beside its code changed",
}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What was reviewed of a claim.

    Attributes:
        statement: the sentence.
        place: source and place.
        hypotheses: their names.
        siblings: by name, what each changes and drops.
        proof: `package.module:function`, or "".
        planned: ordinary instances that the profile quick plans for the reading.
        examples: those that the reviewed run evaluated; 0 where no run was reviewed.
        counterexample: the digest of the curated counterexample, or "".
        code: digests of the code by what it serves (hypotheses, siblings, strategy, check, proof)
            and of what it shares with its pack (loading, data).
    """

    statement: str
    place: str
    hypotheses: tuple[str, ...] = ()
    siblings: Mapping[str, str] = field(default_factory=dict)
    proof: str = ""
    planned: int = 0
    examples: int = 0
    counterexample: str = ""
    code: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """As plain data."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def read(cls, document: Any) -> Reviewed:
        """From plain data.

        Raises:
            TypeError: it is of another form.
        """
        if forms.lacking(document, _FORM) is not None or set(document) != set(_FORM):
            raise TypeError("`reviewed` is of another form; `attsvm gate --update` writes it")
        return cls(**{**document, "hypotheses": tuple(document["hypotheses"])})

    @property
    def owed(self) -> int:
        """The ordinary instances that a run has to evaluate: half of the reviewed ones, rounded up.

        Another seed meets hypotheses more or less often; it does not lose half of the instances.
        """
        return max(-(-self.examples // 2), 1)


_FORM = {
    **dict.fromkeys(("statement", "place", "proof", "counterexample"), forms.text),
    "hypotheses": forms.each(forms.text),
    **dict.fromkeys(("siblings", "code"), forms.values(forms.text)),
    **dict.fromkeys(("planned", "examples"), forms.count),
}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def review(claims: Collection[Claim], packs: Iterable[Pack]) -> dict[str, Reviewed]:
    """The claims as they are checked out, by id; no run is looked at."""
    loaded = list(packs)
    names = _names(claims, loaded)
    definitions = Definitions()
    shared: dict[str, dict[str, str]] = {}
    wanted = {claim.id for claim in claims}
    for pack in loaded:
        if wanted.isdisjoint(claim.id for claim in pack.claims):
            continue
        told = _shared(pack, definitions)
        for claim in pack.claims:
            shared[claim.id] = {**shared.get(claim.id, {}), **told}
    return {
        c.id: _reviewed(c, names.get(c.id, ()), definitions, shared.get(c.id, {})) for c in claims
    }


def _shared(pack: Pack, definitions: Definitions) -> dict[str, str]:
    """The digests of what counts for all claims of a pack, where there is any."""
    files = [located(module.__file__) for module in modules(pack) if module.__file__]
    found = {"loading": definitions.acting(files), "data": data_of(pack.claims)}
    return {topic: digest for topic, digest in found.items() if digest}


def _names(claims: Collection[Claim], packs: Iterable[Pack]) -> dict[str, tuple[Start, ...]]:
    """The names at the top level of modules under which the claims are found, by id."""
    homes = {claim.file for claim in claims}
    places = [m for pack in packs for m in modules(pack)]
    for module in list(sys.modules.values()):
        file = module.__dict__.get("__file__") if isinstance(module, ModuleType) else None
        if type(file) is str and file in homes:
            places.append(module)
    found: dict[str, set[tuple[str, str]]] = {}
    for module in places:
        for name, value in vars(module).items():
            for made in value.claims if isinstance(value, Statement) else (value,):
                if isinstance(made, Claim) and module.__file__:
                    found.setdefault(made.id, set()).add((module.__file__, name))
    return {
        claim: tuple(Start(located(file), name) for file, name in sorted(where))
        for claim, where in found.items()
    }


def _reviewed(
    claim: Claim,
    names: tuple[Start, ...],
    definitions: Definitions,
    shared: Mapping[str, str],
) -> Reviewed:
    quick = profile_named(BASIS).scaled(claim.cost)
    ensemble = quick.ensemble if claim.ensemble is not None else 0
    return Reviewed(
        statement=claim.statement,
        place=f"{claim.source}, {claim.place}",
        hypotheses=tuple(h.name for h in claim.hypotheses),
        siblings={s.name: _described(claim, s) for s in claim.siblings},
        proof=claim.proof or "",
        planned=len(claim.examples) + ensemble + quick.examples,
        counterexample=_stored(claim),
        code={**dict(_code(claim, names, definitions)), **shared},
    )


def _described(claim: Claim, sibling: Sibling) -> str:
    """What a sibling changes and drops, in words."""
    words = [f"{name}={_simple(value)}" for name, value in sibling.parameters.items()]
    words += [f"drops {name}" for name in sibling.drop]
    words += ["own strategy"] if _redrawn(claim.formula, sibling.formula) else []
    words += [f"own instances: {len(sibling.examples)}"] if sibling.examples else []
    return ", ".join(words)


def _redrawn(own: Formula, other: Formula) -> bool:
    """Whether a sibling quantifies over other variables or records than its claim."""
    if isinstance(own, RecordFormula) and isinstance(other, RecordFormula):
        return own.records is not other.records
    # a variable that meets hypotheses is made anew for a sibling that leaves some out
    kept = {k: v for k, v in own.variables.items() if not isinstance(v, Meeting)}
    return own.variables.keys() != other.variables.keys() or any(
        other.variables[k] is not v for k, v in kept.items()
    )


def _simple(value: Any) -> str:
    known = value is None or isinstance(value, bool | int | float | str)
    return constant(value) if known else type(value).__name__


def _stored(claim: Claim) -> str:
    """The digest of the curated counterexample, without the fingerprint of the code at its time."""
    path = curated.place(claim)
    if not path.is_file():
        return ""
    text = path.read_bytes()
    try:
        content = json.loads(text)
        content.pop("fingerprint", None)
        text = json.dumps(content, sort_keys=True).encode()
    except (ValueError, AttributeError, RecursionError):
        pass  # a file that cannot be read does not stand: the replay says so
    return hashlib.sha256(text).hexdigest()[:12]


def _code(
    claim: Claim, names: tuple[Start, ...], definitions: Definitions
) -> Iterator[tuple[str, str]]:
    """The digests of a claim's code by what it serves.

    A statement at the top level of a module is taken apart by the arguments of its call and of the
    claim's reading; of a claim that is made otherwise all code counts as its check.
    """
    file = located(claim.file)
    node = definitions.declaration(file, claim.line) if file.is_file() else None
    call = _call(node.value, Statement) if isinstance(node, ast.Assign | ast.AnnAssign) else None
    parts: dict[str, list[Start]] = {"check": []}
    if call is None:
        parts["check"] += [*names, *([] if node is None else [Start(file, node=node)])]
    else:
        for name, value in _parts(call, claim.reading):
            parts.setdefault(_TOPICS.get(name, "check"), []).append(Start(file, node=value))
    for topic, starts in parts.items():
        yield topic, definitions.resting(starts)
    if claim.proof is not None:
        module, _, function = claim.proof.partition(":")
        home = home_of(module, base_of(file))
        yield (
            "proof",
            "" if home is None else definitions.resting([Start(located(home), function)]),
        )


def _parts(call: ast.Call, reading: str) -> Iterator[tuple[str, ast.AST]]:
    """The arguments of a statement and of one of its readings by name, but what is told in words.

    Those that cannot be told apart have no name.
    """
    yield "", call.func
    for name, value in _arguments(call, Statement):
        own = _reading(value, reading) if name == "readings" else None
        if own is not None:
            yield "", own.func
            yield from (pair for pair in _arguments(own, Reading) if pair[0] not in _TOLD)
        elif name not in _TOLD:
            yield name, value


def _reading(readings: ast.AST, name: str) -> ast.Call | None:
    """The call that makes the reading of this name, where all names are written out."""
    table = readings.value if isinstance(readings, ast.keyword) else readings
    if not isinstance(table, ast.Dict):
        return None
    pairs = zip(table.keys, table.values, strict=True)
    found = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
    return _call(found.get(name), Reading) if len(found) == len(table.keys) else None


def _call(node: ast.AST | None, made: type[Any]) -> ast.Call | None:
    """The node, where it is a call of the type by its own name."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        return node if name == made.__name__ else None
    return None


def _arguments(call: ast.Call, made: type[Any]) -> Iterator[tuple[str, ast.AST]]:
    """The arguments of a call that makes a dataclass, by name; "" for those that are unpacked."""
    names = [f.name for f in fields(made)]
    plain = not any(isinstance(value, ast.Starred) for value in call.args)
    for k, value in enumerate(call.args):
        yield names[k] if plain else "", value
    for keyword in call.keywords:
        yield keyword.arg or "", keyword


def differences(old: Reviewed, new: Reviewed) -> tuple[str, ...]:
    """What changed since the review, in words; the counts of runs are left out."""
    return tuple(_differences(old, new))


def _differences(old: Reviewed, new: Reviewed) -> Iterator[str]:
    if old.statement != new.statement:
        yield f'statement edited: reviewed is "{old.statement}", now it says "{new.statement}"'
    if old.place != new.place:
        yield f"place edited: reviewed is {old.place}, now it says {new.place}"
    told = set()
    for names, kind, topic in (
        ((old.hypotheses, new.hypotheses), "hypothesis", "hypotheses"),
        ((old.siblings, new.siblings), "sibling", "siblings"),
    ):
        for verb, some, others in (("removed", *names), ("added", *reversed(names))):
            for name in some:
                if name not in others:
                    told.add(topic)
                    yield f"{kind} {verb}: {name}"
    for name in old.siblings:
        if name in new.siblings and old.siblings[name] != new.siblings[name]:
            told.add("siblings")
            yield f"sibling changed: {name}: {old.siblings[name]} -> {new.siblings[name]}"
    if old.proof != new.proof:
        told.add("proof")
        yield f"proof replaced: {old.proof or 'none'} -> {new.proof or 'none'}"
    if old.planned != new.planned:
        yield f"instances planned at profile {BASIS}: {old.planned} -> {new.planned}"
    if old.counterexample != new.counterexample:
        done = "edited" if new.counterexample and old.counterexample else "added"
        yield f"curated counterexample {done if new.counterexample else 'deleted'}"
    for topic, said in _CODE.items():
        before, after = old.code.get(topic, "none"), new.code.get(topic, "none")
        if topic not in told and before != after:
            yield f"{said} ({before} -> {after})"
