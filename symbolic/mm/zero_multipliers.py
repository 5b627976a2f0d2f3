"""The label margin if some tight inputs are idle, that is have the multiplier 0.

On `mm/theorem-2:sharp-3`; letters are those of `properties.mm.theorem_2.letters`. For a head h and
a prompt, u is ||h|| Gamma less the label margin m. The mean of the scores of selected tokens, with
multipliers as weights, is at most ||h|| Gamma. If m > ||h|| gamma, rivals score at most
||h|| gamma. So the selected token of input i scores at least m + (m - ||h|| gamma) q_i.

In a tight input the selected token scores ||h|| Gamma + <h - ||h|| e, x> for e = Gamma v(alpha).
Here ||h - ||h|| e||^2 <= 2 ||h|| u/Gamma.

For the last bound let L = ||p||/||p'|| and s = exp(-L/2). At the prompt L p' an input that is not
idle leaves at most (T - 1) s^2 to rivals, and one that is tight and idle at most (T - 1) s. In the
latter the head v(alpha) + a s z gives the selected token a score of at least 1 + a s.
"""

from dataclasses import dataclass

from flint import fmpq

from attsvm.errors import present
from attsvm.primitives.descent_letters import OWNER, i, j
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import (
    CAUCHY_SCHWARZ,
    EXPONENTIAL,
    EXPONENTIAL_OF_SUM,
    LENGTH,
    RECIPROCAL,
)
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    assume,
    at,
    beyond,
    bounds,
    cases,
    cite,
    cut,
    decide,
    regroup,
    scale,
    square,
)
from attsvm.theory.proof.terms import EXP, INV, NORM, Function, as_term, least, total
from properties.mm._support.choice_letters import (
    ATTENTION,
    BEST,
    GAMMA,
    HEAD,
    MARGIN,
    MEAN,
    OFF,
    OTHER,
    SELECTED,
    H,
)
from properties.mm._support.max_margin import P_EXISTS
from properties.mm._support.programme_letters import PROMPT
from properties.mm.theorem_2 import letters
from properties.mm.theorem_2.letters import (
    COUNTED,
    DULL,
    FAR,
    LEVEL,
    LIMIT,
    LOWER,
    MEAN_THEN,
    MULTIPLIER,
    RIVALS,
    SHORT,
    SPENT,
    THEN,
    TURNED,
    U,
    Z,
)
from properties.mm.theorem_2.letters import LENGTH as L
from properties.mm.theorem_2.prompt_limits import ALONE, SEVERAL
from symbolic.facts import conclude_each, power, product, root
from symbolic.mm.programmes import Solved
from symbolic.mm.theorem_2 import MINE, Head, along, at_prompt, near_selected, of_head

STATED = present(letters.by_multipliers(), "what is shown")
S = EXP(L * fmpq(-1, 2))
A, B = RIVALS * FAR * NORM(HEAD), RIVALS * FAR * NORM(U)


def known(words: str) -> Fact:
    """Return the fact of the setting with these words."""
    return setting(STATED.setting, words)


def of_scores(head: Head) -> tuple[Fact, Fact]:
    """Return that <h, Z> = Gamma^2 <h, v(alpha)>, and that it is at most ||h|| Gamma."""
    mean = along(head, known("v(alpha) is a multiple of its mean"), Z, H)
    (reach,) = cite(CAUCHY_SCHWARZ, (), H, HEAD)
    top = decide(
        ge(NORM(H) * GAMMA, H @ Z),
        *(mean, product(square(GAMMA), reach), scale(head.unit, NORM(H) * GAMMA)),
    )
    return mean, top


@dataclass(frozen=True, slots=True)
class Attention:
    """Facts about the attention at the prompt."""

    weight: Fact  # that a rival has attention at least 0
    kept: Fact  # that the selected token has attention at least 0
    whole: Fact  # that attention adds up to 1
    off: Fact  # that q_i >= 0

    @staticmethod
    def known() -> "Attention":
        """Return the facts of the setting."""
        weight, kept = known("attention is at least 0"), known("so is that to the selected token")
        return Attention(weight, kept, known("attention adds up to 1"), add_up(weight, j, MINE))


def rivals_below(attention: Attention, some: Fact, above: Fact) -> Fact:
    """Return that rivals score at most ||h|| gamma, as m > ||h|| gamma."""
    best = known("no other token has")
    own = known("no selected token has a larger margin than the best")
    theirs = add_up(product(attention.weight, best), j, MINE)
    top = decide(
        ge(H @ BEST(i), MARGIN),
        *(theirs, product(attention.kept, own), scale(attention.whole, H @ BEST(i))),
        beyond("least", H @ MEAN, i),
    )
    least_best = bounds(top, "least", H @ BEST(i), i, some)
    other = known("no other choice has a larger label margin")
    score = H @ OTHER(j)
    goal, condition = ge(NORM(H) * LOWER, score), ge(score, MARGIN)
    yes, no = assume(condition), assume(condition.denied())
    reached = cut(at(other, {LEVEL: MARGIN}), yes, least_best)
    below = decide(ge(least(H @ BEST(i), i), score), no, least_best)
    own_level = cut(at(other, {LEVEL: score}), decide(ge(0, 0)), below)
    return cases(decide(goal, reached, above), own_level, condition)


