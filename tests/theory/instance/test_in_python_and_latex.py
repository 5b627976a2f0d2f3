"""What a person pastes is exact Python, and LaTeX that compiles, whatever the instance holds."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import toy_pack
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from latex import faults

from attsvm.theory import (
    PROFILES,
    Measured,
    Reading,
    Records,
    Slack,
    Statement,
    changed,
    load_packs,
)
from attsvm.theory.arithmetic.notation import escaped
from attsvm.theory.instance import codec
from attsvm.theory.instance.in_latex import latex
from attsvm.theory.instance.in_python import python
from attsvm.theory.run.confirm import confirm
from attsvm.theory.verification.check import check_part

PACK = str(Path(toy_pack.__file__))


@dataclass(frozen=True)
class Inner:
    """A record within a record."""

    X: Any
    Z: Any
    scores: Any = None


@dataclass(frozen=True)
class Everything:
    """A value of every kind that instances may be made of."""

    data: Inner
    X: Any
    signs: Any
    flags: Any
    share: float
    count: int
    exact: Fraction
    word: str
    flag: bool
    pair: tuple[float, int]
    nothing: Any = None


def below_zero(case: Everything, shift: float = 0.0) -> Slack:
    return Slack(-1.0 - shift, 0.5)


EVERYTHING = Statement(
    "toy/everything",
    source="50% of $toys_",
    place="§1 {here}",
    printed="everything",
    variables=Records(Everything, st.none()),
    conclusion=Measured("-1 >= 0", floats=below_zero, balls=lambda case, shift=0.0: arb(-1)),
    readings={
        "literal": Reading(
            "refuted",
            siblings={"shift 1": changed(shift=1.0), "~ \\{2}_": changed(shift=2.0)},
        )
    },
)
everything = EVERYTHING.claim("literal")


def floats(*shape):
    return arrays.arrays(np.float64, shape, elements=st.floats())


everythings = st.builds(
    Everything,
    data=st.builds(Inner, X=floats(2, 2, 1), Z=floats(2, 2), scores=st.none() | floats(2, 2)),
    X=st.integers(0, 12).flatmap(lambda k: floats(2, k) | floats(1, 2, 1, k)) | floats(),
    signs=arrays.arrays(np.int64, (3,)),
    flags=arrays.arrays(np.bool_, (2, 1)),
    share=st.floats() | st.integers(-99, 99).map(lambda k: k / 64),
    count=st.integers(),
    exact=st.fractions(),
    word=st.text(),
    flag=st.booleans(),
    pair=st.tuples(st.floats(), st.integers()),
)


def executed(script):
    """The names that a script leaves behind; the packs, which take a while, are none."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attsvm.theory.load_packs", tuple)
        exec(compile(script, "script", "exec"), names)
    return SimpleNamespace(**names)


@given(everythings)
def test_the_script_rebuilds_exactly_the_instance(case):
    after = executed(python(everything, "", case))
    assert codec.encode(after.case) == codec.encode(case)
    assert after.slack == Slack(-1.0, 0.5)
    assert after.answer == confirm(everything, {}, case, "inequality")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3.0"), (0.0, "0.0"), (-0.0, "-0.0"), (0.375, "0.375"), (2.0**-20, "1/1048576"),
        (1 / 3, 'float.fromhex("0x1.5555555555555p-2")'), (float("-inf"), 'float("-inf")'),
        (2.0**322, "1 * 2.0**322"), (-3 * 2.0**-1074, "-3 * 2.0**-1074"),
        (7, "7"), (Fraction(2, 3), "Fraction(2, 3)"), (True, "True"), ("a", "'a'"),
        ((1.0,), "(1.0,)"), (np.array([[1.0, 0.1]]), '[1, float.fromhex("0x1.999999999999ap-4")]'),
        (np.zeros((0, 2)), "np.zeros((0, 2), dtype=float)"),
    ],
)  # fmt: skip
def test_numbers_are_written_so_that_a_person_can_check_them(value, text):
    assert text in python(everything, "", Inner(value, 5)).partition("X=")[2].partition("Z=")[0]


