"""The label margin of a head and a prompt, to second order in the attention to other tokens.

On `mm/theorem-2:sharp-1`; letters are those of `properties.mm.theorem_2.letters`. Let w_i be the
multipliers of v(alpha), Z the mean of the selected tokens, of length Gamma, and G that of the
attended tokens. With E = Z - G and the mean Q of the attention to other tokens,

- <v(alpha), E> >= (1 - top) Q, as other tokens score at most top < 1 under v(alpha), and
  Z = Gamma^2 v(alpha);
- ||E|| <= D Q, as ||E||^2 = <E, E> is a mean of <E, x_i,alpha_i - x_it>.

So ||G||^2 <= Gamma^2 - 2 Gamma^2 (1 - top) Q + D^2 Q^2. The label margin is at most ||h|| ||G||.
"""

from flint import fmpq

from attsvm.primitives.descent_letters import OWNER, M, i, j
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    cite,
    cut,
    decide,
    one_of_sum,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import INV, NORM, as_term, most, total
from properties.mm._support.choice_letters import (
    GAMMA,
    HEAD,
    LONGEST,
    MARGIN,
    MEAN,
    OFF,
    OTHER,
    SELECTED,
    SHARE,
    WEIGHT,
    H,
    Z,
)
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.programme_letters import PROMPT
from properties.mm.theorem_2 import letters
from properties.mm.theorem_2.head_limits import POSITIVE
from properties.mm.theorem_2.letters import FAR, MISSED
from properties.mm.theorem_2.prompt_limits import SEVERAL
from symbolic.facts import conclude_each, product
from symbolic.mm.programmes import Solved, some_length
from symbolic.mm.theorem_2 import MINE, Head, along, of_head

LOST = OFF * SELECTED(i) - total(WEIGHT(j) * OTHER(j), j, MINE)
E = total(SHARE(i) * LOST, i)
G = GAMMA**2 * HEAD - E
TOP = most(HEAD @ OTHER(j), j)


def others_lower(head: Head, nu: Fact, share: Fact, rows: Fact, facts: tuple[Fact, ...]) -> Fact:
    """Return that other tokens score below 1 under v(alpha).

    Args:
        head: facts about v(alpha).
        nu: that no other choice has a mean of length Gamma.
        share: that weights are at least 0.
        rows: that selected tokens score at least 1 under v(alpha).
        facts: that <Z, v(alpha)> = 1, that weights add up to 1, and that a choice which differs in
            one input has no longer mean than the longest.
    """
    (mean, one, longest), w = facts, SHARE(OWNER(j))
    own, other = HEAD @ SELECTED(OWNER(j)), HEAD @ OTHER(j)
    changed = Z + w * (OTHER(j) - SELECTED(OWNER(j)))
    (reach,) = cite(CAUCHY_SCHWARZ, (), HEAD, changed)
    some_size = decide(gt(NORM(HEAD), 0), head.unit, head.some_gamma)
    less = decide(gt(NORM(HEAD) * (GAMMA - LONGEST), 0), some_size, nu)
    short = decide(
        gt(1, HEAD @ changed), reach, product(head.size, longest), head.unit, less, degree=1
    )
    lead = decide(gt(w * (own - other), 0), short, mean)
    # a selected token of positive weight scores 1
    each = one_of_sum(product(share, decide(ge(HEAD @ SELECTED(i) - 1, 0), rows)), i)
    tight = decide(ge(SHARE(i) * (1 - HEAD @ SELECTED(i)), 0), each, mean, one)
    mine = {i: OWNER(j)}
    return decide(gt(1, other), lead, at(tight, mine), at(share, mine))


def lost_along(share: Fact, rows: Fact, weight: Fact) -> Fact:
    """Return that <v(alpha), E> >= (1 - top) Q."""
    off = add_up(weight, j, MINE)
    theirs = add_up(product(weight, beyond("most", HEAD @ OTHER(j), j)), j, MINE)
    each = decide(
        ge(HEAD @ LOST, (1 - TOP) * OFF),
        *(theirs, product(off, decide(ge(HEAD @ SELECTED(i) - 1, 0), rows))),
        degree=1,
    )
    return add_up(product(share, each), i)


