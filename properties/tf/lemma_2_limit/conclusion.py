"""Formulas on the distance of the risk from its infimum at a given norm."""

from attsvm.errors import NotExpressible
from attsvm.exact import ExactData
from attsvm.exact.svm import ExactAnswer
from attsvm.primitives import run_programs
from attsvm.primitives.hypotheses import two_scores
from attsvm.primitives.losses import LOSSES
from attsvm.theory import concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.tf.lemma_2_limit import letters
from properties.tf.lemma_2_limit.points import Point, separation, separations


def separable(case: Point) -> bool:
    """Return whether some W separates, and some scores differ."""
    return separation(case.data) is not None


def risk_gap(m: Namespace, case: Point, W: Numbers) -> Numbers:
    """Return L(W) - L_*, without cancellation."""
    exact, total = ExactData.of(case.data), m.exact(0)
    for tokens, z, scores in zip(exact.X, exact.Z, exact.gamma, strict=True):
        if len(set(scores)) == 1:
            continue  # it adds exactly 0
        gamma = m.values(scores)
        best = m.max(gamma)
        deficit = m.dot(m.softmax(m.values(tokens) @ (W @ m.values(z))), best - gamma)
        total = total + LOSSES[case.loss].drop(m, best, deficit)
    return total / len(exact.gamma)


def drops(m: Namespace, case: Point, least: bool, x: Number) -> list[Number]:
    """Return lower (`least`) or upper bounds of the excess loss of each input of several scores."""
    growths = []
    for scores in ExactData.of(case.data).gamma:
        best, lower = max(scores), [g for g in scores if g < max(scores)]
        if lower:
            k, r = len(scores) - len(lower), len(lower)
            gap = best - (max(lower) if least else min(lower))
            deficit = m.values(gap) * (1 / (1 + k * m.exp(x)) if least else r / (r + m.exp(x)))
            growths.append(LOSSES[case.loss].drop(m, m.values(best), deficit))
    return growths


def exponent(m: Namespace, case: Point, answer: ExactAnswer | None) -> Number:
    """Return x = ||W|| / ||M||, 0 if nothing separates."""
    square = m.sum(m.square(m.values(case.W)))
    return m.exact(0) if answer is None else m.sqrt(square / m.values(answer.square))


SEPARATOR = (
    "M is the least matrix that separates an optimal token of each input from those of lower score "
    "by margins of at least 1"
)
LEAST = (
    "i runs over the inputs of different scores, k_i and r_i are the numbers of tokens of best and "
    "of lower score, best_i, next_i, and least_i are the highest, the next lower and the lowest "
    "score, L is the mean over inputs of the loss l at the attended score, L_* that of l(best_i), "
    "and "
    f"{SEPARATOR}"
)


def _separable(m: Programs, case: Point, share: Number = 0) -> Proposition:
    """Return that some W separates or no two scores differ, for the checker.

    Raises:
        NotExpressible: the margin has to be above something else than 0.
    """
    if share != 0:
        raise NotExpressible("a margin above a share of a token")
    run_programs.write(m, case)
    weights = nested([answer.duals if answer else [] for answer in separations(case.data)])
    text = f"any(w is not None for w in separates(data, {weights}))"
    return Proposition(f"fact({text} or not data.moving.X)", run_programs.CHECKER)


def _above(m: Programs, case: Point, share: Number = 0) -> Proposition:
    """Return that the risk at W is above its infimum, for the checker.

    Raises:
        NotExpressible: it has to be above a share of the risk of the worst tokens.
    """
    if share != 0:
        raise NotExpressible("a risk above a share of that of the worst tokens")
    run_programs.write(m, case)
    m.lines["W"] = nested(case.W.tolist())
    return Proposition("below(0, risk_gap(data, W, loss))", run_programs.CHECKER)


@concludes(letters.from_below)
@stated(
    "",
    r"\frac{1}{n} \min_i \left[l\left(best_i - \frac{best_i - next_i}{1 + k_i "
    r"\exp($faster)}\right) - l(best_i)\right] \le L(W) - L_*",
    {"faster": {1: "x", 2: "x/2"}},
    where=f"{LEAST}, and x = ||W||/||M||, or x = 0 if there is none",
)
def from_below(m: Namespace, case: Point, faster: Number = 1) -> Comparison:
    x = exponent(m, case, separation(case.data)) / faster
    parts = drops(m, case, True, x)
    if not parts:
        return m.below(m.exact(0), m.exact(0))  # no two scores differ: L(W) = L_*
    return m.at_most(m.min(m.array(parts)) / case.data.n, risk_gap(m, case, m.values(case.W)))


@concludes(letters.from_above)
@stated(
    "$formula for every x >= 0",
    r"L(x M) - L_* \le \frac{1}{n} \sum_i \left[l\left(best_i - \frac{r_i (best_i - "
    r"least_i)}{r_i + \exp($faster x)}\right) - l(best_i)\right]",
    where=LEAST,
)
def from_above(m: Namespace, case: Point, faster: Number = 1) -> Comparison:
    answer = separation(case.data)
    if answer is None:
        return m.below(m.exact(0), m.exact(0))  # nothing separates, or no two scores differ
    x = m.largest(m.values(case.W))
    parts = m.array(drops(m, case, False, faster * x))
    return m.at_most(risk_gap(m, case, x * m.values(answer.W)), m.sum(parts) / case.data.n)


@concludes(letters.approached)
@stated(
    "$formula; and if some W separates, then for every y >= 0 L(y M) - L_* <= 1/n sum_i [l(best_i "
    "- r_i (best_i - least_i)/(r_i + exp(${faster}y))) - l(best_i)]",
    r"\frac{1}{n} \min_i \left[l\left(best_i - \frac{best_i - next_i}{1 + k_i "
    r"\exp(x)}\right) - l(best_i)\right] \le L(W) - L_*",
    {"faster": {1: "", 2: "2 "}},
    where=f"{LEAST}, and ${{faster}}x = ||W||/||M||, or x = 0 if there is none",
)
def approached(m: Namespace, case: Point, faster: Number = 1) -> Relation:
    below = from_below(m, case, faster)
    return m.all_of(below, from_above(m, case, faster)) if separable(case) else below


@stated(
    "some W separates or no two scores differ, that is $formula",
    r"\frac{1}{\|M\|} > $share \max_{i,t,j} |x_{itj}|",
    where=SEPARATOR,
    checked=_separable,
)
def reached(m: Namespace, case: Point, share: Number = 0) -> Comparison:
    answer = separation(case.data)
    if answer is None and two_scores(case):
        return m.below(m.exact(0), m.exact(0))  # L - L_* is above a constant at every W
    margin = m.exact(1) if answer is None else 1 / m.sqrt(m.values(answer.square))
    return m.below(share * m.largest(m.values(case.data.X)), margin)


@stated("$formula for every W", "L(W) - L_* > $share (L_{worst} - L_*)", checked=_above)
def above(m: Namespace, case: Point, share: Number = 0) -> Comparison:
    worst = m.exact(0)
    for scores in ExactData.of(case.data).gamma:
        best = m.values(max(scores))
        worst = worst + LOSSES[case.loss].drop(m, best, best - m.values(min(scores)))
    return m.below(share * worst / case.data.n, risk_gap(m, case, m.values(case.W)))
