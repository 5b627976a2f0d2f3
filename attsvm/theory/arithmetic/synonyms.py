"""Formulas for functions that authors look for in the namespace `m` under other names."""

from collections.abc import Mapping, Sequence
from typing import Final

from attsvm._words import nearest

FORMULAS: Final[Mapping[str, str]] = {
    "m.sigmoid(x)": "expit sigma logistic_sigmoid",
    "m.softplus(-x)": "logistic_loss log_loss logloss",
    "-m.softplus(-x)": "log_sigmoid logsigmoid log_expit",
    "m.maximum(1 - x, 0)": "hinge hinge_loss",
    "m.minimum(m.maximum(x, 0), 1)": "clip clamp clamped",
    "(m.exp(x) + m.exp(-x)) / 2": "cosh",
    "(m.exp(x) - m.exp(-x)) / 2": "sinh",
    "x * m.logistic(x)": "silu swish",
    "m.log(x)": "ln natural_log",
    "m.log(x) / m.log(m.exact(2))": "log2",
    "m.log(x) / m.log(m.exact(10))": "log10",
    "m.exp(x * m.log(m.exact(2)))": "exp2",
    "m.log(x / (1 - x))": "logit",
    "m.power(x, 3)": "pow",
    "x * x * x": "cube",
    "1 / x": "reciprocal",
    "-x": "neg negative",
    "x - y": "subtract minus",
    "x + y": "add",
    "x * y": "multiply times",
    "x / y": "divide true_divide",
    "m.abs(x)": "absolute fabs absolute_value modulus",
    "m.sqrt(x)": "root square_root",
    "m.dot(u, u) / m.size(u) - m.square(m.sum(u) / m.size(u))": "var variance",
    "m.sqrt(m.dot(u, u) / m.size(u) - m.square(m.sum(u) / m.size(u)))": "std",
    "m.norm_1(u)": "norm1 l1 l1_norm one_norm norm_l1",
    "m.norm(u)": "norm2 l2 l2_norm norm_2 two_norm fro frobenius frobenius_norm vector_norm",
    "m.largest(u)": "inf_norm norminf linf linf_norm max_norm sup_norm norm_infty supnorm",
    "m.spectral(A)": "operator_norm op_norm spectral_norm matrix_norm opnorm",
    "m.max(u)": "amax maximum_of largest_entry",
    "m.min(u)": "amin smallest smallest_entry",
    "m.max(u) - m.min(u)": "ptp",
    "u - m.logsumexp(u)": "log_softmax logsoftmax",
    "m.cross_entropy(p, q)": "crossentropy nll",
    "m.kl(p, q)": "kl_div kl_divergence relative_entropy",
    "u / m.norm(u)": "normalize normalise unit normalized",
    "m.dot(u, w) / (m.norm(u) * m.norm(w))": "cos_sim cosine cosine_similarity",
    "m.dot(u, w)": "inner inner_product vdot tensordot",
    "A @ B": "matmul mm",
    "A.T": "transpose",
    "m.trace(A)": "tr",
    "m.diagonal(u)": "diag",
    "m.identity(3)": "eye",
    "0 * u": "zeros zeros_like",
    "0 * u + 1": "ones ones_like",
    "m.vec(A)": "flatten ravel vectorize",
    "m.mat(u, 1)": "reshape",
    "m.sum(u * u)": "sumsq sum_of_squares norm_squared squared_norm sqnorm",
    "m.array([u[0], u[1]])": "concatenate stack hstack vstack append asarray vector matrix",
    "m.relu(x)": "positive positive_part pos plus",
    "m.sign(x)": "sgn signum",
    "m.mean(u)": "average avg",
    "m.logsumexp(u)": "lse log_sum_exp",
    "m.det(A)": "determinant",
    "m.inverse(A)": "inv",
    "m.matrix_power(A, 2)": "mpow matpow",
    "m.solve(A, u)": "linsolve",
    "m.eigenvalues(A)": "eigvals eigvalsh eig eigh spectrum",
    "m.eigenvalues(A)[0]": "lambda_min least_eigenvalue",
    "m.singular(A)": "svd svdvals singular_values",
    "m.sum(m.singular(A))": "nuclear nuclear_norm trace_norm",
    "m.product(u)": "prod",
    "m.binomial(4, 2)": "comb choose nchoosek",
    "m.mod(x, 3)": "modulo remainder fmod",
    "-m.floor(-x)": "ceil ceiling",
    "m.sum_over(0, 1, lambda k: u[k])": "sigma_sum summation Sum",
    "m.differ(x, y)": "ne neq not_equal",
    "m.at_most(x, y)": "le leq lte",
    "m.below(x, y)": "lt",
    "m.at_least(x, y)": "ge geq gte",
    "m.above(x, y)": "gt",
    "m.equal(x, y)": "eq equals isclose allclose approx",
    "m.all_of(m.at_most(x, y), m.at_most(0, x))": "and_ land both conjunction",
    "m.any_of(m.at_most(x, y), m.at_most(0, x))": "or_ lor either disjunction",
    "m.any_of(m.above(x, 0), m.at_most(x, y))": "implies implication if_then",
}
"""Formulas, each with the names that it replaces. Letters x and y are numbers, u and w vectors, p
and q vectors of probabilities, A and B matrices."""

