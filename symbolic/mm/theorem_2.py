"""The joint path's head: it is as near to v(alpha) as its label margin is to Gamma.

On `mm/theorem-2:amended`; letters are those of `properties.mm.theorem_2.letters`. The steps are in
docs/proofs/joint_path.md. So are the limits of the prompt for each growth of r and R, and what is
known of its other readings.

Under Assumption B a head v of norm at most r whose label margin is near r Gamma is near r e, with
e = v(alpha)/||v(alpha)||. The pair of v(alpha) and a long prompt along p(alpha) has a label margin
near 1. A minimiser (v_r, p_R) of the risk of exp(-x) has at least the label margin of r and R times
the two directions, less ln n. So v_r/r tends to e as r and R tend to infinity, in any way.
"""

from dataclasses import dataclass

from attsvm.primitives.descent_letters import OWNER, M, i, j
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import add_up, at, beyond, bounds, cite, cut, decide, scale
from attsvm.theory.proof.terms import EXP, INV, NORM, Function, Over, Term, most, total
from properties.mm._support.choice_letters import (
    GAMMA,
    HEAD,
    LONGEST,
    MARGIN,
    MEAN,
    OFF,
    OTHER,
    SELECTED,
    H,
)
from properties.mm._support.choice_letters import Z as Z_ALPHA
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.programme_letters import PROMPT
from properties.mm.theorem_2 import letters
from properties.mm.theorem_2.head_limits import POSITIVE
from properties.mm.theorem_2.letters import FAR, LEFT, MEAN_REACHED, REACHED, RIVALS, TIME
from symbolic.facts import conclude_each, power, powers_rise, product
from symbolic.mm import mean_choices

MINE = Over(OWNER, i.term)


@dataclass(frozen=True, slots=True)
class Head:
    """Facts about v(alpha) of norm 1/Gamma."""

    some_gamma: Fact  # that Gamma > 0
    unit: Fact  # that Gamma ||v(alpha)|| = 1
    square: Fact  # that Gamma^2 <v(alpha), v(alpha)> = 1
    size: Fact  # that ||v(alpha)|| >= 0


def of_head(some_gamma: Fact, inverse: Fact) -> Head:
    """Return facts about v(alpha).

    Args:
        some_gamma: that Gamma > 0.
        inverse: that Gamma is 1/||v(alpha)||, or 0.
    """
    unit = decide(eq(GAMMA * NORM(HEAD), 1), inverse, some_gamma)
    size, squared = cite(LENGTH, (), HEAD)
    one = decide(
        eq(GAMMA**2 * (HEAD @ HEAD), 1),
        *(scale(squared, GAMMA**2), scale(unit, GAMMA * NORM(HEAD) + 1)),
    )
    return Head(some_gamma, unit, one, size)


def along(head: Head, multiple: Fact, Z: Term, to: Term) -> Fact:
    """Return that <Z, X> = Gamma^2 <v(alpha), X>, as v(alpha) is <v(alpha), v(alpha)> Z."""
    return decide(
        eq(Z @ to, GAMMA**2 * (HEAD @ to)),
        *(scale(at(multiple, {M: to}), GAMMA**2), scale(head.square, Z @ to)),
    )


def near_selected(g: Term, mean: Term, weight: Fact, whole: Fact, farthest: Fact) -> Fact:
    """Return that an input scores as its selected token, up to D ||g|| times the attention lost.

    Args:
        g: the head.
        mean: the attended token of input i.
        weight: that rival j has attention at least 0.
        whole: that the attention of input i adds up to 1.
        farthest: that no token is farther from the selected one than D.
    """
    w, apart = weight.proposition.term, SELECTED(OWNER(j)) - OTHER(j)
    (reach,) = cite(CAUCHY_SCHWARZ, (), g, apart)
    near = product(cite(LENGTH, (), g)[0], farthest)
    near = add_up(product(weight, decide(ge(FAR * NORM(g), g @ apart), reach, near)), j, MINE)
    off = total(w, j, MINE)
    return decide(
        ge(g @ mean, g @ SELECTED(i) - FAR * NORM(g) * off), near, scale(whole, g @ SELECTED(i))
    )


@dataclass(frozen=True, slots=True)
class Prompt:
    """Attention at a prompt, which is the softmax of its logits."""

    kept: Fact  # that the selected token has attention at least 0
    weight: Fact  # that a rival has attention at least 0
    whole: Fact  # that attention adds up to 1
    softmax: Fact  # the attention to a rival
    logit: Term  # the logit margin over rival j
    some_off: Fact  # that the attention to rivals is at least 0
    full: Fact  # that the selected token of the input of j has attention at most 1

    def left(self, low: Term, ahead: Fact, others: Fact) -> Fact:
        """Return that rivals get at most (T - 1) exp(-low) of the attention.

        Args:
            low: a number.
            ahead: that logit margins are at least this number.
            others: that an input has T - 1 other tokens.
        """
        rate, weight = EXP(-low), self.weight.proposition.term
        rise = powers_rise(-self.logit, -low, ahead)
        less = product(at(self.kept, {i: OWNER(j)}), rise)
        less = decide(
            ge(rate, weight), self.softmax, less, product(self.full, power(-low)), degree=1
        )
        return decide(
            ge(RIVALS * rate, total(weight, j, MINE)), add_up(less, j, MINE), scale(others, rate)
        )


