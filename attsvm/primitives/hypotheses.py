"""Hypotheses on the scores, the Att-SVM and the start of a case, decided on exact values.

A case is a data set, or a record that has one as its field `data`. If optimal tokens are tied, the
first one counts, as definition 1 of tf allows. Hypotheses on the loss are in
`attsvm.primitives.loss_hypotheses`, hypotheses on queries in `attsvm.primitives.query_hypotheses`,
and hypotheses on the step in `attsvm.primitives.steps`.
"""

from collections.abc import Iterator

import numpy as np
from flint import fmpq_mat

from attsvm.data import AttentionData
from attsvm.errors import DataError
from attsvm.exact import ExactData, rationals
from attsvm.exact.attention import risk_gap
from attsvm.exact.descent import threshold
from attsvm.exact.numbers import Vector
from attsvm.primitives import descent_letters as letters
from attsvm.primitives.att_svm import exact_att_svm, exact_constraints
from attsvm.theory import Hypothesis
from attsvm.theory.types import Values


def unique_optimum(case: Values) -> bool:
    """Return whether optimal tokens are unique."""
    return _exact(case).unique


def several_tokens(case: Values) -> bool:
    """Return whether some input has two tokens."""
    return any(len(row) > 1 for row in _exact(case).gamma)


def two_scores(case: Values) -> bool:
    """Return whether some input has two tokens of different scores."""
    return any(len(set(row)) > 1 for row in _exact(case).gamma)


def rivals_equal(case: Values) -> bool:
    """Return whether all tokens of an input except its first optimal one share a score.

    That score may be the optimal one.
    """
    rivals = ([*row[:best], *row[best + 1 :]] for row, (best, *_) in _scores(case))
    return all(len(set(scores)) <= 1 for scores in rivals)


def lower_scores_equal(case: Values) -> bool:
    """Return whether each input has one optimal token, and all others share one lower score."""
    return all(len(tied) == 1 and len(set(row)) <= 2 for row, tied in _scores(case))


def feasible(case: Values) -> bool:
    """Return whether the Att-SVM of the optimal tokens has a solution.

    Without constraints the solution is 0.
    """
    return exact_att_svm(_data(case)) is not None


def exists(case: Values) -> bool:
    """Return whether X^mm exists and is not 0, so that it has a direction."""
    return several_tokens(case) and feasible(case)


def all_independent(case: Values) -> bool:
    """Return whether the (x_t - x_s) z^T of all inputs and tokens t != s are independent.

    The token s of each input is fixed; its choice does not matter. The condition holds if no input
    has two tokens.
    """
    A = exact_constraints(_exact(case))
    return not A or int(fmpq_mat([*A.values()]).rank()) == len(A)


def all_tight(case: Values) -> bool:
    """Return whether every non-optimal token has margin exactly 1 under X^mm."""
    result = exact_att_svm(_data(case))
    return result is not None and result.all_tight


def second_best_supports(case: Values) -> bool:
    """Return whether in every input a second-best token has margin exactly 1 under X^mm."""
    result = exact_att_svm(_data(case))
    if result is None:
        return False
    for i, (row, (best, *_)) in enumerate(_scores(case)):
        rivals = [t for t in range(len(row)) if t != best]
        second = max((row[t] for t in rivals), default=None)
        if rivals and all(result.margins[i, t] != 1 for t in rivals if row[t] == second):
            return False
    return True


def single(case: Values) -> bool:
    """Return whether there is a single input."""
    return bool(_data(case).n == 1)


def one_pair(case: Values) -> bool:
    """Return whether there is one input, of two tokens."""
    return single(case) and int(_data(case).present.sum()) == 2


def labellings(data: AttentionData) -> Iterator[list[int]]:
    """Yield labels of 1 and -1 for which some v has Y_i <v, x_it> = gamma_it for all tokens.

    Data with labels yield their own. Otherwise the first label is 1, as (-Y, -v) does the same. An
    input without a score other than 0 has the label 1 as well.
    """
    if data.y is not None:
        yield [int(y) for y in data.y]
        return
    exact = ExactData.of(data)
    open_: list[list[int]] = [[]]
    for i, gamma in enumerate(exact.gamma):
        signs = (1, -1) if i and any(gamma) else (1,)
        open_ = [[*known, y] for known in open_ for y in signs if has_head(exact, [*known, y])]
    yield from open_


def has_head(exact: ExactData, labels: list[int]) -> bool:
    """Return whether some v has Y_i <v, x_it> = gamma_it for the inputs that have labels."""
    whole = [
        [*x, y * g]
        for tokens, gamma, y in zip(exact.X, exact.gamma, labels, strict=False)
        for x, g in zip(tokens, gamma, strict=True)
    ]
    tokens = fmpq_mat([row[:-1] for row in whole])
    return int(fmpq_mat(whole).rank()) == int(tokens.rank())


def linear_scores(case: Values) -> bool:
    """Return whether the scores are those of labels and a linear head."""
    return any(True for _ in labellings(_data(case)))


def from_zero(case: Values) -> bool:
    """Return whether the start is zero."""
    return not np.any(case.start)


def in_basin(case: Values, loss: str) -> bool:
    """Return whether the start's risk gap is below the threshold.

    Then no optimal token is ever lost.
    """
    exact = _exact(case)
    bound = threshold(exact, loss)
    return bound is not None and bool(risk_gap(exact, rationals(case.W), loss) < bound)


