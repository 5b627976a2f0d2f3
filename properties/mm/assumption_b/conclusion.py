"""Label margins and the nu of Assumption B as formulas, with hypotheses."""

from flint import fmpq

from attsvm.errors import SolverError
from attsvm.exact import dot, rational
from attsvm.theory import Hypothesis, concludes, stated
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.types import Comparison, Namespace, Number, Relation
from properties.mm._support import best_nu, choice_letters, programme_letters, selection_programs
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.attended import Attended, Doubted, mean_margin
from properties.mm._support.label_margins import label_margin, others, slowest
from properties.mm._support.max_margin import relaxed
from properties.mm._support.token_selections import Selection, chosen


@stated(
    "some nu > 0 makes Assumption B hold, for which it is necessary that $formula for every other "
    "choice beta for which p(beta) exists$idlers",
    r"0 < \Gamma \text{ and } m(\beta) < $share \Gamma",
    {
        "idlers": {
            "none": ", and that, if p(alpha) exists, every prompt of logit margins of at least 1 "
            "outside of the set I of inputs and at least 0 in I has at least 1 in I, too",
            "any": "",
        }
    },
    where="m(beta) is the largest min_i Y_i <v, x_i,beta_i> over ||v|| <= 1, Gamma = m(alpha), "
    "p(beta) is the shortest prompt of logit margins of at least 1, that is <p, k_i,beta_i - k_it> "
    ">= 1 for t != beta_i, and I are the inputs whose multiplier is 0 in all multipliers of "
    "v(alpha)",
    checked=selection_programs.label_margins_shrink,
)
def shrinks(m: Namespace, case: Selection, share: Number = 1, idlers: str = "none") -> Relation:
    gamma = svm.solved(m, svm.v_programme(case)).margin
    zero = m.exact(0)
    parts = [m.below(zero, gamma)]
    for other in others(case):
        if svm.p_programme(other).exists:
            parts.append(m.above(share * gamma, svm.solved(m, svm.v_programme(other)).margin))
    if idlers == "none" and svm.p_programme(case).exists:
        parts += [m.at_most(svm.solved(m, prompt).margin, zero) for prompt in slowest(case)]
    return m.all_of(*parts)


@concludes(choice_letters.bounded)
@stated(
    "",
    r"\min_i Y_i \langle h, x_i^p\rangle \le \|h\| (\Gamma - $share \nu $over (1 - "
    r"s_{i,\alpha_i}))",
    {"over": {"largest": r"\max_i", "sum": r"\sum_i"}},
    where="h is any head and x_i^p the mean of tokens at any prompt p by their attention s_i, "
    "Gamma = 1/||v(alpha)||, nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| over all choices beta "
    "but alpha, or Gamma if T = 1, and w are multipliers of v(alpha) of sum 1 or, if there is "
    "none and Gamma = 0, weights of sum 1 with sum_i w_i Y_i x_i,alpha_i = 0",
)
def bounded(m: Namespace, case: Attended, share: Number = 1, over: str = "largest") -> Comparison:
    h = m.values(case.h)
    # one root of each product, so that a head along v(alpha) attains the bound exactly
    gamma, most = (m.sqrt(m.values(square) * (h @ h)) for square in mean_margin(case.chosen))
    margin, left = label_margin(m, case)
    off = m.max(m.array(left)) if over == "largest" else sum(left, m.exact(0))
    return m.at_most(margin, gamma - share * (gamma - most) * off)


