"""The letters of the linked proof about p_tau, the limit of the prompt if r/R has a limit.

Vectors of tokens are times the label Y_i. Letters of tokens, weights and v(alpha) are those of
`properties.mm._support.choice_letters`.
"""

from __future__ import annotations

from attsvm.primitives.descent_letters import INPUT, OWNER, RIVAL, M, i, j
from attsvm.theory.proof.facts import Sequent, eq, ge, gt
from attsvm.theory.proof.linked import Said
from attsvm.theory.proof.terms import (
    MAXIMUM,
    NORM,
    VECTOR,
    Function,
    Letter,
    Sort,
    Term,
    as_term,
    total,
)
from properties.mm._support import choice_letters as choices
from properties.mm._support.choice_letters import GAMMA, HEAD, OTHER, SELECTED, SHARE
from properties.mm._support.programme_letters import PROMPT, Programme, Q, number

TAU = Function("tau")()
CHANGED, RISEN, BLURRED = (
    Sort(f"{name} choice", index=True) for name in ("changed", "risen", "blurred")
)
"""Choices that differ from alpha in a tight input. Then those that have a p(beta) and differ in
other inputs only, by tokens that score above 1 under v(alpha). Then those that are compared if
inputs that are not tight have one key each."""
c, d, e = Letter("c", CHANGED), Letter("d", RISEN), Letter("e", BLURRED)
CHOSEN, UNIT = Function("chosen", (CHANGED, INPUT), VECTOR), Function("unit", (CHANGED,), VECTOR)
"""The token of an input in a choice, and a head of norm 1 or 0 of the largest label margin."""
REACHED, MARGIN_OF = Function("has p", (CHANGED,)), Function("label margin", (CHANGED,))
"""1 if there is a p(beta), else 0; and the largest label margin of unit heads."""
ALONG, SIZES = Function("along", (RISEN,)), Function("sizes", (RISEN,))
"""The product of the joint p-SVM's solution with that of the choice, and the product of norms."""
ABOVE, SAME_KEY = Function("above", (RISEN,), RIVAL), Function("of one key", (BLURRED,), RIVAL)
"""A token of a risen choice that scores above 1, and a token with the key of the selected one."""
BLUR, CLEAR = Function("blurred margin", (BLURRED,)), Function("margin of alpha", (BLURRED,))
"""The squared label margins of a choice and of alpha, if other inputs count by their means."""


def _asked(p: Programme, x: Term, row: Letter) -> Term:
    more = HEAD @ SELECTED(OWNER(row)) - 1
    return p.rows(row) @ x - MAXIMUM(as_term(0), 1 - TAU * more)


TILTED = Programme(j, PROMPT.rows, Function("p_tau", (), VECTOR)(), _asked, "p_tau")
"""The programme of p_tau: margins of max(0, 1 - tau (m_i - 1)) in every input i."""


def below() -> list[Sequent]:
    """Return the facts that v(alpha) exists, and that other tokens score below 1 under it."""
    return [Sequent(gt(GAMMA, 0)), Sequent(gt(1, HEAD @ OTHER(j)))]


def weighted() -> list[Sequent]:
    """Return the fact that choices which differ in a tight input have means shorter than Gamma.

    That multipliers are positive in tight inputs is left out.
    """
    return [Sequent(gt(GAMMA, NORM(total(SHARE(i) * CHOSEN(c, i), i))))]


def meets() -> list[Sequent]:
    """Return the fact that q meets each row of p_tau."""
    return [Sequent(ge(TILTED.at(Q), 0))]


_COMMON = (
    "there is an input",
    "weights are at least 0",
    "weights add up to 1",
    "weights are multipliers of v(alpha)",
    "Gamma is 1/||v(alpha)||, or 0 if there is none",
)


def nearest_along(share: object = 1, tau: object = None) -> Said | None:
    """Return the claims on p_tau, and on choices that differ from alpha."""
    if tau is not None:
        return None
    P = TILTED.solution
    claims = (
        Sequent(ge(Q @ Q - P @ P, (Q - P) @ (Q - P) * number(share))),
        Sequent(gt(GAMMA, 0)),
        Sequent(gt(NORM(P), 0)),
        Sequent(gt(GAMMA, MARGIN_OF(c)), frozenset({gt(REACHED(c), 0)})),
        Sequent(ge(ALONG(d), SIZES(d))),
        Sequent(ge(CLEAR(e), BLUR(e))),
    )
    return Said(
        claims,
        {
            **{words: choices.SETTING[words] for words in _COMMON},
            **TILTED.setting(),
            "no unit head is longer than 1": Sequent(ge(1, NORM(UNIT(c)))),
            "it has the label margin of the choice": Sequent(
                ge(UNIT(c) @ CHOSEN(c, i), MARGIN_OF(c))
            ),
            "a risen choice has a token that scores above 1": Sequent(
                gt(HEAD @ OTHER(ABOVE(d)), 1)
            ),
            "if choices blur, a token has the key of the selected one": Sequent(
                eq(PROMPT.rows(SAME_KEY(e)) @ M.term, 0)
            ),
        },
    )