def lost_length(share: Fact, weight: Fact, far: Fact, farthest: Fact) -> Fact:
    """Return that ||E|| <= D Q, as <E, M> <= D Q ||M|| for every M."""
    apart, any_ = SELECTED(OWNER(j)) - OTHER(j), M.term
    (reach,), size = cite(CAUCHY_SCHWARZ, (), apart, any_), cite(LENGTH, (), any_)[0]
    near = decide(ge(FAR * NORM(any_), apart @ any_), reach, product(size, farthest))
    near = add_up(product(weight, near), j, MINE)
    near = at(add_up(product(share, near), i), {M: E})
    wide = product(far, add_up(product(share, add_up(weight, j, MINE)), i))
    is_square = cite(LENGTH, (), E)[1]
    near = decide(ge(FAR * MISSED * NORM(E), NORM(E) ** 2), near, is_square, degree=1)
    return decide(ge(FAR * MISSED, NORM(E)), near, wide)


@linked
def prove_prompt() -> str:
    """Prove that m <= ||h|| (Gamma - delta Q + D^2 Q^2/(2 Gamma)), with delta > 0."""
    stated = letters.to_second_order()
    some, share, one, weight, whole, multiple, inverse = (
        setting(stated.setting, words)
        for words in (
            "there is an input",
            "weights are at least 0",
            "weights add up to 1",
            "attention is at least 0",
            "attention adds up to 1",
            "weights are multipliers of v(alpha)",
            "Gamma is 1/||v(alpha)||, or 0 if there is none",
        )
    )
    (positive,), (meets,), (several,) = suppose(POSITIVE), suppose(P_EXISTS), suppose(SEVERAL)
    nu = decide(gt(GAMMA - LONGEST, 0), positive)
    least_, far, farthest, rows, longest = (
        setting(stated.setting, words)
        for words in (
            "no longest mean is below 0",
            "D is at least 0",
            "no token is farther from the selected one than D",
            "v(alpha) meets each row",
            "no Z_beta that differs in one input is longer than the longest",
        )
    )
    some_gamma = decide(gt(GAMMA, 0), positive, least_)
    head, rows = of_head(some_gamma, inverse), cut(rows, some_gamma)
    mean = decide(eq(HEAD @ Z, 1), along(head, multiple, Z, HEAD), head.square)
    lower = others_lower(head, nu, share, rows, (mean, one, longest))
    # the length of G
    lost = product(square(GAMMA), lost_along(share, rows, weight))
    far_lost = lost_length(share, weight, far, farthest)
    missed = decide(ge(FAR**2 * MISSED**2, E @ E), far_lost, *cite(LENGTH, (), E))
    is_square, unit = cite(LENGTH, (), G)[1], cite(RECIPROCAL, [some_gamma], GAMMA)[0]
    (claim,) = (sequent.proposition for sequent in stated.sequents[-1:])
    y = FAR**2 * MISSED**2 * INV(GAMMA) ** 2 * fmpq(1, 2) - (1 - TOP) * MISSED
    wide = scale(unit, (GAMMA * INV(GAMMA) + 1) * FAR**2 * MISSED**2)
    low = decide(
        ge(GAMMA**2 * (1 + 2 * y), G @ G),
        scale(head.square, GAMMA**2),
        lost,
        missed,
        wide,
        degree=1,
    )
    low = decide(ge(GAMMA**2 * (1 + 2 * y), NORM(G) ** 2), low, is_square, degree=1)
    some_square = decide(gt(GAMMA**2, 0), some_gamma)
    positive = decide(gt(1 + y, 0), low, square(NORM(G)), some_square)
    small = decide(ge((GAMMA * (1 + y)) ** 2, NORM(G) ** 2), low, square(GAMMA * y), degree=1)
    short = decide(ge(GAMMA * (1 + y), NORM(G)), product(some_gamma, positive), small)
    # the label margin is at most <h, G>
    each = decide(
        ge(H @ SELECTED(i) - H @ LOST, MARGIN),
        *(beyond("least", H @ MEAN, i), scale(whole, H @ SELECTED(i))),
        degree=1,
    )
    each = decide(
        ge(H @ G, MARGIN),
        *(add_up(product(share, each), i), scale(one, MARGIN), along(head, multiple, Z, H)),
        degree=1,
    )
    (reach,) = cite(CAUCHY_SCHWARZ, (), H, G)
    last = decide(claim, each, reach, product(cite(LENGTH, (), H)[0], short), degree=1)
    # p(alpha) is not 0
    of = Solved(PROMPT, stated)
    rows_ = decide(
        gt(total(1, j), 0), regroup(as_term(1), j, OWNER), add_up(several, i, None, some)
    )
    exists = some_length(of, meets, rows_)
    conclude_each(stated, some_gamma, exists, lower, last)
    return "for any number of inputs, tokens and axes, every head and prompt; T > 1"