def selected_above(attention: Attention, rivals: Fact, above: Fact) -> Fact:
    """Return that a selected token scores at least m + (m - ||h|| gamma) q_i."""
    lost = add_up(product(attention.weight, rivals), j, MINE)
    x, y = MARGIN - NORM(H) * LOWER, H @ SELECTED(i) - NORM(H) * LOWER
    kept = decide(
        ge(ATTENTION(i) * y, x),
        *(lost, beyond("least", H @ MEAN, i), scale(attention.whole, NORM(H) * LOWER)),
    )
    positive = decide(gt(y, 0), kept, attention.kept, above)
    whole = scale(attention.whole, y)
    more = decide(ge(y, x), kept, whole, product(attention.off, positive))
    return decide(ge(y - x, x * OFF), kept, whole, product(attention.off, more))


def near_head(head: Head, mean: Fact, reached: Fact, sign: Fact) -> tuple[Fact, Fact]:
    """Return that s >= 0, and ||h - ||h|| e|| <= s, for the root s of 2 ||h|| u/Gamma.

    Args:
        head: facts about v(alpha).
        mean: that <h, Z> = Gamma^2 <h, v(alpha)>.
        reached: that <h, Z> >= m.
        sign: that u >= 0.
    """
    apart, n, short = H - NORM(H) * GAMMA * HEAD, NORM(H), sign.proposition.term
    unit, inverse = cite(RECIPROCAL, [head.some_gamma], GAMMA)
    length, squared = cite(LENGTH, (), H)
    whole = 2 * n * short * INV(GAMMA)
    above, is_root = root(whole, decide(ge(whole, 0), product(length, sign, inverse)))
    more = decide(
        ge(2 * n * short, GAMMA * (apart @ apart)),
        product(length, reached),
        scale(squared, GAMMA),
        scale(head.square, n**2 * GAMMA),
        scale(mean, n),
    )
    far = decide(
        ge(whole, apart @ apart), product(inverse, more), scale(unit, apart @ apart), degree=1
    )
    square_ = cite(LENGTH, (), apart)[1]
    s = above.proposition.term
    return above, decide(ge(s, NORM(apart)), above, is_root, far, square_)


def bounded(head: Head, alone: Fact, attention: Attention, some: Fact) -> tuple[Fact, Fact]:
    """Return the bounds of the mean of the q_i, and of q_i in inputs that are tight and idle."""
    mean, top = of_scores(head)
    share, one = known("multipliers are at least 0"), known("multipliers add up to 1")
    rest, short = MARGIN - NORM(H) * LOWER, SHORT
    condition = gt(rest, 0)
    yes, no = assume(condition), assume(condition.denied())
    own = selected_above(attention, rivals_below(attention, some, yes), yes)
    q = total(MULTIPLIER(i) * OFF, i)
    some_q = add_up(product(share, attention.off), i)
    summed = add_up(product(share, own), i)
    summed = decide(ge(H @ Z, MARGIN + rest * q), summed, scale(one, MARGIN))
    reached = decide(ge(H @ Z, MARGIN), summed, product(some_q, yes))
    sign = decide(ge(short, 0), reached, top)
    # in a tight input
    above, near = near_head(head, mean, reached, sign)
    s, x = above.proposition.term, SELECTED(i)
    dull = assume(gt(DULL(i), 0))
    tight = cut(known("a dull input is tight"), dull)
    (reach,) = cite(CAUCHY_SCHWARZ, (), H - NORM(H) * GAMMA * HEAD, x)
    size = cite(LENGTH, (), x)[0]
    score = decide(
        ge(NORM(H) * GAMMA + NORM(x) * s, H @ x),
        *(reach, product(size, near), scale(tight, NORM(H) * GAMMA)),
    )
    tight_goal = ge(short + NORM(x) * s, rest * OFF)
    in_tight = decide(tight_goal, score, own)
    # without a rest
    length = cite(LENGTH, (), H)[0]
    room = decide(ge(short, 0), product(length, decide(ge(GAMMA - LOWER, 0), alone)), no)
    none = decide(ge(-rest, 0), no)
    lost, inverse = product(none, attention.off), cite(RECIPROCAL, [head.some_gamma], GAMMA)[1]
    always = root(
        2 * NORM(H) * short * INV(GAMMA),
        decide(ge(2 * NORM(H) * short * INV(GAMMA), 0), product(length, room, inverse)),
    )[0]
    without = decide(tight_goal, room, lost, product(size, always))
    goal = ge(short, rest * q)
    return (
        cases(decide(goal, summed, top), decide(goal, room, product(none, some_q)), condition),
        cases(in_tight, without, condition),
    )


