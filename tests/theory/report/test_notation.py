"""Mathematics within sentences: what is read, and how much of the claims it is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.theory import load_packs
from attsvm.theory.declaration.conclusions import Written
from attsvm.theory.record.errata import find_source
from attsvm.theory.report.notation import inline, pieces, prose

FORMULAS = {
    "||x|| <= R^2": r"\Vert x\Vert \le R^{2}",
    "<A x, h(z)> > 0": r"\langle A x, h(z)\rangle \gt 0",
    "x_it": "x_{it}",
    "x_i,alpha_i": r"x_{i, \alpha_{i}}",
    "W^mm/||W^mm||": r"W^{\mathrm{mm}}/\Vert W^{\mathrm{mm}}\Vert",
    "X in R^{n x T x d}": r"X \in \mathbb{R}^{n \times T \times d}",
    "R^2": "R^{2}",
    "k in {1, 2, ...}": r"k \in \lbrace 1, 2, \dots\rbrace",
    "a in [0, 1]": r"a \in [0, 1]",
    "t = 1, ..., T": r"t = 1, \dots, T",
    "i = 1, 2, ..., n": r"i = 1, 2, \dots, n",
    "sqrt(n + 1)": r"\sqrt{n + 1}",
    "sqrt 2 t": r"\sqrt{2} t",
    "sum_i w_i Y_i": r"\sum_{i} w_{i} Y_{i}",
    "max_(i, t != alpha_i) q_i": r"\max_{i, t \ne \alpha_{i}} q_{i}",
    "(1-a^2)(b + 3a)": r"(1 - a^{2}) \thinspace (b + 3 a)",
    "|l'(u)|": r"\vert l'(u)\vert",
    "||a|| ||b||": r"\Vert a\Vert \thinspace \Vert b\Vert",
    "|(K Q)_12 - ||a|||": r"\vert (K Q)_{12} - \Vert a\Vert\vert",
    "||.||_op": r"\Vert \cdot \Vert_{\mathrm{op}}",
    "l(best) - l(second)": r"l(\mathrm{best}) - l(\mathrm{second})",
    "p* = -grad L(X)": r"p^\ast = -\nabla L(X)",
    "W_+": "W_{+}",
    "L_*": r"L_{\ast}",
    "x^T W z": r"x^{\top} W z",
    "v[0] - max(v[1:])": r"v_{0} - \max(v_{1:})",
    "A_1[:1] B": "{A_{1}}_{:1} B",
    "l''_i^2": "{l''_{i}}^{2}",
    "Y o X": r"Y \circ X",
    "A^(o 2) x": r"A^{\circ 2} x",
    "||x|| -> infinity": r"\Vert x\Vert \to \infty",
    "||g''||_inf": r"\Vert g''\Vert_{\infty}",
    ">= 1": r"\ge 1",
}
"""LaTeX of formulas in plain notation."""

WORDS = (
    "",
    "a step",
    'has a "proper" start',
    "A step on a loss",
    "Suppose Assumption A",
    "the p-SVM, and the v-SVM",
    "b-2 is a name",
    "1 or -1, and 1/2",
    "105% of it",
    "in 3 inputs (see below)",
    "sim/lemma-3.13",
    "`x = [1, 2]`",
    "the minimum is attained",
    "f(",
)


@pytest.mark.parametrize(("plain", "latex"), FORMULAS.items())
def test_a_formula_becomes_mathematics(plain, latex):
    assert [text for is_latex, text in pieces(plain) if is_latex] == [latex]
    assert list(pieces(f"Then {plain}, if it holds")) == [
        (False, "Then "),
        (True, latex),
        (False, ", if it holds"),
    ]


@pytest.mark.parametrize("words", WORDS)
def test_words_stay_words(words):
    assert [text for latex, text in pieces(words) if latex] == []
    assert "".join(text for _, text in pieces(words)) == words


def test_an_article_is_no_letter():
    shown = "".join(f"[{text}]" if latex else text for latex, text in pieces("a and b have a p(k)"))
    assert shown == "[a] and [b] have a [p(k)]"


def test_a_formula_that_runs_is_shown_as_it_runs():
    line = Written(r"\frac{a}{b} \le \left\|x\right\|", "a/b <= ||x||")
    shown = prose("Then a/b <= ||x|| for c b > 0.", [line])
    assert shown == r"Then $\frac{a}{b} \le \left\Vert x\right\Vert $ for $c b \gt 0$."


def test_words_within_latex_stay_words():
    assert inline(r"x \text{ is 5\% of } y") == "$x$ is 5% of $y$"


def test_a_long_formula_may_end_a_line_at_its_signs():
    plain = "exp(a b c d e f g h k) + sqrt(n + 1) <= exp(a b c d e f g h k) sqrt(n + 2) - ||a - b||"
    assert prose(plain).split("$ $") == [
        r"$\exp(a b c d e f g h k)",
        r"{} + \sqrt{n + 1}",
        r"\le \exp(a b c d e f g h k) \sqrt{n + 2}",
        r"{} - \Vert a - b\Vert$",
    ]


MARKS = st.text("ab_*^'<>[](){}|$\\~`,. -+=/1x", max_size=40)


@given(st.text(max_size=30) | MARKS)
def test_no_text_is_lost_and_no_mathematics_breaks_markdown(text):
    words, latex = "", ""
    for is_latex, part in pieces(text):
        words, latex = words + part * (not is_latex), latex + part * is_latex
    assert len(words) <= len(text)
    assert not re.search(r"[|<>$`*]|\\[^A-Za-z]", latex)
    assert latex.count("{") == latex.count("}")


@pytest.mark.parametrize("opening", ["(", "f(", "||x ", "<a, ", "f(a, f(", "R^{", "x_{"])
def test_deep_brackets_stay_words(opening):
    text = opening * 2000
    assert "".join(part for latex, part in pieces(text) if not latex).count(opening[-1]) > 1000


NOTATION = re.compile(r"\S*[_^=<>|]\S*|\S*\w\([^)\s]*\S*|\b(?:alpha|beta|gamma|Gamma|nu|lambda)\b")
"""Words of a sentence that belong to a formula."""


def test_nearly_all_notation_of_the_claims_is_mathematics():
    """The share can only rise: write sentences that are read, and lower this number."""
    packs = load_packs()
    claims = [c for pack in packs for c in pack.claims]
    texts = [c.statement for c in claims]
    for source in {c.id.partition("/")[0] for c in claims}:
        errata = find_source(packs, source).errata
        texts += [text for e in errata for text in (e.gist, e.fails, e.repair)]
    left = [
        w for t in texts for latex, part in pieces(t) if not latex for w in NOTATION.findall(part)
    ]
    whole = sum(len(NOTATION.findall(text)) for text in texts)
    assert whole > 6000
    assert len(left) / whole <= 0.0014, left
