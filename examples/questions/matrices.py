"""Questions on matrices and probabilities that people asked on public pages.

Each has the address of the page, as `attsvm ask` was given it, and the answer that the page gives:
"holds" or "refuted", or None if the page gives none. Statements were taken from the pages in our
own words; where a page leaves a case open, the comment says how it was read.
`attsvm ask examples/questions/matrices.py` answers all of them.
"""

from __future__ import annotations

from attsvm import PSD, Convex, Integer, Matrix, Simplex, Sorted, Symmetric, Vector, question

# math.techqa.club/let-a-in-mathbb-r-n-times-n-be-a-positive-semidefinite-matrix-and-let-x-y-in-
# mathbb-r-n-if-langle-x-y-rangle-geq-0-then-4587965
SIGN_OF_A_FORM = question(
    lambda m, v: m.at_least(m.dot(v.x, v.A @ v.y), 0),
    lambda m, v: m.at_least(m.dot(v.x, v.y), 0),
    A=PSD("n"),
    x=Vector("n"),
    y=Vector("n"),
    expected="refuted",
)

# math.techqa.club/prove-or-give-a-counterexample-for-semi-positive-defined-matrices-3694662, a, for
# the standard basis
ON_A_BASIS = question(
    lambda m, v: m.psd(v.A),
    lambda m, v: m.all_of(*(m.at_least(v.A[i, i], 0) for i in range(v.n))),
    A=Matrix("n", "n"),
    expected="refuted",
)

# the same page, b: equal quadratic forms have equal symmetric parts
EQUAL_FORMS = question(
    lambda m, v: m.equal(v.A, v.B),
    lambda m, v: m.equal(v.A + v.A.T, v.B + v.B.T),
    A=Matrix("n", "n"),
    B=Matrix("n", "n"),
    expected="refuted",
)

# the same page, c
ENTRIES_BELOW_THE_DIAGONAL = question(
    lambda m, v: m.at_most(v.A[0, v.n - 1] ** 2, v.A[0, 0] * v.A[v.n - 1, v.n - 1]),
    A=PSD("n"),
    expected="holds",
)

# math.stackexchange.com/questions/235170
PRINCIPAL_MINORS_OF_TWO = question(
    lambda m, v: m.psd(v.A),
    lambda m, v: m.all_of(*(m.at_least(v.A[i, i], 0) for i in range(v.n))),
    lambda m, v: m.all_of(
        *(m.at_least(v.A[i, i] * v.A[j, j], v.A[i, j] ** 2) for i in range(v.n) for j in range(i))
    ),
    A=Symmetric("n"),
    expected="refuted",
)

# math.techqa.club/matrix-inequality-and-higher-powers-1278307
ORDER_OF_SQUARES = question(
    lambda m, v: m.psd(v.M @ v.M - v.N @ v.N),
    lambda m, v: m.psd(v.M - v.N),
    M=Symmetric("n"),
    N=Symmetric("n"),
    expected="refuted",
)

# math.techqa.club/a-b-are-two-real-positive-matrices-then-det-a-b-max-det-a-det-b-1381994
DETERMINANT_ABOVE_BOTH = question(
    lambda m, v: m.above(m.det(v.A + v.B), m.maximum(m.det(v.A), m.det(v.B))),
    lambda m, v: m.pd(v.A),
    lambda m, v: m.pd(v.B),
    A=PSD("n"),
    B=PSD("n"),
    expected="holds",
)

# ARQMath, a thread of 2012: det(A + B) + det(A + C) <= det A + det(A + B + C)
DETERMINANTS_OF_THREE = question(
    lambda m, v: m.at_most(
        m.det(v.A + v.B) + m.det(v.A + v.C), m.det(v.A) + m.det(v.A + v.B + v.C)
    ),
    A=PSD("n"),
    B=PSD("n"),
    C=PSD("n"),
    expected="holds",
)

