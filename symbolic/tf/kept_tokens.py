"""The two parts of the generalised SVM, W_fin and W_svm, and how W relates to them: linked facts.

On `tf/generalised-svm`; letters are those of `properties.tf.generalised_svm.parts_letters`. A token
is kept if it has attention in the limit.

Let V = W - W_fin, and mu the least margin of a kept token over one that is not, under V. Then
<V, W_svm> >= mu ||W_svm||^2, with equality if V is a multiple of W_svm (`sharp`). So the
correlation of V with W_svm tends to 1 if mu ||W_svm||/||V|| does. In a run of finite length, tokens
that are not kept still have some attention, and mu is small or negative. `attsvm reproduce
tf/generalised-svm` measures this for several d, steps and thresholds of attention.
"""

from attsvm.primitives.descent_letters import A, X, j, margin
from attsvm.primitives.programme_letters import k, short_by
from attsvm.theory.proof.facts import Fact, eq, ge, gt
from attsvm.theory.proof.lemmas import CAUCHY_SCHWARZ, DISCRIMINANT, LENGTH, RECIPROCAL
from attsvm.theory.proof.linked import linked, setting, suppose
from attsvm.theory.proof.rules import (
    add_up,
    at,
    beyond,
    bounds,
    cite,
    cut,
    decide,
    scale,
    square,
)
from attsvm.theory.proof.terms import ABS, INV, NORM, Letter, Term, as_term, total
from properties.tf.generalised_svm import kept_tokens as cases
from properties.tf.generalised_svm import parts_letters as letters
from properties.tf.generalised_svm.parts_letters import (
    BEST,
    FIN,
    LEAST,
    REST,
    SETTING,
    SVM,
    E,
    W,
    c,
    e,
)
from symbolic.attention_facts import meets
from symbolic.facts import conclude_each, count, inward, no_shorter, no_sum, product

EQUAL, SHORTEST, MET, LEVEL, NO_SHORTER = SETTING


def _sees(M: Term, level: Fact) -> Fact:
    """Return in one equation that all <E_e, M> are 0, as each is."""
    return add_up(decide(eq((E(e) @ M) ** 2, 0), level), e)


def orthogonal(M: Term, level: Fact, equal: Fact) -> Fact:
    """Return that <W_fin, M> = 0, if all <E_e, M> are 0: no W_fin + t M is shorter."""
    t = Letter("t")
    moved = FIN + t.term * M
    same = add_up(decide(eq((E(e) @ (moved - W)) ** 2, 0), equal, scale(level, t)), e)
    longer = cut(at(setting(SETTING, SHORTEST), {X: moved}), same)
    rises = decide(ge((M @ M) * t.term**2 + 2 * (FIN @ M) * t.term, 0), longer)
    (none,) = cite(DISCRIMINANT, [rises], t, M @ M, FIN @ M, FIN @ FIN * 0)
    return decide(eq(FIN @ M, 0), none)


@linked
def prove_finite() -> str:
    """Prove that W = W_fin and W_svm = 0 if all tokens are kept and W lies in the span E."""
    (none,), (spans,) = suppose(cases.ALL), suppose(cases.SEEN)
    equal = setting(SETTING, EQUAL)
    zero = 0 * SVM
    number = decide(eq(total(1, j), 0), count(j), none)
    met = scale(number, ABS(as_term(1)) + 1)
    exists = no_sum(short_by(j.term, SVM), j, number)
    lost = no_sum(letters.OF_RIVAL(j) * margin(j.term, REST), j, number)
    level = decide(letters.sees(zero, zero))
    shorter = cut(at(setting(SETTING, NO_SHORTER), {X: zero}), met, level)
    gone = decide(eq(SVM @ SVM, 0), shorter, no_shorter(SVM))
    along = add_up(scale(equal, letters.OF_KEPT(e)), e)
    same = decide(
        eq(REST @ REST, 0), at(spans, {X: REST}), along, lost, orthogonal(REST, equal, equal)
    )
    conclude_each(letters.finite(), exists, gone, same)
    return "for any n, T and d"


class _Scaled:
    """Facts on V/mu, which meets the constraints of Gen-SVM, and on W_svm.

    Attributes:
        equal, some: E_e is orthogonal to V, and there is a rival.
        positive: all margins of V are positive.
        mu, unit, inverse: mu > 0, mu/mu = 1 and 1/mu > 0.
        point, met: V/mu, and its margins of at least 1.
        exists: W_svm has margins of at least 1.
        longer: W_svm is no longer than V/mu.
    """

    def __init__(self) -> None:
        self.some, self.positive = suppose(cases.POSITIVE)
        self.equal = setting(SETTING, EQUAL)
        body = margin(k.term, REST)
        self.mu = bounds(at(self.positive, {j: k}), "least", body, k, self.some)
        self.unit, self.inverse = cite(RECIPROCAL, [self.mu], LEAST)
        self.point = REST * INV(LEAST)
        self.met = decide(
            ge(margin(j.term, self.point), 1),
            *(self.inverse, beyond("least", margin(j.term, REST), j), self.unit),
        )
        self.exists = self.admitted(MET, self.point, self.met, scale(self.equal, INV(LEAST)))
        self.longer = self.admitted(NO_SHORTER, self.point, self.met, scale(self.equal, INV(LEAST)))

    def admitted(self, words: str, M: Term, met: Fact, level: Fact) -> Fact:
        """Return a fact of the setting for a matrix that meets the constraints of Gen-SVM."""
        return cut(at(setting(SETTING, words), {X: M}), meets(met, M), _sees(M, level))


