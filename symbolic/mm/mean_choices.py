"""The label margin shrinks as attention leaves the selected tokens, by means of choices.

On `mm/assumption-b:amended`; letters are those of `properties.mm._support.choice_letters`. Let q be
the largest attention 1 - s_i,alpha_i to rivals, which input i_0 has. For the weights w_i of the
multipliers, the least label margin is at most sum_i w_i <h, x_i^p>. In each input but i_0, this
product is at most (1 - q) times the margin of the selected token plus q times that of the best one.
So the sum is at most (1 - q) <h, Z_alpha> plus a sum of <h, Z_beta> with weights that add up to q.
Each choice beta has a rival in input i_0, and the best token of each other input.
"""

from __future__ import annotations

from dataclasses import dataclass

from attsvm.primitives.descent_letters import OWNER, M, i, j
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH
from attsvm.theory.proof.linked import linked, setting
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    attained,
    beyond,
    cases,
    cite,
    conclude,
    cut,
    decide,
    one_of_sum,
    scale,
)
from attsvm.theory.proof.terms import NORM, Over, most, substituted, total
from properties.mm._support import choice_letters as letters
from properties.mm._support.choice_letters import (
    BEST,
    GAMMA,
    HEAD,
    LONGEST,
    MARGIN,
    MEAN,
    OFF,
    SELECTED,
    SETTING,
    SHARE,
    H,
    Z,
)
from symbolic.facts import product


def no_longer(multiple: Fact, inverse: Fact, sign: Fact, none: Fact) -> Fact:
    """Return that Gamma is at least ||Z_alpha||.

    Args:
        multiple: that v(alpha) is ||v(alpha)||^2 Z_alpha.
        inverse: that Gamma is 1/||v(alpha)||, or 0.
        sign: that Gamma is at least 0.
        none: that Z_alpha is 0 if Gamma is.
    """
    goal, condition, n = ge(GAMMA, NORM(Z)), gt(GAMMA, 0), NORM(HEAD)
    square_ = cite(LENGTH, (), Z)[1]
    yes, no = assume(condition), assume(condition.denied())
    unit = decide(eq(GAMMA * n, 1), inverse, yes)
    squared = cite(LENGTH, (), HEAD)[1]
    along, across = (at(multiple, {M: x}) for x in (HEAD, Z))
    HH, HZ = HEAD @ HEAD, HEAD @ Z
    one = decide(eq(GAMMA**2 * HH, 1), scale(squared, GAMMA**2), scale(unit, GAMMA * n + 1))
    reached = decide(eq(HZ, 1), scale(along, GAMMA**2), scale(one, HZ - 1))
    exists = decide(
        goal, scale(across, GAMMA**2), scale(reached, GAMMA**2), scale(one, Z @ Z), square_, yes
    )
    return cases(exists, decide(goal, cut(at(none, {M: Z}), no), square_, sign), condition)


@dataclass(frozen=True, slots=True)
class Mean:
    """Facts of the setting about weights, attention and the best tokens."""

    some: Fact  # there is an input
    share: Fact  # weights are at least 0
    one: Fact  # weights add up to 1
    weight: Fact  # attention is at least 0
    kept: Fact  # so is that to the selected token
    whole: Fact  # attention adds up to 1
    top: Fact  # no selected token has a larger margin than the best
    above: Fact  # no other token has
    longest: Fact  # no other choice has a longer mean than the longest

    @staticmethod
    def known() -> Mean:
        """Return the facts of the setting."""
        return Mean(
            some=setting(SETTING, "there is an input"),
            share=setting(SETTING, "weights are at least 0"),
            one=setting(SETTING, "weights add up to 1"),
            weight=setting(SETTING, "attention is at least 0"),
            kept=setting(SETTING, "so is that to the selected token"),
            whole=setting(SETTING, "attention adds up to 1"),
            top=setting(SETTING, "no selected token has a larger margin than the best"),
            above=setting(SETTING, "no other token has"),
            longest=setting(SETTING, "no Z_beta of another choice is longer than the longest"),
        )


@linked
def prove() -> str:
    """Prove that min_i Y_i <h, x_i^p> <= ||h|| (Gamma - nu max_i (1 - s_i,alpha_i))."""
    gamma = (
        setting(SETTING, words)
        for words in (
            "weights are multipliers of v(alpha)",
            "Gamma is 1/||v(alpha)||, or 0 if there is none",
            "it is not below 0",
            "Z_alpha is 0 if there is no v(alpha)",
        )
    )
    conclude(bounded(Mean.known(), no_longer(*gamma)), *letters.bounded().sequents)
    return "for any number of inputs, tokens and axes, every head and prompt"


def bounded(facts: Mean, shorter: Fact) -> Fact:
    """Return the bound of the label margin by the largest attention to other tokens.

    Args:
        facts: facts of the setting.
        shorter: that Gamma is at least ||Z_alpha||.
    """
    some, share, one, weight, whole = facts.some, facts.share, facts.one, facts.weight, facts.whole
    mine = Over(OWNER, i.term)
    own, best = H @ SELECTED(i), H @ BEST(i)
    q = most(OFF, i)
    slowest, is_most = attained("slowest", q, some)
    last = {i: slowest()}
    # an input attends at most to (1 - q) times its selected and q times its best token
    theirs = add_up(product(weight, facts.above), j, mine)
    room = (1 - q) * own + q * best - H @ MEAN
    short = decide(ge(room, 0), theirs, beyond("most", OFF, i), facts.top, scale(whole, own))
    lost = at(one_of_sum(product(share, short), i), last, is_most)
    least_ = add_up(product(share, beyond("least", H @ MEAN, i)), i)
    least_ = decide(ge(total(SHARE(i) * (H @ MEAN), i), MARGIN), least_, scale(one, MARGIN))
    # choices of rivals in the slowest input
    length, _ = cite(LENGTH, (), H)
    exchanged = letters.exchanged(OWNER(j))
    (reach,) = cite(CAUCHY_SCHWARZ, (), H, exchanged)
    far = decide(ge(NORM(H) * LONGEST, H @ exchanged), reach, length, facts.longest)
    far = at(add_up(product(weight, far), j, mine), last, is_most)
    (reach,) = cite(CAUCHY_SCHWARZ, (), H, Z)
    near = decide(ge(NORM(H) * GAMMA, H @ Z), reach, length, shorter)
    ended = at(whole, last, is_most)
    rest = decide(ge(1 - q, 0), at(facts.kept, last, is_most), ended, is_most)
    (claim,) = letters.bounded().sequents
    w, a, b = (substituted(x, last) for x in (SHARE(i), own, best))
    parts = (
        *(least_, lost, far, product(rest, near), scale(ended, w * a)),
        scale(is_most, NORM(H) * LONGEST - total(SHARE(i) * best, i) + w * (b - a)),
    )
    return decide(claim.proposition, *parts, degree=1)
