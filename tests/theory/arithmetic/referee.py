"""The referee: every function of the namespace from its definition, in mpmath with 2,500 bits.

It shares no code with the arithmetics that it checks, and consists of plain loops.
"""

import itertools

import mpmath
from flint import arb, ctx, fmpz

from attsvm.theory.arithmetic import Arithmetic, Entries, entries

BITS = 2500
SURE = 2200
"""The referee's own rounding is below 2^-SURE times the size of the numbers that it adds."""

MP = mpmath.MPContext()
MP.prec = BITS


def each(function, x):
    if isinstance(x, Entries):
        return entries([function(value) for value in x.ravel()], x.shape)
    return function(x)


def flat(x):
    return list(x.ravel()) if isinstance(x, Entries) else [x]


def plain(x):
    """A matrix as nested lists."""
    return [list(row) for row in x]


class Referee(Arithmetic):
    name = "referee"
    numbers = ()

    def _rational(self, value):
        return MP.mpf(value.numerator) / value.denominator

    def exp(self, x):
        return each(MP.exp, x)

    def log(self, x):
        return each(MP.log, x)

    def sqrt(self, x):
        return each(lambda t: MP.sqrt(max(t, 0)), x)

    def abs(self, x):
        return each(lambda t: t if t >= 0 else -t, x)

    def maximum(self, x, y):
        return x if x >= y else y

    def minimum(self, x, y):
        return x if x <= y else y

    def is_zero(self, x):
        return each(lambda t: MP.mpf(t == 0), x)

    def spectral(self, A):
        rows = plain(A)
        if len(rows) > len(rows[0]):
            rows = [list(column) for column in zip(*rows, strict=True)]
        gram = MP.matrix([[MP.fdot(a, b) for b in rows] for a in rows])
        return MP.sqrt(max(0, *MP.eigsy(gram, eigvals_only=True)))

    def power(self, x, k):
        return each(lambda t: t**k, x)

    def square(self, x):
        return self.power(x, 2)

    def logistic(self, x):
        return each(lambda t: 1 / (1 + MP.exp(-t)), x)

    def logistic_slope(self, x):
        return each(lambda t: 1 / (4 * MP.cosh(t / 2) ** 2), x)

    def logistic_curvature(self, x):
        return each(lambda t: -MP.tanh(t / 2) / (4 * MP.cosh(t / 2) ** 2), x)

    def softplus(self, x):
        return each(lambda t: MP.log1p(MP.exp(t)), x)

    def array(self, values):
        return entries(list(values))

    def size(self, x):
        return len(flat(x))

    def sum(self, x):
        return MP.fsum(flat(x))

    def sums(self, A):
        return entries([MP.fsum(row) for row in plain(A)])

    def max(self, x):
        return max(flat(x))

    def min(self, x):
        return min(flat(x))

    def oscillation(self, x):
        return max(a - b for a in flat(x) for b in flat(x))

    def dot(self, x, y):
        return MP.fsum(a * b for a, b in zip(flat(x), flat(y), strict=True))

    def norm(self, x):
        return MP.sqrt(MP.fsum(a**2 for a in flat(x)))

    def largest(self, x):
        return max(abs(a) for a in flat(x))

    def differences(self, x):
        return entries([[a - b for b in flat(x)] for a in flat(x)])

    def mat(self, x, rows):
        values = flat(x)
        width = len(values) // rows
        return entries([values[k * width : (k + 1) * width] for k in range(rows)])

    def expm1(self, x):
        return each(MP.expm1, x)

    def log1p(self, x):
        return each(MP.log1p, x)

    def trace(self, A):
        return MP.fsum(plain(A)[k][k] for k in range(len(plain(A))))

    def outer(self, x, y):
        return entries([[a * b for b in flat(y)] for a in flat(x)])

    def diagonal(self, x):
        found = [[MP.mpf(0)] * len(x) for _ in x]
        for i, value in enumerate(flat(x)):
            found[i][i] = value
        return entries(found)

    def identity(self, n):
        return entries([[MP.mpf(int(i == j)) for j in range(n)] for i in range(n)])

    def vec(self, X):
        return entries([value for row in plain(X) for value in row])

    def kron(self, A, B):
        (n, c), (p, q) = A.shape, B.shape
        return entries(
            [[A[i // p, j // q] * B[i % p, j % q] for j in range(c * q)] for i in range(n * p)]
        )

    def diameter(self, A):
        pairs = itertools.product(plain(A), repeat=2)
        return max(
            MP.sqrt(MP.fsum((a - b) ** 2 for a, b in zip(r, s, strict=True))) for r, s in pairs
        )

    def spread(self, A):
        return self.diameter(A) / MP.sqrt(2)

    def softmax(self, s):
        return entries([1 / MP.fsum(MP.exp(other - own) for other in flat(s)) for own in flat(s)])

    def covariance(self, f, h):
        matrix = [
            [(a if i == j else 0) - a * b for j, b in enumerate(flat(f))]
            for i, a in enumerate(flat(f))
        ]
        return entries([MP.fdot(row, flat(h)) for row in matrix])

    # matrices

    def matrix_power(self, A, k):
        return self.entries_of(MP.matrix(plain(A)) ** k)

    def det(self, A):
        n = range(len(A))
        return MP.fsum(
            MP.fprod(A[i, p[i]] for i in n) * (-1) ** sum(p[i] > p[j] for j in n for i in range(j))
            for p in itertools.permutations(n)
        )

    def inverse(self, A):
        return self.entries_of(MP.inverse(MP.matrix(plain(A))))

    def solve(self, A, b):
        return entries(list(MP.lu_solve(MP.matrix(plain(A)), MP.matrix(flat(b)))))

    def entries_of(self, matrix):
        return entries([[matrix[i, j] for j in range(matrix.cols)] for i in range(matrix.rows)])

    def symmetric_functions(self, A):
        n = range(len(A))
        subsets = [itertools.combinations(n, k + 1) for k in n]
        return entries([MP.fsum(self.det(A[list(s)][:, list(s)]) for s in one) for one in subsets])

    def eigenvalues(self, A):
        return entries(sorted(MP.eigsy(MP.matrix(plain((A + A.T) / 2)), eigvals_only=True)))

    def singular(self, A):
        found = MP.svd_r(MP.matrix(plain(A)), compute_uv=False)
        return entries(sorted(found, reverse=True))

    def norm_1(self, A):
        columns = plain(A.T) if A.ndim == 2 else [flat(A)]
        return max(MP.fsum(map(abs, column)) for column in columns)

    def norm_inf(self, A):
        rows = plain(A) if A.ndim == 2 else [[a] for a in flat(A)]
        return max(MP.fsum(map(abs, row)) for row in rows)

    # other functions

    def floor(self, x):
        return each(MP.floor, x)

    def sigmoid(self, x):
        return self.logistic(x)

    def tanh(self, x):
        return each(MP.tanh, x)

    def relu(self, x):
        return each(lambda t: max(t, MP.mpf(0)), x)

    def sign(self, x):
        return each(lambda t: MP.mpf((t > 0) - (t < 0)), x)

    def indicator(self, relation):
        assert relation.kind == "at most"
        return MP.mpf(relation.left <= relation.right)

    def count(self, condition, x):
        return MP.mpf(sum(condition(t).left < condition(t).right for t in flat(x)))

    def xlogx(self, x):
        return each(lambda t: t * MP.log(t) if t else MP.mpf(0), x)

    def mean(self, x):
        return MP.fsum(flat(x)) / len(flat(x))

    def logsumexp(self, x):
        return MP.log(MP.fsum(map(MP.exp, flat(x))))

    def entropy(self, p):
        return -MP.fsum(flat(self.xlogx(p)))

    def kl(self, p, q):
        return MP.fsum(a * MP.log(a / b) for a, b in zip(flat(p), flat(q), strict=True) if a)

    def cross_entropy(self, p, q):
        return -MP.fsum(a * MP.log(b) for a, b in zip(flat(p), flat(q), strict=True) if a)

    def mod(self, a, b):
        return a - b * self.floor(a / b)

    def gcd(self, a, b):
        while b:
            a, b = b, a % b
        return MP.mpf(abs(a))

    def binomial(self, n, k):
        return MP.binomial(n, k)

    def factorial(self, n):
        return MP.factorial(n)

    def sum_over(self, first, last, term):
        return sum((term(k) for k in range(first + 1, last + 1)), term(first))

    def product_over(self, first, last, factor):
        return MP.fprod(factor(k) for k in range(first, last + 1))

    def product(self, x):
        return MP.fprod(flat(x))

    def iterate(self, step, start, steps):
        return start if steps == 0 else step(self.iterate(step, start, steps - 1))


REFEREE = Referee()


def enclosed(value, scale):
    """The referee's value as a ball whose radius covers the referee's rounding."""
    with ctx.workprec(2 * BITS):
        sign, mantissa, exponent, _ = value._mpf_ if hasattr(value, "_mpf_") else (0, value, 0, 0)
        middle = arb(fmpz(int(mantissa)) * (-1 if sign else 1)) * arb(2) ** exponent
        around = (arb(abs(middle)) + scale) * arb(2) ** -SURE
        return middle + arb(0, around.upper())