@linked
def prove_solvable() -> str:
    """Prove that W_svm exists and mu ||W_svm|| <= ||V|| if mu > 0: V/mu meets the constraints."""
    v = _Scaled()
    (_, svm_square), (length, length_square) = cite(LENGTH, (), SVM), cite(LENGTH, (), REST)
    short = decide(
        ge(NORM(REST) * INV(LEAST), NORM(SVM)),
        *(v.longer, svm_square, scale(length_square, INV(LEAST) ** 2), product(length, v.inverse)),
    )
    scaled = product(v.mu, short), scale(v.unit, NORM(REST))
    conclude_each(
        letters.at_least(), v.exists, decide(ge(NORM(REST), LEAST * NORM(SVM)), *scaled, degree=1)
    )
    return "for any n, T, d and kept tokens"


@linked
def prove_correlation() -> str:
    """Prove that <V, W_svm> >= mu ||W_svm||^2 > 0, and bounds of the correlation that follow."""
    v = _Scaled()
    along, size = REST @ SVM, SVM @ SVM
    level = setting(SETTING, LEVEL)

    def stays(toward: Term, part: Fact, rest: Fact) -> Fact:
        spare = product(rest, v.exists), product(part, v.met)
        met = decide(ge(margin(j.term, toward), 1), *spare)
        t = part.proposition.term
        both = scale(level, rest.proposition.term), scale(v.equal, t * INV(LEAST))
        kept = decide(eq(E(e) @ toward, 0), *both)
        return v.admitted(NO_SHORTER, toward, met, kept)

    # <V, W_svm> >= mu ||W_svm||^2, and ||W_svm|| > 0
    ahead = decide(
        ge(along, LEAST * size), v.mu, inward(SVM, v.point, v.longer, stays), scale(v.unit, along)
    )
    (within,), (wide,) = (cite(CAUCHY_SCHWARZ, (), *pair) for pair in ((A(j), SVM), (REST, SVM)))
    (a, _), (n, n_square), (r, r_square) = (cite(LENGTH, (), M) for M in (A(j), SVM, REST))
    some_length = decide(gt(NORM(SVM), 0), v.exists, within, a, v.some)
    positive = decide(gt(size, 0), some_length, n_square)
    unit, inverse = cite(RECIPROCAL, [positive], size)
    fin, apart = orthogonal(REST, v.equal, v.equal), orthogonal(SVM, level, v.equal)
    # the projection on W_svm is between mu ||W_svm|| and ||V||
    some = decide(gt(LEAST * size, 0), v.mu, positive)
    high = decide(ge(along, 0), ahead, some)
    forward = decide(ge(along + LEAST * size, 0), high, some)
    low = decide(ge(along**2, LEAST**2 * size**2), forward, ahead)
    low = product(inverse, low)
    low = decide(ge(BEST, FIN @ FIN + LEAST**2 * size), low, scale(unit, LEAST**2 * size), degree=1)
    reach = decide(ge(NORM(SVM) * NORM(REST) + along, 0), n, r, high)
    lengths = scale(n_square, NORM(REST) ** 2), scale(r_square, size)
    up = decide(ge(REST @ REST * size - along**2, 0), wide, reach, *lengths)
    up = decide(ge(W @ W, BEST), inverse, up, scale(unit, REST @ REST), fin)
    some_W = decide(gt(W @ W, 0), up, low, v.mu, some, no_shorter(FIN))
    # the correlation at c
    U, fins, gap = FIN + c.term * SVM, FIN @ FIN, along - c.term * size
    of_U = decide(eq(U @ U, fins + c.term**2 * size), scale(apart, 2 * c.term))
    with_U = decide(eq(W @ U, fins + c.term * along), fin, scale(apart, c))
    parts = scale(of_U, BEST), scale(with_U, W @ U + fins + c.term * along)
    turned = [
        scale(unit, x) for x in (c.term**2 * along**2, fins * c.term * gap, fins * c.term * along)
    ]
    lost = fins * INV(size) * gap**2
    apart_ = decide(eq(letters.correlated(c.term), lost), *parts, *turned, degree=1)
    room = product(no_shorter(FIN), inverse, square(gap))
    most = decide(ge(letters.correlated(c.term), 0), apart_, room)
    toward = along * INV(size)
    none = scale(unit, unit.proposition.term * fins * along * toward)
    best = decide(eq(letters.correlated(toward), 0), at(apart_, {c: toward}), none)
    conclude_each(letters.splits(), some_W, low, up, most, best)
    return "for any n, T, d and kept tokens"