def test_a_script_is_of_the_sibling_that_fell():
    case = np.zeros(1)
    after = executed(python(everything, "shift 1", case))
    assert after.slack.value == -2.0
    assert "sibling 'shift 1'" in python(everything, "shift 1", case)


def test_an_instance_of_a_type_without_a_name_is_read_from_its_document():
    @dataclass(frozen=True)
    class Hidden:
        x: float

    def slack(case: Hidden, shift: float = 0.0) -> Slack:
        return Slack(case.x - shift, 0.0)

    hidden = Statement(
        "toy/hidden",
        source="toys",
        place="here",
        printed="x >= 0",
        variables=Records(Hidden, st.none()),
        conclusion=Measured("x >= 0", slack, lambda case, shift=0.0: arb(case.x - shift)),
        readings={
            "literal": Reading(
                "refuted",
                siblings={"shift 1": changed(shift=1.0), "shift 2": changed(shift=2.0)},
            )
        },
    ).claim("literal")

    script = python(hidden, "", Hidden(-0.25))
    line = next(line for line in script.splitlines() if line.startswith("case = "))
    names = {"claim": hidden}
    for said in script.splitlines():
        if said.startswith("from "):
            exec(said, names)
    case = eval(line.removeprefix("case = "), names)
    assert case == Hidden(-0.25)
    assert "(claim,) = find_claims(packs, ['toy/hidden:literal'])" in script


@pytest.fixture(scope="module")
def loose():
    """The claims of a pack that was loaded from a path."""
    return {c.id: c for c in load_packs(only=[PACK])[-1].claims}


def test_scripts_run_by_themselves_and_print_the_same(loose, tmp_path):
    scripts, finds = [], []
    for name, part in (("rare", ""), ("unequal", ""), ("true", "shift 100")):
        made = loose[f"toy/{name}:literal"]
        finds.append(check_part(made, made.part(part), PROFILES["quick"], 0).refuted)
        scripts.append(python(made, part, codec.decode(finds[-1].instance, made.instance_type)))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(scripts)],
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[::3] == ["hypotheses: {}"] * 3
    for said, answer, found in zip(lines[1::3], lines[2::3], finds, strict=True):
        assert said.startswith(f"floats: Slack(value={found.slack['value']}, error=")
        assert answer.startswith("confirmed: Confirmation(refuted=True")
        assert f"enclosure={found.enclosure!r}" in answer