_ADVICE: Final[Mapping[str, str]] = {
    "No arithmetic has angles. A point of the unit circle is ((1 - t * t) / (1 + t * t), "
    "2 * t / (1 + t * t)) for a real t.": "sin cos tan arcsin arccos arctan arctan2 atan2 pi angle",
    "No formula may compare: use m.max(x), m.min(x), or state one comparison for each entry.": (
        "argmax argmin argsort sort where sorted median rank"
    ),
    "Let the solution be a variable of its own, and A @ x = b a hypothesis.": (
        "pinv lstsq matrix_rank"
    ),
    "Return the relation m.psd(A), or m.pd(A) for a positive definite matrix.": "is_psd is_pd",
    "Write m.product_over or m.sum_over for each entry.": "cumprod cumsum",
    "Numbers are exact and are not rounded: use a variable Integer(1, 4) for an integer.": (
        "float int round rint"
    ),
    "A function without a closed form is a Primitive (attsvm.theory).": "erf gelu gamma lgamma",
    "Write m.exp(m.exact(1)).": "e",
    "Write the statement without infinity: for all R, or as a hypothesis.": "inf infinity",
    "Write the opposite comparison: not x <= y is m.above(x, y).": "not_ logical_not",
}
"""Advice, with the names of functions that no formula can replace."""


_NAMES: Final = (
    "abs array det diagonal dot equal exp expm1 floor gcd identity kron log log1p "
    "matrix_power max maximum mean min minimum mod norm outer power sign size solve sqrt "
    "square sum tanh trace"
)

SAME: Final = frozenset(_NAMES.split())
"""Functions of numpy that the namespace `m` has under the same name."""


def _written(formula: str) -> str:
    """Return the advice to write a formula."""
    return f"Write {formula}."


_REMEDIES: Final[Mapping[str, str]] = {
    name: remedy
    for names, remedy in (
        *((names, _written(formula)) for formula, names in FORMULAS.items()),
        *((names, advice) for advice, names in _ADVICE.items()),
    )
    for name in names.split()
}


def synonym(name: str) -> str:
    """Return the advice for a function that the namespace `m` lacks; "" if there is none."""
    return _REMEDIES.get(name.casefold(), "")


def remedy_for(name: str, known: Sequence[str]) -> str:
    """Return the advice for an unknown function, which may be a misspelling of a `known` one."""
    near = nearest(name, known, least=_MISSPELT)
    return synonym(name) or near or f"It has {', '.join(known)}."


_MISSPELT = 0.75
"""Least similarity, from 0 to 1, of a misspelling to a known name."""