@dataclass(frozen=True, slots=True)
class Flags:
    """Facts about the inputs that count and those that are tight and idle, called dull."""

    counted: Fact  # that the flag of an input is 0 or 1
    dull: Fact  # that the flag of an input is 0 or 1
    counts: Fact  # that the flag is at least 0
    dulls: Fact  # that the flag is at least 0

    @staticmethod
    def known() -> "Flags":
        """Return the facts of the setting."""
        counted, dull = known("an input counts or not"), known("an input is dull or not")
        counts = decide(ge(COUNTED(i), 0), counted)
        return Flags(counted, dull, counts, decide(ge(DULL(i), 0), dull))


def of_limit(flags: Flags, several: Fact, some: Fact) -> tuple[Fact, Fact]:
    """Return that p' meets each row, and that it is not 0."""
    of, V, D = Solved(LIMIT, STATED), LIMIT.solution, LIMIT.rows(j)
    (meets,) = suppose(P_EXISTS)
    rows = decide(gt(total(1, j), 0), regroup(as_term(1), j, OWNER), add_up(several, i, None, some))
    mine = {i: OWNER(j)}
    low = decide(
        ge(LIMIT.at(PROMPT.solution), 0),
        *(meets, at(known("no input is both"), mine), at(flags.dulls, mine)),
    )
    reached = of.meets(PROMPT.solution, of.met(PROMPT.solution, low, rows))
    goal = gt(NORM(V), 0)
    no = assume(goal.denied())
    (reach,), size = cite(CAUCHY_SCHWARZ, (), D, V), cite(LENGTH, (), D)[0]
    none = decide(
        ge(0, COUNTED(OWNER(j))),
        *(reach, reached, product(size, decide(ge(-NORM(V), 0), no)), at(flags.dulls, mine)),
    )
    none = decide(ge(0, COUNTED(i)), add_up(none, j, MINE), several)
    none = add_up(product(known("multipliers are at least 0"), none), i)
    whole = add_up(known("an idle input has the multiplier 0"), i)
    refuted = decide(goal, none, whole, known("multipliers add up to 1"))
    return reached, cases(assume(goal), refuted, goal)


@dataclass(frozen=True, slots=True)
class Turned:
    """Facts about the prompt L p' and the head g = v(alpha) + a s z, with s = exp(-L/2)."""

    meets: Fact  # that p' meets each row
    long: Fact  # that L >= 0
    kept: Fact  # that the selected token has attention at most 1
    spent: Fact  # that a rival has attention at least 0
    softmax: Fact  # the attention to a rival
    score: Fact  # that an input scores as its selected token, up to D ||g|| times attention lost
    length: Fact  # that ||g|| is at most ||v(alpha)|| + a s ||z||
    bound: Fact  # that Gamma ||g|| is at most 1 + b^2 s^2/2


def length_of(head: Head, positive: tuple[Fact, Fact]) -> tuple[Fact, Fact]:
    """Return that ||g|| <= ||v(alpha)|| + a s ||z||, and that Gamma ||g|| <= 1 + b^2 s^2/2.

    Args:
        head: facts about v(alpha).
        positive: that T - 1 and D are at least 0.
    """
    g, n, u = TURNED, NORM(HEAD), NORM(U)
    squared, across = cite(LENGTH, (), g)[1], known("u is orthogonal to v(alpha)")
    n_square, (u_size, u_square) = cite(LENGTH, (), HEAD)[1], cite(LENGTH, (), U)
    c, b = A * S, B * S
    whole = decide(
        eq(NORM(g) ** 2, n**2 + c**2 * u**2),
        *(squared, scale(across, 2 * c), n_square, scale(u_square, c**2)),
    )
    c_sign = product(*positive, head.size, power(L * fmpq(-1, 2)), u_size)
    length = decide(ge(n + c * u, NORM(g)), whole, c_sign, head.size)
    scaled = decide(
        eq(GAMMA**2 * NORM(g) ** 2, 1 + b**2),
        scale(whole, GAMMA**2),
        scale(head.unit, (GAMMA * n + 1) * (1 + b**2)),
    )
    most, large = 1 + b**2 * fmpq(1, 2), decide(ge(1 + b**2 * fmpq(1, 2), 0), square(b))
    small = decide(ge(most**2, (GAMMA * NORM(g)) ** 2), scaled, square(b**2))
    return length, decide(ge(most, GAMMA * NORM(g)), large, small)


