"""Formulas that run are typeset for a browser; what is no formula of ours is shown as it is."""

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from attsvm.primitives.steps import W_K, converges_in_direction
from attsvm.theory import Measured, Records
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.arithmetic.namespace import Comparison
from attsvm.theory.arithmetic.notation import letter
from attsvm.theory.arithmetic.text import Text
from attsvm.theory.declaration.formula import TIGHTENED
from attsvm.theory.declaration.records import RecordFormula
from attsvm.theory.declaration.typesetting import typeset
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.report.mathml import UnreadableError, formula, mathml, typeset_sentence

_CHILDREN = {"mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3}


class _Tree(HTMLParser):
    """Holds the tags with their numbers of children, and the text."""

    def __init__(self):
        super().__init__()
        self.stack, self.text = [["", 0]], ""

    def handle_starttag(self, tag, attrs):
        self.stack[-1][1] += 1
        self.stack.append([tag, 0])

    def handle_endtag(self, tag):
        name, count = self.stack.pop()
        assert name == tag
        assert _CHILDREN.get(tag, count) == count

    def handle_data(self, data):
        self.text += data


def letters(markup):
    tree = _Tree()
    tree.feed(str(markup))
    assert tree.stack == [["", 1]]
    return tree.text


def terms(names="xyAb"):
    m = Text()
    base = st.sampled_from([*map(letter, [*names, "beta", "w_1", "h_max"]), m.exact(3)])
    one = [m.exp, m.sqrt, m.abs, m.norm, m.softmax, m.trace, m.logistic_slope, m.largest]
    two = [m.maximum, m.dot, m.kron, lambda a, b: a + b, lambda a, b: a / b, lambda a, b: a @ b]

    def more(inner):
        return (
            st.builds(lambda f, a: f(a), st.sampled_from(one), inner)
            | st.builds(lambda f, a, b: f(a, b), st.sampled_from(two), inner, inner)
            | inner.map(lambda a: a**2)
            | inner.map(lambda a: a.T)
            | inner.map(lambda a: a[0])
        )

    return st.recursive(base, more, max_leaves=8)


@given(terms())
def test_no_letter_has_two_subscripts_side_by_side(term):
    latex = term.latex
    while (flat := re.sub(r"\{[^{}]*\}", "o", latex)) != latex:
        latex = flat
        assert not re.search(r"_o_|\^o\^|\^\\top\^", latex)


@given(terms())
def test_what_the_formula_language_writes_is_typeset_whole(term):
    said = letters(mathml(term.latex))
    plain = term.plain.replace("beta", "β")
    for name in ("x", "y", "A", "β", "exp", "softmax", "h", "3"):
        assert (name in plain) <= (name in said)


def test_every_formula_of_every_claim_is_typeset():
    for claim in find_claims(load_packs()):
        shown = typeset(claim.formula)
        for line in (shown.conclusion, *shown.hypotheses.values(), *shown.where):
            assert letters(mathml(line.latex))
            assert re.search("[a-zA-Z]", line.plain), "numbers alone are no condition on letters"


def test_every_sentence_of_every_claim_has_its_formulas_in_mathml():
    for claim in find_claims(load_packs()):
        siblings = [sibling.name for sibling in claim.siblings]
        for sentence in (claim.statement, *(h.name for h in claim.hypotheses), *siblings):
            assert "<code" not in typeset_sentence(sentence), sentence
    shown = typeset_sentence("Then a step has ||X|| <= -R^2 if l' < 0 & 1 <b>")
    assert letters(f"<p>{shown}</p>") == "Then a step has ‖X‖≤−R2 if l′<0 & 1 <b>"
    assert '<mo form="prefix">−</mo>' in shown
    assert "<b>" not in shown
    assert typeset_sentence(shown) is shown


def told(claim):
    """By its name, each thing that a reading and its false neighbours run, and what is printed."""
    printed = {}
    parts = [("", claim.formula, {})]
    parts += [
        (s.name, s.formula, s.parameters) for s in claim.siblings if TIGHTENED not in s.parameters
    ]
    for name, own, changes in parts:
        stated = getattr(own.measured or own.conclusion, "stated", None)
        constants = {**own.constants, **changes}
        own = replace(own, constants=constants)
        shown = typeset(own)
        if name and (stated is None or stated.written(own.known_constants) != shown.conclusion):
            continue  # it is written down from what runs
        known = {**own.named_constants, **constants}
        where = tuple(line.plain for line in shown.where)
        key = (shown.conclusion.latex, shown.conclusion.plain, where, *own.hypotheses)
        what = (own.conclusion, tuple(sorted(map(repr, known.items()))))
        printed[f"{claim.id}, {name}"] = key, what, claim.expected if not name else None
    return printed


def test_what_runs_differently_is_printed_differently():
    """Two readings of a statement with one formula under the same names run and say the same."""
    runs, verdicts = {}, {}
    for claim in find_claims(load_packs()):
        for name, (printed, what, verdict) in told(claim).items():
            key = claim.statement_id, printed
            other, found = runs.setdefault(key, (name, what))
            assert found == what, f"{other} and {name} print: {printed[1]}"
            if verdict is not None:
                other, known = verdicts.setdefault(key, (name, verdict))
                assert known == verdict, f"{other} and {name} print: {printed[1]}"


KINDS = {"<=": "at most", ">=": "at most", "<": "below", ">": "below", "=": "equal"}


def test_the_signs_of_a_formula_that_its_author_writes_down_are_those_of_comparisons_that_run():
    """On its explicit instances and on those of its false neighbours."""
    claims = find_claims(load_packs())
    for claim in claims:
        formula = claim.formula
        stated = getattr(formula.conclusion, "stated", None)
        if formula.measured or stated is None or not stated.formula:
            continue
        kinds = set()
        for part in (claim, *claim.siblings):
            for case in part.examples:
                with ctx.workprec(64):
                    relation = formula.relation(BALLS, formula.exact(case), {})
                kinds |= {leaf.kind for leaf in leaves(relation)}
        line = replace(stated, says="").written(formula.known_constants)
        signs = re.findall(r"(?<= )(?:<=|>=|<|>|=)(?= )", line.plain)
        assert {KINDS[sign] for sign in signs} <= kinds, f"{claim.id} prints {line.plain}"


def leaves(relation):
    """The comparisons that it is made of."""
    if isinstance(relation, Comparison):
        return [relation]
    return [leaf for part in relation.parts for leaf in leaves(part)]


@dataclass(frozen=True)
class Point:
    x: np.ndarray
    side: str


@dataclass(frozen=True)
class Case:
    point: Point
    size: float


CASE = Case(Point(np.ones(2), "left"), 1.0)


def nearest(m, point):
    """The nearest point of a set, as a primitive writes and gives it."""
    if m.name == "text":
        return m.symbol("x^{*}", "the nearest point of the set")
    return 0 * m.values(point.x)


def near(m, case, share=1):
    """In words."""
    gap = m.norm(m.values(case.point.x) - nearest(m, case.point))
    return m.at_most(gap, share * m.values(case.size))


def of_a_side(m, case):
    """On the left."""
    right = case.point.side == "right"
    return m.at_most(m.values(case.size), m.exact(2 if right else 1))


def counted(m, case):
    """So many entries."""
    return m.at_most(m.exact(len(case.point.x)), m.exact(2))


def by_numpy(m, case):
    """The largest entry."""
    return m.at_most(m.values(np.linalg.norm(case.point.x)), m.exact(2))


def of_records(conclusion, **constants):
    records = Records(Case, st.just(CASE))
    return typeset(RecordFormula({}, {}, conclusion, constants, Case, records))


def test_a_formula_of_records_is_written_with_the_notation_of_primitives():
    shown = of_records(near, share=2)
    assert shown.conclusion.plain == "||x - x*|| <= 2 size"
    assert [line.plain for line in shown.where if "x*" in line.plain] == [
        "x* is the nearest point of the set"
    ]


@pytest.mark.parametrize(
    ("conclusion", "words"),
    [(of_a_side, "on the left"), (counted, "so many entries"), (by_numpy, "the largest entry")],
)
def test_a_conclusion_that_looks_at_its_record_is_told_in_words(conclusion, words):
    """A formula that was written down on one branch of several would be another one."""
    shown = of_records(conclusion)
    assert (shown.conclusion.plain, shown.where) == (words, ())


def test_a_limit_is_written_as_one_with_the_run_that_it_is_said_of():
    limit = converges_in_direction(
        "descent on $loss",
        W_K,
        "X^{mm}",
        floats=lambda case, loss: None,
        balls=lambda case, loss: None,
    )
    shown = of_records(limit, loss="l").conclusion
    assert shown.plain == "descent on l: W_k/||W_k|| -> X^mm/||X^mm||"
    assert "\N{RIGHTWARDS ARROW}" in letters(mathml(shown.latex))


@pytest.mark.parametrize(
    ("constants", "plain"),
    [
        ({"share": 1, "less": 0}, "x <= m 1"),
        ({"share": "1", "less": 1}, "x <= m 1 - 1"),
        ({"share": 10, "less": 0}, "x <= 10 m 10"),
    ],
)
def test_a_factor_of_one_and_a_summand_of_zero_are_not_written(constants, plain):
    shared = Measured(
        "",
        lambda case, share, less: None,
        lambda case, share, less: None,
        notation=r"x \le $share m $share - $less",
    )
    assert of_records(shared, **constants).conclusion.plain == plain


def test_signs_are_those_of_mathematics():
    shown = mathml(
        r"\left\|x_{1} - y\right\| \le \frac{1}{2} \; \text{and} \; g'\left(t\right) = 0"
    )
    assert letters(shown) == "‖x1−y‖≤12andg′(t)=0"
    assert "<mfrac><mn>1</mn><mn>2</mn></mfrac>" in shown
    assert letters(mathml(r"\text{\textless{}b\textgreater{} \& x\_1}")) == "<b> & x1"


def test_a_formula_is_cut_where_a_line_may_end():
    cut = mathml(r"\text{for all }x\text{: }a - \frac{b + c}{2} \, y \le -a + b(c - \|a - b\|)")
    pieces = re.findall("<math.*?</math>|<span>.*?</span>", cut)
    assert list(map(letters, pieces)) == [
        "for all ",
        "x",
        ": ",
        "a",
        "−b+c2",
        "y",
        "≤−a",
        "+b(c−‖a−b‖)",
    ]
    assert cut.count('form="infix"') == 2
    assert "displaystyle" in cut
    assert "displaystyle" not in mathml("x", block=False)


@pytest.mark.parametrize(
    "latex",
    [r"\evil{x}", r"\frac{1}", "{x", "x}", r"\left(x", r"x^{1}^{2}", r"\text{\url{x}}", "^"],
)
def test_what_is_no_formula_of_ours_is_refused_and_shown_in_plain_characters(latex):
    with pytest.raises(UnreadableError):
        mathml(latex)
    assert formula({"latex": latex, "plain": "<x>"}) == "<code>&lt;x&gt;</code>"


def test_a_formula_that_is_nested_too_deep_is_shown_in_plain_characters():
    deep = r"\sqrt{" * 5000 + "x" + "}" * 5000
    assert formula({"latex": deep, "plain": "x"}) == "<code>x</code>"


def test_a_word_stands_apart_from_the_letter_that_it_is_applied_to():
    assert mathml(r"\mathrm{rank} W").count("mspace") == 2
    assert "mspace" not in mathml(r"\mathrm{vec}\left(X\right)")