@stated(
    "if nu > 0 every head h and prompt p have $formula; if not, no positive number will do in "
    "place of nu; and if T > 1 none above ${best}nu will do if differences of keys are "
    "independent, and none above Gamma - gamma in any case",
    r"\min_i Y_i \langle h, x_i^p\rangle \le \|h\| (\Gamma - $share \nu \max_i (1 - "
    r"s_{i,\alpha_i}))",
    {
        "over": {"all": "all i", "counted": "i that are not idle"},
        "weights": {True: "largest", False: "given"},
        "best": {1: "", "0.5": "0.5 "},
    },
    where="nu = min(Gamma - gamma, Gamma min W_i (1 - Y_i <v(alpha), x_it>)) over $over and t != "
    "alpha_i, or Gamma if T = 1, gamma is the largest label margin of another choice, and W_i is "
    "the $weights multiplier of input i in multipliers of sum 1",
)
def decided(
    m: Namespace,
    case: Doubted,
    share: Number = 1,
    best: Number = 1,
    over: str = "all",
    weights: bool = True,
) -> Relation:
    """The bound holds with the best nu, and the nu of the instance is certified or exceeded.

    For T = 1 the bound is Gamma.
    """
    one, nu = case.chosen, rational(case.nu)
    square, several = svm.v_programme(one).margin_square, one.X.shape[1] > 1
    largest = best_nu.best_nu(one, weights, over == "counted") if several else None
    parts = []
    if largest is not None or not several:
        h = m.values(case.h)
        margin, left = label_margin(m, case)
        gamma = m.sqrt(m.values(square) * (h @ h))
        if largest is None:
            return m.at_most(margin, gamma)
        most = m.values(largest.steep) * gamma
        if largest.at_end:
            most = gamma - m.sqrt(m.values(largest.rival) * (h @ h))
        parts.append(m.at_most(margin, gamma - share * most * m.max(m.array(left))))
        within = nu / BALLS.exact(best)
        if largest.allows(within):
            return m.all_of(*parts, m.equal(m.exact(int(certified(one, nu))), m.exact(1)))
        if best_nu.leaves(largest.rival, within, square) and not margins.independent(one):
            return parts[0]  # attention may not reach it
    far = best_nu.too_much(case)
    if far is None:
        return m.below(m.exact(0), m.exact(0))  # no prompt and head are found
    return m.all_of(*parts, best_nu.beyond(m, far))


def certified(one: Selection, nu: fmpq) -> bool:
    """Return whether nothing shows that nu is too large; a proof of nu is verified.

    Raises:
        SolverError: the proposed proof is wrong.
    """
    proposal = best_nu.proposed(one, nu)
    if isinstance(proposal, best_nu.Certificate) and not best_nu.certifies(one, nu, proposal):
        raise SolverError("a certificate does not show that Assumption B holds with this nu")
    return not isinstance(proposal, best_nu.Excess)


@concludes(programme_letters.void)
@stated(
    "",
    r"p'(\alpha) = $share p(\alpha)",
    where="p(alpha) is the shortest prompt of logit margins <p, k_i,alpha_i - k_it> of at least 1, "
    "p'(alpha) the shortest one with at least 1 in the inputs of label margin 1 under v(alpha) and "
    "at least 0 in the others; the equality also holds if neither exists",
)
def void(m: Namespace, case: Selection, share: Number = 1) -> Comparison:
    p, free = svm.solved(m, relaxed(case)), svm.solved(m, svm.p_programme(case))
    return m.equal(p.vector, share * free.vector)


def optimal(case: Selection) -> bool:
    """Return whether no other token of an input scores higher under v(alpha) than alpha_i."""
    v = svm.v_programme(case).vector
    changed_tokens = (other for other in others(case) if (other.alpha != case.alpha).sum() == 1)
    return v is not None and all(
        dot(v, row) <= dot(v, best)
        for other in changed_tokens
        for row, best, moved in zip(
            svm.v_rows(other), svm.v_rows(case), other.alpha != case.alpha, strict=True
        )
        if moved
    )


OPTIMAL = Hypothesis(
    "alpha_i scores highest under v(alpha), ties allowed, in every input",
    optimal,
    checked="fact(v is not None and all(b * inner(v, minus(tokens[a], x)) >= 0"
    " for tokens, b, a in zip(X, y, alpha) for x in tokens))",
)
SATURATED = Hypothesis(
    "no idle input can be the slowest to saturate",
    lambda case: not any(prompt.exists for prompt in slowest(case)),
    proposition=programme_letters.saturated,
    says="no prompt has logit margins of at least 1 outside of I, at least 0 in I and somewhere in "
    "I below 1, with I the inputs whose multiplier is 0 in all multipliers of v(alpha)",
)
REACHED = Hypothesis(
    "attention can reach every choice of one token an input",
    lambda case: margins.reaches_all(chosen(case)),
    says="for every choice of one token an input some prompt p gives each chosen token a larger "
    "logit <p, k> than the other tokens of its input",
)