def test_the_script_of_a_shipped_file_finds_its_claim(capsys):
    """It is run here, where the installed claims are loaded already."""
    stored = load_packs()[0].counterexamples[0].read_text()
    exec(compile(json.loads(stored)["python"], "script", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines()[-1].startswith("confirmed: Confirmation(refuted=T")


def typeset(case, part="", enclosure=None, kind="inequality", method="rationals"):
    known = f"certified: {method}"
    return latex(everything, part, case, kind=kind, enclosure=enclosure, known=known)


@given(everythings, st.sampled_from(["", "~ \\{2}_"]), st.text())
def test_latex_is_well_formed_whatever_the_instance_holds(case, part, method):
    text = typeset(case, part, ("-1", "-0.5"), method=method)
    assert faults(text) == []


@given(st.text())
def test_escaped_text_is_well_formed_and_keeps_every_plain_letter(text):
    assert faults(escaped(text)) == []
    plain = "".join(c for c in text if c.isascii() and c.isalnum())
    assert "".join(c for c in plain if c in escaped(text)) == plain


@pytest.mark.parametrize(
    "wrong",
    [
        *("{", "}", "$x", "a_b", "a^b", "a & b", "50% of", "#", "~", "a < b", "a | b", "é", "\x00"),
        *(r"\unknown", r"\frac{1}{2}", r"$\text{a_b}$", r"$\textbar{}$", r"\begin{pmatrix}"),
        *(r"\begin{gather*} {", r"\begin{gather*} x \end{pmatrix}", r"$a & b$", r"$\left( x$"),
        *(r"\begin{verbatim}\end{verbatim}", r"a \\ b", r"$\text{a}", r"\$ $"),
    ],
)
def test_the_reader_of_latex_sees_what_is_wrong(wrong):
    assert faults(wrong)


def test_an_instance_is_written_as_mathematics():
    case = Inner(np.array([[[1.0, 0.0], [-0.75, 2.0]]]), np.array([[1.0, 0.1]]))
    text = typeset(case, enclosure=("-0.123456789", "-0.123456781"))
    assert r"X_{1} = \begin{pmatrix} 1 & 0 \\ -\frac{3}{4} & 2 \end{pmatrix}" in text
    assert r"z_{1} \approx (1, 0.10000000000000001)" in text or r"z_{1} \approx (1, 0.1)" in text
    assert "are rounded; the file holds them exactly." in text
    assert "at least 0 where the conclusion holds, lies in $[-0.12345679, -0.12345678]$" in text
    exact = typeset(Inner(case.X, case.X[0]))
    assert "are rounded" not in exact
    assert "is not enclosed" in exact
    large = typeset(np.array([-3 * 2.0**-1074, 2.0**322]))
    assert r"x = (-3 \cdot 2^{-1074}, 2^{322})" in large


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.5, r"X = \frac{5}{2}"), (-0.75, r"X = -\frac{3}{4}"), (3, "X = 3"),
        (0.1, r"X \approx 0.1"), (-3 * 2.0**-1074, r"X = -3 \cdot 2^{-1074}"),
        (True, r"X = \text{yes}"), (float("inf"), r"X = \infty"),
    ],
)  # fmt: skip
def test_an_array_without_axes_is_written_as_its_number(value, text):
    shown = typeset(Inner(np.array(value), np.zeros(1)))
    assert text in shown
    assert ("are rounded" in shown) is ("approx" in text)
    assert shown == typeset(Inner(value, np.zeros(1)))


@pytest.mark.parametrize("digits", [639, 640, 641, 4299, 4300, 4301, 20000])
def test_integers_of_any_length_are_written(digits):
    value = -(10**digits + 7)
    for case in (value, Fraction(value, 3), Fraction(3, -value)):
        script = python(everything, "", case).replace("print(", "(lambda *all: None)(")
        assert executed(script).case == case
        text = typeset(case)
        assert faults(text) == []
        assert ("are rounded" in text) is (digits >= 640)
        assert (rf"1 \cdot 10^{{{digits}}}" in text) is (digits >= 640)


def test_a_strict_inequality_wants_more_than_zero():
    text = typeset(np.zeros(1), enclosure=("0", "0"), kind="strict")
    assert "above 0 where the conclusion holds" in text


def test_fields_of_one_name_are_told_apart():
    case = Everything(
        Inner(np.ones((1, 1, 1)), np.ones((1, 1))), np.ones((1, 1)), np.ones(1, int),
        np.ones(1, bool), 1.0, 1, Fraction(1), "a", True, (2.0, 3),
    )  # fmt: skip
    text = typeset(case)
    assert r"X^{(\mathrm{data})}_{1} = \begin{pmatrix} 1 \end{pmatrix}" in text
    assert r"\mathrm{pair}_{2} = 3" in text


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e300, allow_infinity=False))
def test_enclosures_are_rounded_outwards(low, width):
    ends = repr(low), repr(low + width)
    text = typeset(np.zeros(1), enclosure=ends)
    shown = re.search(r"lies in \$\[(.*), (.*)\]\$", text).groups()
    a, b = (Decimal(re.sub(r" \\cdot 10\^\{(.*)\}", r"e\1", s).replace(r"\infty", "inf"))
            for s in shown)  # fmt: skip
    assert a <= Decimal(ends[0])
    assert b >= Decimal(ends[1])