# imathworks.com/math/an-inequality-involving-two-p-d-matrices, with roots in place of n-th roots
MINKOWSKI = question(
    lambda m, v: m.at_least(m.sqrt(m.det(v.A + v.B)), m.sqrt(m.det(v.A)) + m.sqrt(m.det(v.B))),
    A=PSD("n"),
    B=PSD("n"),
    n=Integer(2, 3),
    expected="holds",
)

# math.techqa.club/show-that-det-left-a-b-right-geq-det-left-a-right-1783269
DETERMINANT_GROWS = question(
    lambda m, v: m.at_least(m.det(v.A + v.B), m.det(v.A)),
    A=PSD("n"),
    B=PSD("n"),
    expected="holds",
)

# gat.simonm.io/question/3369
DETERMINANT_OF_I_PLUS_B = question(
    lambda m, v: m.at_least(m.det(m.identity(v.n) + v.B), 1 + m.det(v.B)),
    B=PSD("n"),
    expected="holds",
)

# math.techqa.club/inequality-involving-trace-and-operator-norm-374190; a triangular matrix of
# positive diagonal has real and positive eigenvalues
TRACE_WITH_REAL_EIGENVALUES = question(
    lambda m, v: m.at_most(m.trace(v.A @ v.W), m.spectral(v.A) * m.trace(v.W)),
    lambda m, v: m.all_of(*(m.above(v.W[i, i], 0) for i in range(v.n))),
    lambda m, v: m.all_of(*(m.equal(v.W[i, j], 0) for i in range(v.n) for j in range(i))),
    A=Matrix("n", "n"),
    W=Matrix("n", "n"),
    expected="refuted",
)

# imathworks.com/math/spectral-norm-trace-inequality
TRACE_OF_ANY = question(
    lambda m, v: m.at_most(m.trace(v.A @ v.B), m.spectral(v.A) * m.trace(v.B)),
    A=Matrix("n", "n"),
    B=Matrix("n", "n"),
    expected="refuted",
)

# the same page, for B positive semidefinite
TRACE_OF_SEMIDEFINITE = question(
    lambda m, v: m.at_most(m.trace(v.A @ v.B), m.spectral(v.A) * m.trace(v.B)),
    A=Matrix("n", "n"),
    B=PSD("n"),
    expected="holds",
)

# imathworks.com/math/does-cauchy-schwartz-inequality-work-for-matrix-norms
SUBMULTIPLICATIVE = question(
    lambda m, v: m.at_most(m.spectral(v.A @ v.B), m.spectral(v.A) * m.spectral(v.B)),
    A=Matrix("n", "n"),
    B=Matrix("n", "n"),
    expected="holds",
)

# mathematics3373.rssing.com/chan-79837462/article2290.html: the page has no answer
ENTROPY_WEIGHTS = question(
    lambda m, v: m.at_most(
        m.norm(m.xlogx(v.p) / m.sum(m.xlogx(v.p)) - m.exact(1) / v.n),
        m.norm(v.p - m.exact(1) / v.n),
    ),
    lambda m, v: m.above(m.min(v.p), 0),
    p=Simplex("n"),
    n=Integer(2, 4),
)

# qastack.jp/stats/335197/why-kl-divergence-is-non-negative
GIBBS = question(
    lambda m, v: m.at_least(m.kl(v.p, v.q), 0),
    lambda m, v: m.above(m.min(v.q), 0),
    p=Simplex("n"),
    q=Simplex("n"),
    expected="holds",
)

# quesba.com, question 1435642
GIBBS_IS_STRICT = question(
    lambda m, v: m.above(m.kl(v.p, v.q), 0),
    lambda m, v: m.above(m.min(v.q), 0),
    lambda m, v: m.differ(v.p, v.q),
    p=Simplex("n"),
    q=Simplex("n"),
    expected="holds",
)

# the same page
JENSEN = question(
    lambda m, v: m.at_most(v.f(m.dot(v.p, v.x)), m.dot(v.p, v.f(v.x))),
    f=Convex(),
    p=Simplex("n"),
    x=Sorted("n"),
    expected="holds",
)
