"""A linear head has no stationary point if some q has Y_i <z_i, q> > 0 for all i.

On `tf/linear-head-landscape:sharp-3`. The condition on q is necessary: without it, there
are tokens for these queries and labels that make W = 0 stationary.
"""

from attsvm.errors import present
from attsvm.primitives.descent_letters import FALL, LABEL, LIFT, NUMBER, OUTER, QUERY, M, i, q, w
from attsvm.primitives.hypotheses import LINEAR_HEAD
from attsvm.theory.proof.facts import Fact, Proposition, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, LENGTH, ROOT
from attsvm.theory.proof.linked import Said, linked, setting, suppose
from attsvm.theory.proof.rules import add_up, assume, at, beyond, cite, conclude, decide, scale
from attsvm.theory.proof.terms import INV, NORM, SQRT, Letter, Term, as_term, least
from properties.tf.linear_head_landscape import letters
from properties.tf.linear_head_landscape.instances import PLANE, QUERIED
from properties.tf.linear_head_landscape.letters import COLUMN, E_1, E_2, NEAREST, PART, SEPARATES
from symbolic.tf.all_support_no_stationary import moves_along_leads


def _none(zero: Fact, x: Term) -> Fact:
    """Return that <Z, x> = 0, as <Z, Z> is not above 0."""
    none = decide(eq(NORM(NEAREST), 0), cite(LENGTH, (), NEAREST)[1], zero)
    (up,), (down,) = cite(CAUCHY_SCHWARZ, (), NEAREST, x), cite(CAUCHY_SCHWARZ, (), NEAREST, -x)
    return decide(
        eq(NEAREST @ x, 0), up, down, scale(none, NORM(x)), scale(none, NORM(-x)), degree=1
    )


def _at_rest(known: Said, label: Fact, root: Fact, goal: Proposition) -> Fact:
    """Return that W = 0 is stationary for the tokens, if Z is 0."""
    column = at(setting(known.setting, "<e_1 q^T, M> is <q, M^T e_1>"), {q: QUERY(i)})
    along, part = OUTER(E_1, QUERY(i)) @ M.term, PART(i) * LABEL(i)
    each = decide(
        eq(LABEL(i) ** 3 * SQRT(PART(i)) ** 2 * along, part * (QUERY(i) @ COLUMN(M))),
        *(scale(label, LABEL(i) * SQRT(PART(i)) ** 2 * along), scale(root, LABEL(i) * along)),
        scale(column, part),
        degree=1,
    )
    zero = assume(ge(0, NEAREST @ NEAREST))
    factor = FALL(as_term(0)) * INV(NUMBER)
    return decide(
        goal, scale(add_up(each, i), factor), scale(_none(zero, COLUMN(M)), factor), degree=1
    )


@linked
def prove() -> str:
    """Prove that no W is stationary if there is such a q, and else W = 0 is for some tokens."""
    known = present(letters.exactly(), "what is shown")
    moving, on_side, rest, some_part, *others = known.sequents
    # the risk falls along v q^T
    each = Letter("each", i.sort)
    side, q_side = LABEL(each) * (QUERY(each) @ q.term), LABEL(i) * (QUERY(i) @ q.term)
    positive = assume(gt(least(side, each), 0))
    (lifted,) = suppose(LINEAR_HEAD)
    q_positive = decide(gt(q_side, 0), beyond("least", q_side, i), positive)
    conclude(moves_along_leads(LIFT(q), lifted, q_positive), moving)
    nearest = setting(known.setting, "Z is the point of the hull that is nearest to 0")
    conclude(decide(on_side.proposition, nearest, assume(gt(NEAREST @ NEAREST, 0))), on_side)
    label = setting(known.setting, "labels are 1 or -1")
    part = setting(known.setting, "no lambda is negative")
    root_sign, root = cite(ROOT, [part], PART(i))
    conclude(_at_rest(known, label, root, rest.proposition), rest)
    whole = setting(known.setting, "they add up to 1")
    conclude(decide(some_part.proposition, whole), some_part)
    some = decide(gt(SQRT(PART(i)), 0), root_sign, root, assume(gt(PART(i), 0)))
    (sign,), (_, flat, unit) = suppose(QUERIED), suppose(PLANE)
    turn = QUERY(i) @ letters.PLACE
    separated = setting(known.setting, "<w q^T, e_2 b^T> is <w, e_2> <q, b>")
    first, second = (at(separated, {w: e, q: QUERY(i)}) for e in (E_1, E_2))
    flat = decide(eq(OUTER(E_1, QUERY(i)) @ SEPARATES, 0), first, scale(flat, turn))
    across = decide(eq(OUTER(E_2, QUERY(i)) @ SEPARATES, turn), second, scale(unit, turn))
    for k, (score, row) in enumerate(zip(others[:2], others[2:], strict=True), 1):
        lead = letters.TOKENS[0][0] - letters.TOKENS[k][0]
        scaled = scale(label, lead * SQRT(PART(i)))
        conclude(decide(score.proposition, some, scaled), score)
        a, b = (letters.TOKENS[0][x] - letters.TOKENS[k][x] for x in (0, 1))
        units = (
            scale(flat, a * LABEL(i) * SQRT(PART(i))),
            scale(across, b * letters.SIGN(i) * SQRT(PART(i))),
        )
        conclude(decide(row.proposition, some, sign, *units), row)
    return "for any queries but 0, in the plane and beyond; inputs of lambda_i = 0 have one token"
