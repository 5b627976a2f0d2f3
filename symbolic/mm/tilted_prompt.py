"""The prompt p_tau: it is nearest to q, is not 0, and no other choice competes with alpha.

On `mm/theorem-2:sharp-2`; letters are those of `properties.mm.theorem_2.ratio_letters`. If p_tau
were 0, tau (m_i - 1) would be at least 1 in every input. But the mean of the m_i - 1 with the
weights of v(alpha) is 0. The limit of p_R/R is in docs/proofs/joint_path.md.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import OWNER, M, i, j
from attsvm.theory.proof.facts import eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LARGER, LENGTH
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import add_up, assume, at, cases, cite, decide, regroup, scale
from attsvm.theory.proof.terms import NORM, as_term, total
from properties.mm._support.choice_letters import GAMMA, HEAD, SELECTED, SHARE, Z
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.programme_letters import PROMPT, Q
from properties.mm.theorem_2 import ratio_letters as letters
from properties.mm.theorem_2.prompt_limits import BELOW, MEETS, SEVERAL, WEIGHTED
from properties.mm.theorem_2.ratio_letters import (
    ABOVE,
    ALONG,
    BLUR,
    CHOSEN,
    CLEAR,
    MARGIN_OF,
    SAME_KEY,
    SIZES,
    TAU,
    TILTED,
    UNIT,
    c,
    d,
    e,
)
from symbolic.facts import conclude_each, product
from symbolic.mm.programmes import Solved, pythagoras
from symbolic.mm.theorem_2 import MINE, along, of_head


@linked
def prove_ratio() -> str:
    """Prove the inequality of p_tau, that it is not 0, and the relations on other choices."""
    stated = present(letters.nearest_along(), "what is shown")
    of, P, D = Solved(TILTED, stated), TILTED.solution, TILTED.rows(j)
    some, share, one, multiple, inverse = (
        setting(stated.setting, words)
        for words in (
            "there is an input",
            "weights are at least 0",
            "weights add up to 1",
            "weights are multipliers of v(alpha)",
            "Gamma is 1/||v(alpha)||, or 0 if there is none",
        )
    )
    (exists,), (several,), (reached,) = suppose(P_EXISTS), suppose(SEVERAL), suppose(MEETS)
    (some_gamma, below), (shorter,) = suppose(BELOW), suppose(WEIGHTED)
    near = pythagoras(of, Q, reached)
    # p_tau is not 0
    rows = decide(gt(total(1, j), 0), regroup(as_term(1), j, OWNER), add_up(several, i, None, some))
    meets = of.meets(Q, of.met(Q, reached, rows))
    goal, more = gt(NORM(P), 0), HEAD @ SELECTED(OWNER(j)) - 1
    no = decide(ge(-NORM(P), 0), assume(goal.denied()))
    (reach,), size = cite(CAUCHY_SCHWARZ, (), D, P), cite(LENGTH, (), D)[0]
    larger = cite(LARGER, (), as_term(0), 1 - TAU * more)[1]
    none = decide(ge(TAU * more, 1), reach, meets, larger, product(size, no))
    none = decide(ge(TAU * (HEAD @ SELECTED(i) - 1), 1), add_up(none, j, MINE), several)
    head = of_head(some_gamma, inverse)
    mean = decide(eq(HEAD @ Z, 1), along(head, multiple, Z, HEAD), head.square)
    summed = add_up(product(share, none), i)
    refuted = decide(goal, summed, scale(mean, TAU), scale(one, TAU + 1), degree=1)
    not_zero = cases(assume(goal), refuted, goal)
    # other choices
    whole = total(SHARE(i) * CHOSEN(c, i), i)
    unit = setting(stated.setting, "no unit head is longer than 1")
    margin = product(share, setting(stated.setting, "it has the label margin of the choice"))
    (reach,), size = cite(CAUCHY_SCHWARZ, (), UNIT(c), whole), cite(LENGTH, (), whole)[0]
    led = decide(
        gt(GAMMA, MARGIN_OF(c)),
        *(add_up(margin, i), scale(one, MARGIN_OF(c)), reach, product(size, unit), shorter),
        degree=1,
    )
    above = setting(stated.setting, "a risen choice has a token that scores above 1")
    risen = decide(ge(ALONG(d), SIZES(d)), at(below, {j: ABOVE(d)}), above)
    key = setting(stated.setting, "if choices blur, a token has the key of the selected one")
    key = at(key, {M: PROMPT.solution})
    blurred = decide(ge(CLEAR(e), BLUR(e)), at(exists, {j: SAME_KEY(e)}), key)
    conclude_each(stated, near, some_gamma, not_zero, led, risen, blurred)
    return "for any number of inputs, tokens and axes"
