"""An instance in Python: exact literals, and a script that confirms what it refutes."""

import dataclasses
import json
import math
import sys
import textwrap
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from attsvm._types import Array, Case
from attsvm._witness import Witness
from attsvm.theory.declaration.claim import Claim
from attsvm.theory.declaration.statement import Statement
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_words import ODD_BITS, fields_with_defaults, scaled, short
from attsvm.theory.packs.code_bases import LOOSE

_SHORT = 8
"""Maximum number of characters of a float that is written in decimals, which are exact."""

LONG = 10**640
"""Least integer that is not written in decimals: Python may refuse more than 640 digits."""


class _Unnamed(Exception):
    """A type that cannot be imported by its name."""


def python(claim: Claim, part: str, case: Case, witness: Witness | None = None) -> str:
    """Return a script that builds the instance from exact literals, evaluates it and confirms it.

    The script has the float slack in `slack` and the confirmation in `answer`, and prints both.
    Without a witness, it computes one in floats.
    """
    imports: dict[str, list[str]] = {"attsvm.theory.run.confirm": ["examine"]}
    try:
        value = _literal(case, imports, "")
    except _Unnamed:
        imports["attsvm.theory.instance"] = ["codec"]
        text = json.dumps(codec.encode(case))
        value = f"codec.decode(__import__('json').loads({text!r}), claim.instance_type)"
    module, name, whole = _place(claim)
    find = []
    if not module:
        imports["attsvm.theory.packs.packs"] = ["find_claims"]
        find = [f"(claim,) = find_claims(packs, [{claim.id!r}])"]
    elif whole:
        imports.setdefault(module, []).append(name)
        find = [f"claim = {name}.claim({claim.reading!r})"]
    else:
        imports.setdefault(module, []).append(f"{name} as claim")
    # `load_packs` makes importable a project that is not installed, or a file of no project
    imports.setdefault("attsvm.theory", []).append("load_packs")
    file = f"[{claim.file!r}]" if not module or module.startswith(LOOSE) else ""
    what = f"{claim.id}, sibling {part!r}," if part else claim.id
    numbers = [line for word, line in _USED.items() if word in value]
    lines = [f"from {name} import {', '.join(words)}" for name, words in sorted(imports.items())]
    own = [line for line in lines if not line.startswith("from attsvm.")]
    return "\n".join(
        [
            f"# {what} is refuted by this instance.",
            *(f"# {line}" for line in textwrap.wrap(claim.statement, 88)),
            *numbers,
            *(line for line in lines if line not in own),
            "",
            f"packs = load_packs({file})",
            *own,
            *find,
            "",
            f"case = {value}",
            f"part = claim.part({part!r})",
            "slack = claim.conclusion(case, **part.parameters)",
            *_witness(witness),
            "answer = examine(claim, part, case, witness).answer",
            'print("hypotheses:", {h.name: h.holds(case) for h in part.hypotheses})',
            'print("floats:", slack)',
            'print("confirmed:", answer)',
            "",
        ]
    )


def _witness(witness: Witness | None) -> list[str]:
    """Return the lines that define the variable `witness`."""
    if not witness:
        return [f"witness = {witness!r}"]
    rows = (_filled(f"{name!r}: {proposals!r},", "        ") for name, proposals in witness.items())
    return ["witness = {", *(f"    {row}" for row in rows), "}"]


def literal(value: Case) -> str:
    """Return an expression for a number or an array."""
    return _literal(value, {}, "")


_USED = {"Fraction(": "from fractions import Fraction\n", "np.": "import numpy as np\n"}


def _place(claim: Claim) -> tuple[str, str, bool]:
    """Return the module and the name that import a claim, and whether the name is its statement's.

    Module and name are empty if no module has the claim.
    """
    there = {  # but no script: it has no spec
        name: module
        for name, module in list(sys.modules.items())
        if getattr(module, "__file__", None) == claim.file and getattr(module, "__spec__", None)
    }
    for module, name, value in [(m, k, x) for m in there for k, x in vars(there[m]).items()]:
        if value is claim:
            return module, name, False
        if isinstance(value, Statement) and claim in value.claims:
            return module, name, True
    return "", "", False


def _literal(value: Any, imports: dict[str, list[str]], indent: str) -> str:
    """Return an expression for the value, and add what it needs to `imports`."""
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float | np.floating):
        text = _float(float(value))
        return text if not text.lstrip("-").isdigit() else f"{text}.0"
    if isinstance(value, Fraction):
        return f"Fraction({_integer(value.numerator)}, {_integer(value.denominator)})"
    if isinstance(value, np.ndarray):
        return _array(value, indent)
    inner = indent + "    "
    if getattr(type(value), "BUILT", False):  # the record of a statement's variables
        rows = [
            f"{inner}{f.name}={_literal(getattr(value, f.name), imports, inner)},\n"
            for f in dataclasses.fields(value)
        ]
        return f"claim.formula.build(\n{''.join(rows)}{indent})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(x, imports, inner)}, " for x in value).strip() + ")"
    kind = type(value)
    if vars(sys.modules[kind.__module__]).get(kind.__name__) is not kind:
        raise _Unnamed
    if kind.__name__ not in imports.setdefault(kind.__module__, []):
        imports[kind.__module__].append(kind.__name__)
    rows = [
        f"{inner}{name}={_literal(x, imports, inner)},\n"
        for name, x, default in fields_with_defaults(value)
        if not (x is None and default is None)
    ]
    return f"{kind.__name__}(\n{''.join(rows)}{indent})"


def _integer(value: int) -> str:
    """Return a literal; hexadecimal if it has too many decimal digits for Python."""
    return str(value) if abs(value) < LONG else hex(value)


def _array(value: Array, indent: str) -> str:
    kind = {"f": "float", "i": "int", "b": "bool", "O": "object"}[value.dtype.kind]
    if value.size == 0:
        return f"np.zeros({value.shape}, dtype={kind})"
    return _filled(f"np.array({_nested(value.tolist(), kind)}, dtype={kind})", indent + "    ")


def _filled(text: str, indent: str) -> str:
    """Return the text in lines of moderate length, all but the first one indented."""
    return textwrap.fill(
        text,
        92,
        subsequent_indent=indent,
        initial_indent=indent[4:],
        break_long_words=False,
        break_on_hyphens=False,
    ).lstrip()


def _nested(value: Any, kind: str) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(x, kind) for x in value) + "]"
    return _float(value) if kind == "float" else _literal(value, {}, "")


def _float(value: float) -> str:
    """Return an expression whose value is exactly this float."""
    if not math.isfinite(value):
        return f'float("{value}")'
    exact = Fraction(value)
    if value == 0.0:
        return "-0.0" if math.copysign(1.0, value) < 0 else "0"
    if exact.denominator == 1 and abs(value) < 1 << 53:
        return str(exact)
    if len(repr(value)) <= _SHORT and Fraction(repr(value)) == exact:
        return repr(value)
    if short(value):
        return f"{exact.numerator}/{exact.denominator}"
    odd, power = scaled(value)
    if odd.bit_length() <= ODD_BITS:
        return f"{odd} * 2.0**{power}"
    return f'float.fromhex("{value.hex()}")'


def rounded(bound: str, rounding: str, digits: int) -> Decimal:
    """Return a number as a decimal with at most `digits` digits."""
    value = Context(prec=digits, rounding=rounding).plus(Decimal(bound))
    return value.normalize() if value.is_finite() else value