def starts_in_basin(case: Values) -> bool:
    """Return whether the start is in the basin for its loss, by default `logistic-loss`."""
    return in_basin(case, getattr(case, "loss", "logistic-loss"))


def margins_add(case: Values) -> bool:
    """Return whether one of three conditions holds under which margins add up.

    All tokens are support vectors, the rivals of each input have the same score, or the constraints
    are independent.
    """
    return all_tight(case) or rivals_equal(case) or all_independent(case)


def either_part(case: Values) -> bool:
    """Return whether all tokens are support vectors, or all rivals share one lower score."""
    return all_tight(case) or lower_scores_equal(case)


def _data(case: Values) -> AttentionData:
    data: AttentionData | Values = getattr(case, "data", case)
    if not isinstance(data, AttentionData):
        raise DataError("a case has no data set", value=type(data).__name__)
    return data


def _exact(case: Values) -> ExactData:
    return ExactData.of(_data(case))


def _scores(case: Values) -> Iterator[tuple[Vector, list[int]]]:
    """Return the scores of each input, with the rows of its optimal tokens."""
    exact = _exact(case)
    return zip(exact.gamma, exact.optimal, strict=True)


UNIQUE = Hypothesis(
    "optimal tokens are unique",
    unique_optimum,
    proposition=letters.unique,
    checked="fact(unique(data))",
)
SEVERAL_TOKENS = Hypothesis(
    "some input has two tokens",
    several_tokens,
    proposition=letters.several,
    checked="fact(any(len(row) > 1 for row in data.scores))",
)
TWO_SCORES = Hypothesis(
    "some input has two different scores",
    two_scores,
    proposition=letters.two_scores,
    checked="fact(any(len(set(row)) > 1 for row in data.scores))",
)
ONE_INPUT = Hypothesis(
    "there is a single input",
    single,
    proposition=letters.one_input,
    checked="fact(len(data.X) == 1)",
)
ONE_PAIR = Hypothesis(
    "one input of two tokens",
    one_pair,
    proposition=letters.one_pair,
    says="there is one input, of two tokens",
    checked="fact([len(row) for row in data.scores] == [2])",
)
MARGINS_ADD = Hypothesis(
    "all tokens are support vectors, the constraints are independent, or all rivals of an optimal "
    "token score the same",
    margins_add,
)
EQUAL_RIVALS = Hypothesis(
    "all rivals of an optimal token score the same",
    rivals_equal,
    implies=(MARGINS_ADD,),
    proposition=letters.level,
    checked="fact(rivals_equal(data))",
)
LOWER_RIVALS = Hypothesis(
    "all rivals of the optimal token score the same, below it",
    lower_scores_equal,
    implies=(UNIQUE, EQUAL_RIVALS),
)

FEASIBLE = Hypothesis(
    "Att-SVM is feasible",
    feasible,
    says="the Att-SVM is feasible",
    proposition=letters.feasible,
    checked="fact(target is not None)",
)
EXISTS = Hypothesis(
    "the solution exists and is not 0",
    exists,
    says="the max-margin solution of the optimal tokens exists and is not 0",
    implies=(FEASIBLE, SEVERAL_TOKENS),
    checked="fact(target is not None and any(len(row) > 1 for row in data.scores))",
)
INDEPENDENT = Hypothesis(
    "the constraints are independent",
    all_independent,
    says="the (x_t - x_s) z^T of all inputs are independent, for one token s of each",
    implies=(FEASIBLE, MARGINS_ADD),
)
ALL_TIGHT = Hypothesis(
    "all tokens are support vectors",
    all_tight,
    implies=(FEASIBLE, MARGINS_ADD),
    proposition=letters.tight,
    checked="fact(all_tight(data, target))",
)
EITHER_PART = Hypothesis(
    "all tokens are support vectors, or rivals have the same score below the best",
    either_part,
    says="all tokens are support vectors, or all rivals of an input have equal scores, below its "
    "best",
    implies=(MARGINS_ADD,),
    proposition=letters.tight_or_level,
    checked="fact(all_tight(data, target) or (rivals_equal(data) and unique(data)))",
)
SECOND_SUPPORTS = Hypothesis(
    "a second-best token is a support vector",
    second_best_supports,
    proposition=letters.second_supports,
)

LINEAR_HEAD = Hypothesis(
    "scores are those of labels and a linear head",
    linear_scores,
    says="the score of each token is Y_i <v, x_it> for labels Y_i of 1 or -1 and one head v",
    proposition=letters.linear_head,
    checked="fact(linear_scores(data))",
)
ZERO_START = Hypothesis(
    "the start is zero",
    from_zero,
    proposition=letters.zero_start,
    checked="fact(not any(flat(start)))",
)
BASIN = Hypothesis(
    "risk gap of the start below the threshold",
    starts_in_basin,
    says="some input has two different scores, and the risk of the start, the mean of the loss l "
    "over attended scores, is above the mean of l(b_i) by less than min_i [l(c_i) - l(b_i)]/n over "
    "such inputs, with b_i the highest and c_i the next lower score of input i",
    implies=(SEVERAL_TOKENS,),
    proposition=letters.basin,
    checked=lambda m, _: "fact(loss in LOSSES and starts_low(data, {}, loss))".format(
        "product(K, Q_)" if "K" in m.lines else "start"
    ),
)
