"""Theorems about records and runs, from the words of their verifiers.

A verifier states a hypothesis or a conclusion about a record as an expression of the checker, such
as `fact(unique(data))`. A file `Words.v` beside the module of these words defines the same words in
Coq. This module parses the expression and replaces each word by that of Coq. An expression with a
word that Coq does not define has no theorem.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files

from attsvm.errors import NotExpressible
from attsvm.theory.coq.terms import numeral
from attsvm.theory.record import checker
from attsvm.theory.report.definitions import needed_modules
from attsvm.theory.report.script import needed

_BOOL, _REALS = "decide_bool", "decide_reals"
"""Tactics of Records.v: for conditions on rational numbers, and on real ones."""

_TACTICS = {"short": "decide_short", "ends_along": "decide_run", "starts_low": "decide_low"}
_LOSSES = ("strictly_decreasing", "decreasing", "smooth", "sloped")
_SIGNS = {"at_most": ("<=", "<"), "below": ("<", "<="), "equal": ("=", "<>")}
_HEAD = (
    r"^(?:Definition|Fixpoint) (\w+)((?:\s*[({](?:[^(){}]|\([^)]*\))*[)}])*)"
    r"\s*:\s*([^:]*?)\s*:="
)
"""The head of a definition: its name, its arguments with their types, the type of its value."""

_LENGTH = """step * sum(
    (inner(z, z) * sum(inner(minus(x, c), minus(x, c)) for c in [mean(X)] for x in X)
        * (D * slope / (3 * sqrt(3)) + D * D * bend / 8)
     for X, z, s in zip(data.X, data.Z, data.scores) for D in [max(s) - min(s)]
     for slope, bend in [sizes(loss, min(s), max(s))]), Real(0)) / data.n"""
"""The length of a step times the bound of 1/L by Frobenius norms, which Losses.v uses."""

_ENTRIES = 16
"""Maximum number of entries of a gradient in a theorem."""

_DIGITS = 200
"""Maximum number of digits of a numerator or denominator; Coq computes slowly with longer ones."""

_NAMED = 30
"""Maximum number of named numbers in a theorem; Coq needs minutes for more."""

_STEPS = 1
"""Maximum number of steps of descent in a theorem; each step makes its terms much longer."""

_OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_FUNCTIONS = {
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "ln",
    "softmax": "attention",
    "absolute": "Rabs",
    "is_zero": "is_zero",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a theorem.

    Attributes:
        says: the proposition.
        tactic: a tactic that proves it.
    """

    says: str
    tactic: str

    def joined(self, other: Part, *, both: bool) -> Part:
        """Return the conjunction of two parts, or their disjunction."""
        if both:
            tactic = f"split; [{self.tactic} | {other.tactic}]"
            return Part(f"({self.says} /\\ {other.says})", tactic)
        tactic = f"first [left; solve [{self.tactic}] | right; solve [{other.tactic}]]"
        return Part(f"({self.says} \\/ {other.says})", tactic)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a file of Coq.

    Attributes:
        types: by word, the types of its arguments, and last the type of its value.
        phrases: by expression of the checker, the words that replace it.
    """

    types: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, str]


@cache
def words(package: str) -> Words:
    """Return the words of the file `Words.v` of a package."""
    text = files(package).joinpath("Words.v").read_text(encoding="utf-8")
    types = {}
    for name, arguments, result in re.findall(_HEAD, text, re.M):
        listed = []
        for letters, kind in re.findall(r"\(([\w ]+) : ((?:[^()]|\([^)]*\))*)\)", arguments):
            listed += [kind.strip()] * len(letters.split())
        types[name] = (*listed, result)
    _, _, table = text.rpartition("(* Expressions of the checker")
    lines = re.findall(r"^   (\S.*?) :=\s+(.*?)(?: \*\))?$", table, re.M | re.S)
    return Words(types, {_plain(left): right for left, right in lines})


def _plain(expression: str) -> str:
    """Return an expression as Python prints it."""
    return ast.unparse(ast.parse(expression, mode="eval"))


def _replaced(known: Words, node: ast.expr) -> ast.expr:
    """Return the phrase that replaces an expression of the checker; without one, itself."""
    new = known.phrases.get(ast.unparse(node))
    return node if new is None else _replaced(known, ast.parse(new, mode="eval").body)


def _depth(node: ast.expr) -> int:
    """Return how many lists are nested, by the first entry of each; 0 for a number."""
    return 1 + _depth(node.elts[0]) if isinstance(node, ast.List) and node.elts else 0


@dataclass(slots=True)
class RecordTerms:
    """The terms of a theorem about a record, while it is written.

    Attributes:
        lines: the names of the verifier with their expressions.
        sources: the modules of the words.
        known: the words.
        definitions: the definitions of Coq, with types.
        solutions: parts of the theorem: each says that one named solution solves its problem.
        values: by precision, the values of names that the checker has computed.
    """

    lines: Mapping[str, str]
    sources: Sequence[str]
    known: Words
    definitions: dict[str, str] = field(default_factory=dict)
    solutions: list[Part] = field(default_factory=list)
    values: dict[int, dict[str, object]] = field(default_factory=dict)

    def value(self, text: str) -> object:
        """Return the value of an expression of the verifier, by the checker itself.

        Raises:
            NotExpressible: the checker does not decide it at any precision.
        """
        space = dict(vars(checker))
        for module in needed_modules(self.sources):
            space |= vars(module)
        used = needed(dict(self.lines), text)
        for bits in checker.PRECISIONS:
            checker.Real.bits = bits
            known = self.values.setdefault(bits, {})
            with contextlib.suppress(checker.Undefined):
                for name in (name for name in self.lines if name in used):
                    if name not in known:
                        known[name] = eval(self.lines[name], space | known)
                return eval(text, space | known)
        raise NotExpressible("a value that the checker does not decide")

    def term(self, node: ast.expr, kind: str = "") -> str:
        """Return an expression of the checker as a Coq term.

        Args:
            node: the expression.
            kind: its type in Coq, which says how numbers and lists are written.

        Raises:
            NotExpressible: a word has no definition in Coq.
        """
        node = _replaced(self.known, node)
        literal = _literal(node)
        if literal is not None:
            return written(literal, kind)
        match node:
            case ast.Constant(value=str(loss)):
                return loss.replace("-", "_")
            case ast.Name(id=name) if name in self.lines:
                return self.name(name)
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=of, attr=name):
                return f"({name} {self.term(of)})"
            case ast.Call(func=ast.Name(id="len"), args=[of]):
                return f"(length {self.term(of)})"
            case ast.Call(func=ast.Name(id="least"), args=[rows, multipliers, size]):
                return self._solution(node, rows, multipliers, size)
            case ast.Call(func=ast.Name(id="reals"), args=[ast.List() as x]) if _depth(x) < 2:
                return f"(real {self.term(x, 'vec')})"
            case ast.Call(func=ast.Name(id="reals"), args=[ast.List() as x]) if _depth(x) > 2:
                return f"(map reals {self.term(x, 'list mat')})"
            case ast.Call(func=ast.Name(id=name)) if name in self.known.types:
                arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                *kinds, _ = self.known.types[name]
                if len(arguments) != len(kinds):
                    raise NotExpressible(f"the word {name} of the checker, with other arguments")
                terms = map(self.term, arguments, kinds)
                return f"({' '.join([name, *terms])})"
        raise NotExpressible(f"the word {ast.unparse(node)[:60]} of the checker")

    def real(self, node: ast.expr, default: str = "0") -> str:
        """Return an expression of real numbers, or of lists of them, as a Coq term.

        Raises:
            NotExpressible: a function has no Coq term.
        """
        literal = _literal(node)
        if literal is not None and not isinstance(literal, list):
            return numeral(Fraction(str(literal)))
        match node:
            case ast.Name(id=name):
                return self.name(name)
            case ast.UnaryOp(op=ast.USub(), operand=inside):
                return f"(- {self.real(inside)})"
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
                return f"({self.real(left)} {_OPERATIONS[type(op)]} {self.real(right)})"
            case ast.Subscript(value=of, slice=ast.Constant(value=int(k))):
                return f"(nth {k}%nat {self.real(of, 'nil')} {default})"
            case ast.List(elts=inside):
                return f"[{'; '.join(map(self.real, inside))}]"
            case ast.Call(func=ast.Name(id="maximum"), args=[left, right]):
                return f"(Rmax {self.real(left)} {self.real(right)})"
            case ast.Call(func=ast.Name(id=name), args=[inside]) if name in _FUNCTIONS:
                return f"({_FUNCTIONS[name]} {self.real(inside)})"
        raise NotExpressible(f"the number {ast.unparse(node)[:60]} of the checker")

    def name(self, name: str) -> str:
        """Define a name of the verifier in Coq, and return its name there."""
        own = f"the_{name.removesuffix('_').lower()}"
        if own in self.definitions:
            return own
        node = _replaced(self.known, ast.parse(self.lines[name], mode="eval").body)
        match node:
            case ast.Call(func=ast.Name(id="least"), args=[rows, multipliers, size]):
                self._solved(own, self.value(name), rows, multipliers, size)
            case ast.Call(func=ast.Name(id="ends_along")):
                _define_run(self, own, name, node)
            case ast.Call(func=ast.Name(id="local_svms"), args=[data, ast.List(elts=weights)]):
                _define_choices(self, own, name, data, weights)
            case _:
                number = re.fullmatch(r"t\d+", name)
                kind = "" if _literal(node) is None else _KINDS.get(name, "")
                text = self.real(node) if number else self.term(node, kind)
                self.definitions[own] = f": {kind} := {text}" if kind else f":= {text}"
        return own

    def _solution(self, node: ast.expr, *parts: ast.expr) -> str:
        """Define a solution that occurs inside another expression, and return its name."""
        own = f"the_solution_{len(self.solutions)}"
        self._solved(own, self.value(ast.unparse(node)), *parts)
        return own

    def _solved(
        self, own: str, value: object, rows: ast.expr, multipliers: ast.expr, size: ast.expr
    ) -> None:
        text = "None" if value is None else f"Some {written(value, 'vec')}"
        self.definitions[own] = f": option vec := {text}"
        witness = self.term(multipliers, "vec")
        self.solutions.append(
            Part(
                f"solves {self.term(rows)} {self.term(size, 'nat')} {own}",
                f"apply (solves_by {witness}); {_BOOL}",
            )
        )


def _define_choices(
    terms: RecordTerms, own: str, name: str, data: ast.expr, weights: Sequence[ast.expr]
) -> None:
    """Define the solutions for all choices of one token per input."""
    of, size = ast.unparse(data), terms.value("len(data.Z[0]) * len(data.X[0][0])")
    made = []
    for k, multipliers in enumerate(weights):
        chosen = terms.value(f"[*{name}[{k}][0]]")
        text = f"least(rows({of}, {chosen}), {ast.unparse(multipliers)}, {size})"
        solution = terms.term(ast.parse(text, mode="eval").body)
        made.append(f"({written(chosen, 'nat')}, {solution})")
    terms.definitions[own] = f": list (list nat * option vec) := [{'; '.join(made)}]"
    terms.solutions.append(Part(f"map fst {own} = choices {terms.term(data)}", _BOOL))


def _define_run(terms: RecordTerms, own: str, name: str, node: ast.Call) -> None:
    keywords = {str(k.arg): k.value for k in node.keywords}
    _ensure_basin(terms, {name: ast.unparse(value) for name, value in keywords.items()})
    if "by" in keywords:
        _ensure_frobenius(terms, "1", ", ".join(ast.unparse(node.args[k]) for k in (0, 2, 3)))
    terms.definitions[own] = f": vec := {written(terms.value(name), 'vec')}"
    data, start, loss, step = (terms.term(x) for x in node.args)
    steps = terms.term(keywords["steps"], "nat")
    witness = terms.term(keywords["multipliers"], "vec")
    terms.solutions.append(
        Part(
            f"ends_along {data} {start} {loss} {step} {steps} {own}",
            f"decide_run ({witness} : vec)",
        )
    )


class Conditions(RecordTerms):
    """A writer of the propositions of a theorem about a record, with their terms."""

    def part(self, node: ast.expr, *, true: bool) -> Part:
        """Return a part of a theorem: a relation of the checker is true, or false."""
        node = _replaced(self.known, node)
        match node:
            case ast.Call(func=ast.Name(id="fact"), args=[inside]):
                return self.part(inside, true=true)
            case ast.Call(func=ast.Name(id="all_of" | "any_of" as name), args=parts):
                return self._joined(parts, both=(name == "all_of") == true, true=true)
            case ast.BoolOp(op=op, values=parts):
                return self._joined(parts, both=isinstance(op, ast.And) == true, true=true)
            case ast.UnaryOp(op=ast.Not(), operand=inside):
                return self.part(inside, true=not true)
            case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return self._decided(f"exists_ {self.term(left)}", true=true)
            case ast.Compare(
                left=ast.Name(id="loss") as left, ops=[ast.Eq()], comparators=[right]
            ) if true:
                return Part(f"{self.term(left)} = {self.term(right, 'loss')}", "reflexivity")
            case ast.Name():
                return self._decided(self.term(node), true=true)
            case ast.Call(
                func=ast.Name(id="equal") as word, args=[ast.List() as left, ast.List() as right]
            ):
                pairs = zip(left.elts, right.elts, strict=True)
                entries = [ast.Call(word, [*pair], []) for pair in pairs]
                return self._joined(entries, both=true, true=true)
            case ast.Call(func=ast.Name(id=name), args=[left, right]) if name in _SIGNS:
                sides = [self.real(left), self.real(right)]
                if not true and name != "equal":
                    sides.reverse()
                return Part(f"{sides[0]} {_SIGNS[name][not true]} {sides[1]}", _REALS)
            case ast.Call(func=ast.Name(id=name)) if name in self.known.types:
                if name in ("is_stationary", "rises"):
                    _ensure_small(self)
                return self._word(name, self.term(node), true=true)
        raise NotExpressible(f"the condition {ast.unparse(node)} of the checker")

    def _joined(self, nodes: Sequence[ast.expr], *, both: bool, true: bool) -> Part:
        first, *others = (self.part(node, true=true) for node in nodes)
        for other in others:
            first = first.joined(other, both=both)
        return first

    def _word(self, name: str, text: str, *, true: bool) -> Part:
        if self.known.types[name][-1] == "bool":
            return self._decided(text, true=true)
        text = text.removeprefix("(").removesuffix(")")
        if not true:
            return Part(f"~ {text}", "decide_some_false")
        if name == "short":
            _ensure_frobenius(self, text.split()[1], "data, loss, step")
        return Part(text, "decide_loss" if name in _LOSSES else _TACTICS.get(name, _REALS))

    @staticmethod
    def _decided(text: str, *, true: bool) -> Part:
        return Part(f"{text} = {str(true).lower()}", _BOOL)


_KINDS = {
    "start": "mat",
    "step": "Q",
    "size": "nat",
    "K": "mat",
    "Q_": "mat",
    "tokens": "list mat",
    "values": "mat",
    "labels": "list mat",
    "embeddings": "mat",
    "causal": "bool",
    "X": "list mat",
    "y": "vec",
    "alpha": "list nat",
    "sequence": "list nat",
    "C": "Q",
    "move": "mat",
    "W": "mat",
    "q": "vec",
    "weights": "vec",
}
"""The types of values of records, by their names in verifiers."""


def written(value: object, kind: str) -> str:
    """Return nested lists of numbers as a term of a type.

    Raises:
        NotExpressible: a number has more than `_DIGITS` digits.
    """
    if isinstance(value, list | tuple):
        return f"[{'; '.join(written(x, kind) for x in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    if "nat" in kind:
        return f"{value}%nat"
    if kind == "R":
        return numeral(Fraction(str(value)))
    exact = Fraction(str(value))
    if max(len(str(exact.numerator)), len(str(exact.denominator))) > _DIGITS:
        raise NotExpressible(f"a number of more than {_DIGITS} digits")
    return f"({exact.numerator} # {exact.denominator})%Q"


def _ensure_basin(terms: RecordTerms, run: Mapping[str, str]) -> None:
    """Raise unless the run stays at its start, or reaches a basin in a few steps.

    Raises:
        NotExpressible: a trap holds the run, or it takes more than `_STEPS` steps.
    """
    _ensure_small(terms)
    if run.get("by") == "trap" or int(run["steps"]) > _STEPS:
        raise NotExpressible(f"a run that a trap holds, or that takes more than {_STEPS} step")


def _ensure_frobenius(terms: RecordTerms, factor: str, names: str) -> None:
    """Raise unless Frobenius norms prove that a step times the factor is at most 1/L.

    `names` are the expressions of data, loss and step.

    Raises:
        NotExpressible: Frobenius norms do not suffice.
    """
    if terms.value(f"((lambda data, loss, step: {_LENGTH})({names})).low * {factor} > 1"):
        raise NotExpressible("a length of a step that needs a spectral norm")


def _ensure_small(terms: RecordTerms) -> None:
    """Raise if a gradient has too many entries.

    Raises:
        NotExpressible: it has more than `_ENTRIES`.
    """
    if terms.value(f"len(flat(start)) > {_ENTRIES}"):
        raise NotExpressible(f"a gradient of more than {_ENTRIES} entries")


def _literal(node: ast.expr) -> object:
    """Return the value of an expression of numbers alone, else None."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    numbers = ast.List | ast.Constant | ast.Name | ast.Call | ast.BinOp | ast.UnaryOp
    numbers |= ast.Load | ast.operator | ast.unaryop
    if names - {"Q"} or isinstance(node, ast.Name):
        return None
    if not all(isinstance(one, numbers) for one in ast.walk(node)):
        return None
    value = eval(ast.unparse(node), {"Q": Fraction})
    return None if isinstance(value, str) or value is None else value


def parts_of(
    lines: Mapping[str, str], answers: Mapping[str, str], sources: Sequence[str]
) -> tuple[dict[str, str], list[Part]]:
    """Return the definitions and the parts of a theorem: the verifier's instance is a violation.

    Args:
        lines: the names of the verifier with their expressions.
        answers: each hypothesis, and at last the claim, as expressions of the checker.
        sources: the modules of the words.

    Raises:
        NotExpressible: a word has no definition in Coq.
    """
    if not any(sources):
        raise NotExpressible("a condition whose words have no definition in Coq")
    if sum(re.fullmatch(r"t\d+", name) is not None for name in lines) > _NAMED:
        raise NotExpressible(f"too slow: more than {_NAMED} named numbers")
    writer = Conditions(lines, sources, words(sources[0].rpartition(".")[0]))
    parts = []
    for name, text in answers.items():
        node = ast.parse(text, mode="eval").body
        parts.append(writer.part(node, true=name != checker.CLAIM))
    return writer.definitions, [*writer.solutions, *parts]
