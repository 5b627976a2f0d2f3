"""Hypotheses on the scores, the Att-SVM, the loss and the start of a case, decided on exact values.

A case is a data set, or a record that has one as its field `data`. Where optimal tokens are tied,
the first one counts, as definition 1 of tf allows.
"""

from typing import Any

from flint import fmpq_mat

from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import threshold
from attsvm.primitives.att_svm import exact_att_svm, exact_constraints
from attsvm.primitives.losses import LOSSES, SLOPED


def unique_optimum(case: Any) -> bool:
    """Optimal tokens are unique."""
    return _exact(case).unique


def several_tokens(case: Any) -> bool:
    """Some input has two tokens."""
    return any(len(row) > 1 for row in _exact(case).gamma)


def two_scores(case: Any) -> bool:
    """Some input has two tokens of different scores."""
    return any(len(set(row)) > 1 for row in _exact(case).gamma)


def rivals_equal(case: Any) -> bool:
    """All tokens of an input but its first optimal one share a score, be it the optimal one."""
    rivals = ([*row[:best], *row[best + 1 :]] for row, (best, *_) in _scores(case))
    return all(len(set(scores)) <= 1 for scores in rivals)


def lower_scores_equal(case: Any) -> bool:
    """Each input has one optimal token, and its other tokens share one score below it."""
    return all(len(tied) == 1 and len(set(row)) <= 2 for row, tied in _scores(case))


def feasible(case: Any) -> bool:
    """The Att-SVM of the optimal tokens has a solution, be it 0 where nothing is constrained."""
    return exact_att_svm(_data(case)) is not None


def exists(case: Any) -> bool:
    """X^mm exists and is not 0, so that it has a direction."""
    return several_tokens(case) and feasible(case)


def all_independent(case: Any) -> bool:
    """The (x_t - x_s) z^T are linearly independent, of all inputs and all t, for one s of each.

    Of which s does not matter; so are none at all, where no input has two tokens.
    """
    A = exact_constraints(_exact(case))
    return not A or int(fmpq_mat([*A.values()]).rank()) == len(A)


def all_tight(case: Any) -> bool:
    """Every non-optimal token has margin exactly 1 under X^mm."""
    found = exact_att_svm(_data(case))
    return found is not None and found.all_tight


def second_best_supports(case: Any) -> bool:
    """In every input some token of the second-best score has margin exactly 1 under X^mm."""
    found = exact_att_svm(_data(case))
    if found is None:
        return False
    for i, (row, (best, *_)) in enumerate(_scores(case)):
        rivals = [t for t in range(len(row)) if t != best]
        second = max((row[t] for t in rivals), default=None)
        if rivals and all(found.margins[i, t] != 1 for t in rivals if row[t] == second):
            return False
    return True


def sloped(case: Any) -> bool:
    """The slope of the loss is negative and continuous everywhere."""
    return case.loss in SLOPED


def falling(case: Any) -> bool:
    """The loss is differentiable, with a negative slope everywhere, be it continuous or not.

    All such losses here have a continuous one.
    """
    return sloped(case)


def strictly_decreasing(case: Any) -> bool:
    """The loss is strictly decreasing and smooth; its slope may be 0 somewhere, as that of -u^3.

    Derivatives of the smooth ones here are Lipschitz on bounded intervals, as Assumption A asks.
    """
    loss = LOSSES[case.loss]
    return loss.strictly_decreasing and loss.smooth


def in_basin(case: Any, loss: str) -> bool:
    """The start's risk gap lies below the threshold under which no optimal token is lost."""
    exact = _exact(case)
    bound = threshold(exact, loss)
    return bound is not None and bool(risk_gap(exact, rationals(case.start), loss) < bound)


def _data(case: Any) -> Any:
    return getattr(case, "data", case)


def _exact(case: Any) -> ExactData:
    return ExactData.of(_data(case))


def _scores(case: Any) -> Any:
    """The scores of each input and the rows of its optimal tokens."""
    exact = _exact(case)
    return zip(exact.gamma, exact.optimal, strict=True)