def then(head: Head, flags: Flags, tokens: tuple[Fact, Fact, Fact]) -> tuple[Fact, Fact]:
    """Return the bounds of the margin of g in inputs that count, and in dull ones.

    Args:
        head: facts about v(alpha).
        flags: facts about inputs.
        tokens: that p' meets each row, that it is not 0, and that T - 1 is at least 0.
    """
    meets, exists, count = tokens
    g, goal = TURNED, STATED.sequents[-1].proposition
    far, mine = known("D is at least 0"), {i: OWNER(j)}
    length, bound = length_of(head, (count, far))
    inverse = cite(RECIPROCAL, [exists], NORM(LIMIT.solution))[1]
    long = product(known("R is at least 0"), inverse)
    # the input scores as its selected token, up to D ||g|| times the attention to others
    prompt = at_prompt(STATED, "p'", THEN, SPENT(j), L * (LIMIT.rows(j) @ LIMIT.solution))
    farthest = known("no token is farther from the selected one than D")
    score = near_selected(g, MEAN_THEN, prompt.weight, prompt.whole, farthest)
    top = length.proposition.term + NORM(g)
    some_top = decide(ge(top, 0), length, cite(LENGTH, (), g)[0])
    others = known("an input has T - 1 other tokens")

    def lost(flag: Function, own: Fact, other: Fact, part: fmpq) -> Fact:
        """Return a bound of D ||g|| times the attention to others, if the flag is 1."""
        on, off = assume(gt(flag(OWNER(j)), 0)), total(SPENT(j), j, MINE)
        one = decide(eq(flag(OWNER(j)), 1), at(own, mine), on)
        ahead = decide(
            ge(prompt.logit, L * part),
            *(product(long, meets), scale(one, L * part), product(long, at(other, mine))),
        )
        q = prompt.left(L * part, ahead, others)
        return decide(
            ge(FAR * top * RIVALS * EXP(-L * part), FAR * NORM(g) * off),
            product(far, prompt.some_off, length),
            product(far, some_top, q),
        )

    (squared,) = cite(EXPONENTIAL_OF_SUM, (), L * fmpq(-1, 2), L * fmpq(-1, 2))
    u_size = cite(LENGTH, (), U)[0]
    some_s, some_e = power(L * fmpq(-1, 2)), power(-L)
    some_a = product(count, far, head.size)
    law = scale(squared, B**2 * fmpq(1, 2))
    # inputs that count
    on = assume(gt(COUNTED(i), 0))
    tight = cut(known("v(alpha) meets each row"), head.some_gamma)
    raised = product(some_a, some_s, cut(known("u does not lower an input that counts"), on))
    half = L * fmpq(1, 2)
    (one,), (_, line) = cite(EXPONENTIAL_OF_SUM, (), -half, half), cite(EXPONENTIAL, (), half)
    small = decide(ge(1, S), one, line, long)
    spare = product(some_a, count, far, u_size, some_e, small)
    in_counted = decide(
        goal,
        *(score, lost(COUNTED, flags.counted, flags.dulls, fmpq(1)), tight, raised, spare),
        *(bound, law),
        degree=1,
    )
    # inputs that are tight and idle
    on = assume(gt(DULL(i), 0))
    tight = cut(known("a dull input is tight"), on)
    up = cut(known("u raises a dull input"), on)
    raised = product(some_a, some_s, decide(ge(U @ SELECTED(i) - 1, 0), up))
    in_dull = decide(
        goal,
        *(score, lost(DULL, flags.dull, flags.counts, fmpq(1, 2)), tight, raised),
        *(product(some_a, some_e), scale(squared, A * B), bound, law),
        degree=1,
    )
    return in_counted, in_dull


@linked
def prove() -> str:
    """Prove the bounds of q_i, that p' is not 0, and the bound of the margin of the turned head."""
    (alone,), attention, flags = suppose(ALONE), Attention.known(), Flags.known()
    some_gamma = decide(gt(GAMMA, 0), alone, known("gamma is at least 0"))
    head = of_head(some_gamma, known("Gamma is 1/||v(alpha)||, or 0 if there is none"))
    some, (several,) = known("there is an input"), suppose(SEVERAL)
    mean, tight = bounded(head, alone, attention, some)
    meets, exists = of_limit(flags, several, some)
    count = decide(ge(RIVALS, 0), known("an input has T - 1 other tokens"), several, some)
    in_counted, in_dull = then(head, flags, (meets, exists, count))
    conclude_each(STATED, mean, tight, exists, in_counted, in_dull)
    return "for any number of inputs, tokens and axes, every head and prompt; T > 1"