def at_prompt(stated: Said, name: str, kept: Function, weight: Term, logit: Term) -> Prompt:
    """Return facts about the attention at a prompt of this name."""
    positive, softmax, whole = (
        setting(stated.setting, f"attention at {name} {words}")
        for words in ("is at least 0", "is softmax", "adds up to 1")
    )
    mine = {i: OWNER(j)}
    spent = decide(ge(weight, 0), softmax, product(at(positive, mine), power(-logit)))
    some_off = add_up(spent, j, MINE)
    full = at(decide(ge(1, kept(i)), whole, some_off), mine)
    return Prompt(positive, spent, whole, softmax, logit, some_off, full)


@linked
def prove() -> str:
    """Prove the bounds of the head and of the label margin at t p(alpha)."""
    stated = letters.turned_and_reached()
    known = mean_choices.Mean.known()
    some, share, one, weight, whole = known.some, known.share, known.one, known.weight, known.whole
    multiple, inverse = (
        setting(stated.setting, words)
        for words in (
            "weights are multipliers of v(alpha)",
            "Gamma is 1/||v(alpha)||, or 0 if there is none",
        )
    )
    (positive,), (meets,) = suppose(POSITIVE), suppose(P_EXISTS)
    nu = decide(gt(GAMMA - LONGEST, 0), positive)
    least_ = setting(stated.setting, "no longest mean is below 0")
    head = of_head(decide(gt(GAMMA, 0), positive, least_), inverse)
    far, farthest, others, rows = (
        setting(stated.setting, words)
        for words in (
            "D is at least 0",
            "no token is farther from the selected one than D",
            "an input has T - 1 other tokens",
            "v(alpha) meets each row",
        )
    )
    # the selected tokens score at least m - ||h|| D q, with the largest q of an input
    q, length, turned = most(OFF, i), cite(LENGTH, (), H), cite(LENGTH, (), -H)[1]
    same = decide(eq(NORM(-H), NORM(H)), *length, turned, cite(LENGTH, (), -H)[0])
    near = near_selected(-H, MEAN, weight, whole, farthest)
    room = product(far, length[0], beyond("most", OFF, i))
    own = decide(
        ge(H @ SELECTED(i), MARGIN - FAR * NORM(H) * q),
        *(near, scale(same, FAR * OFF), room, beyond("least", H @ MEAN, i)),
        degree=1,
    )
    mean = decide(
        ge(H @ Z_ALPHA, MARGIN - FAR * NORM(H) * q),
        *(add_up(product(share, own), i), scale(one, MARGIN - FAR * NORM(H) * q)),
        degree=1,
    )
    # ||h|| q is at most (||h|| Gamma - m)/nu
    unit_mean = along(head, multiple, Z_ALPHA, HEAD)
    square_ = decide(
        eq(NORM(Z_ALPHA) ** 2, GAMMA**2),
        *(along(head, multiple, Z_ALPHA, Z_ALPHA), cite(LENGTH, (), Z_ALPHA)[1]),
        *(scale(unit_mean, GAMMA**2), scale(head.square, GAMMA**2)),
        degree=1,
    )
    shorter = decide(ge(GAMMA, NORM(Z_ALPHA)), square_, head.some_gamma)
    unit, inverse_ = cite(RECIPROCAL, [nu], GAMMA - LONGEST)
    lost = decide(
        ge(letters.SHORT * INV(GAMMA - LONGEST), NORM(H) * q),
        *(product(mean_choices.bounded(known, shorter), inverse_), scale(unit, NORM(H) * q)),
        degree=1,
    )
    goals = [sequent.proposition for sequent in stated.sequents]
    near = decide(goals[2], mean, product(far, lost), along(head, multiple, Z_ALPHA, H), degree=1)
    # at the prompt t p(alpha)
    logit = TIME * (PROMPT.rows(j) @ PROMPT.solution)
    then = at_prompt(stated, "t p(alpha)", REACHED, LEFT(j), logit)
    left = then.left(TIME, product(setting(stated.setting, "t is at least 0"), meets), others)
    each = decide(
        ge(HEAD @ MEAN_REACHED, 1 - NORM(HEAD) * FAR * RIVALS * EXP(-TIME)),
        near_selected(HEAD, MEAN_REACHED, then.weight, then.whole, farthest),
        *(cut(rows, head.some_gamma), product(far, head.size, left)),
        degree=1,
    )
    reached = bounds(each, "least", HEAD @ MEAN_REACHED, i, some)
    conclude_each(stated, nu, meets, near, reached)
    return "for any number of inputs, tokens and axes, every head and prompt; r and R in any way"
