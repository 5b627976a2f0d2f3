"""Theorems of textbooks that proofs cite. A citation names the steps that prove the hypotheses."""

from attsvm.theory import Lemma

CLOSED, CONVEX, NOT_EMPTY = "the set is closed", "the set is convex", "the set holds a point"

NEAREST_POINT = Lemma(
    "the nearest point of a convex set",
    "Boyd and Vandenberghe, Convex Optimization, section 8.1",
    (CLOSED, CONVEX, NOT_EMPTY),
    "exactly one point of it has the least norm",
)
"""The set is in R^N with its inner product."""

OBJECTIVE = "the objective is convex and differentiable"
AFFINE = "finitely many constraints, each affine"

POLYHEDRON = Lemma(
    "polyhedra",
    "Rockafellar, Convex Analysis, section 19 and theorem 2.1",
    (AFFINE,),
    "the points that meet them, as equalities or as inequalities that are not strict, are a closed "
    "and convex set",
)

MULTIPLIERS = Lemma(
    "multipliers of a convex programme with affine constraints",
    "Rockafellar, Convex Analysis, corollary 28.3.1",
    (OBJECTIVE, AFFINE),
    "at a minimiser, if there is one, the gradient is a sum of the constraints' gradients with "
    "weights w_j >= 0, and w_j = 0 where constraint j is not tight",
)

LINEAR = "objective and constraints are affine, finitely many"

DUALITY = Lemma(
    "duality of linear programmes",
    "Schrijver, Theory of Linear and Integer Programming, corollary 7.1g",
    (LINEAR,),
    "where some point meets the constraints and the objective is bounded, the least value is "
    "attained, and is the largest value of the dual programme, which is attained as well",
)

CAUCHY_SCHWARZ = Lemma(
    "Cauchy and Schwarz",
    "Horn and Johnson, Matrix Analysis, theorem 5.1.4",
    (),
    "<U, V> <= ||U|| ||V|| in an inner product space, and so for covariances",
)

INDEPENDENT = "the vectors are independent"

INVERSE_OF_GRAM = Lemma(
    "the inverse of a Gram matrix",
    "Horn and Johnson, Matrix Analysis, sections 0.7.3 and 7.2",
    (INDEPENDENT,),
    "1/(G^-1)_jj is the squared distance of vector j from the span of the others",
)
"""The proof uses the Schur complement of the others' Gram matrix."""

RANGE = Lemma(
    "the range of a matrix",
    "Horn and Johnson, Matrix Analysis, section 0.6.6",
    (),
    "A q = a for some q exactly where b^T a = 0 for each b with b^T A = 0",
)

RANK_OF_PRODUCT = Lemma(
    "the rank of a product",
    "Horn and Johnson, Matrix Analysis, section 0.4.5",
    (),
    "rank(B C) is at most rank(B) and at most rank(C), and a rank is at most either size",
)

MINORS = Lemma(
    "ranks by minors",
    "Horn and Johnson, Matrix Analysis, section 0.4.4",
    (),
    "a matrix has rank r at most exactly where its minors of order r + 1 are 0; these are "
    "polynomials of its entries, so that limits of such matrices have rank r at most",
)

SINGULAR_VALUES = Lemma(
    "norms by singular values",
    "Horn and Johnson, Matrix Analysis, sections 5.6 and 7.4",
    (),
    "||W||_F <= ||W||_*, with equality exactly where W has rank 1 at most; "
    "|y^T S x| <= ||S||_2 ||y|| ||x||, with equality at a pair of singular vectors of ||S||_2",
)

OPERATOR_NORM = Lemma(
    "the spectral norm",
    "Horn and Johnson, Matrix Analysis, theorem 5.6.2 and example 5.6.6",
    (),
    "||A x|| <= ||A|| ||x||, ||A|| = ||A^T||, ||u v^T|| = ||u|| ||v||, and the norm of a diagonal "
    "matrix is its largest entry in size",
)


SYMMETRIC = "the matrix is real and symmetric"
FORM = "|m^T M m| <= c m^T m for every m"

EIGENVECTORS = Lemma(
    "eigenvectors of a symmetric matrix",
    "Horn and Johnson, Matrix Analysis, theorem 4.1.5 and example 5.6.6",
    (SYMMETRIC,),
    "it has an orthonormal basis of eigenvectors, and ||M|| is its largest eigenvalue in size",
)

RAYLEIGH = Lemma(
    "Rayleigh quotients",
    "Horn and Johnson, Matrix Analysis, theorem 4.2.2 and example 5.6.6",
    (SYMMETRIC, FORM),
    "||M|| <= c, with equality for the least such c",
)

FACTORS = Lemma(
    "the nuclear norm by factors",
    "Srebro, Rennie and Jaakkola, Maximum-Margin Matrix Factorization (2004), lemma 1",
    (),
    "||K Q^T||_* <= ||K||_F ||Q||_F, and every W of rank r at most is K Q^T with r columns and "
    "||K||_F^2 = ||Q||_F^2 = ||W||_*",
)
"""The proof uses the singular value decomposition."""

BOUNDED_SEQUENCE = "the sequence is bounded"

ACCUMULATION = Lemma(
    "Bolzano and Weierstrass",
    "Rudin, Principles of Mathematical Analysis, theorem 3.6",
    (BOUNDED_SEQUENCE,),
    "some subsequence converges, and the distance to a set tends to 0 where all limits of "
    "subsequences lie in it",
)
"""The sequence is in R^N."""


DIFFERENTIABLE = "f is differentiable"
SLOPE = "its slope along every unit vector is at most c"

MEAN_VALUE = Lemma(
    "the mean value theorem",
    "Rudin, Principles of Mathematical Analysis, theorem 9.19",
    (DIFFERENTIABLE, SLOPE),
    "|f(x) - f(y)| <= c ||x - y|| where f is so on the segment between, also with values in R^N",
)

REACHED = "slopes of f along unit vectors, or its quotients |f(x) - f(y)|/||x - y||, tend to c"

DIFFERENCE_QUOTIENTS = Lemma(
    "limits of difference quotients",
    "Rudin, Principles of Mathematical Analysis, definition 9.11 and theorem 3.19",
    (DIFFERENTIABLE, REACHED),
    "no number below c is a Lipschitz constant of f",
)
"""A slope is a limit of quotients. A limit of numbers that do not exceed a constant does not exceed
it either. A slope that equals c counts as one that tends to c."""

TWICE = "f has two continuous derivatives"

MIXED_DERIVATIVES = Lemma(
    "mixed derivatives",
    "Rudin, Principles of Mathematical Analysis, theorem 9.41",
    (TWICE,),
    "the Hessian of f is symmetric",
)

SIGN = "its derivative is at least 0 between the points"

RISING = Lemma(
    "functions whose derivative has one sign",
    "Rudin, Principles of Mathematical Analysis, theorem 5.11",
    (DIFFERENTIABLE, SIGN),
    "f does not fall from one of the points to the other",
)
"""The same holds for -f if the derivative of f is at most 0."""

INTERIOR = "f is largest at a point inside"

STATIONARY = Lemma(
    "interior extrema",
    "Rudin, Principles of Mathematical Analysis, theorem 5.8",
    (DIFFERENTIABLE, INTERIOR),
    "the derivative of f is 0 there, and so is each partial one",
)

TRIANGLE = Lemma(
    "the triangle inequality",
    "Horn and Johnson, Matrix Analysis, definition 5.1.1",
    (),
    "the norm of a sum is at most the sum of the norms",
)

MEAN_VALUE_ON_A_LINE = Lemma(
    "the mean value theorem on a line",
    "Rudin, Principles of Mathematical Analysis, theorem 5.10",
    (DIFFERENTIABLE,),
    "f(y) - f(x) = (y - x) f'(z) for some z between x and y",
)

CONTINUOUS, COMPACT = "the function is continuous", "the set is compact and not empty"

COMPOSED = Lemma(
    "limits of continuous functions",
    "Rudin, Principles of Mathematical Analysis, theorem 4.2",
    (CONTINUOUS,),
    "f(x_k) tends to f(x) where x_k tends to x",
)

NOT_ALL = "not all coefficients are 0"

DESCARTES = Lemma(
    "Descartes' rule of signs for real powers",
    "Polya and Szego, Problems and Theorems in Analysis II, part V, problem 77",
    (NOT_ALL,),
    "a sum of real powers of y has no more roots y > 0 than its coefficients, in the order of the "
    "powers, change their sign",
)

VALUES = "it takes values below and above c"

INTERMEDIATE_VALUE = Lemma(
    "the intermediate value theorem",
    "Rudin, Principles of Mathematical Analysis, theorem 4.23",
    (CONTINUOUS, VALUES),
    "the function takes the value c between",
)

HEINE_BOREL = Lemma(
    "Heine and Borel",
    "Rudin, Principles of Mathematical Analysis, theorem 2.41",
    (),
    "in R^N closed balls, spheres, boxes and intervals with their ends are compact and not empty, "
    "and so is each closed part of one that holds a point",
)

WEIERSTRASS = Lemma(
    "the extreme value theorem",
    "Rudin, Principles of Mathematical Analysis, theorem 4.16",
    (CONTINUOUS, COMPACT),
    "the function has a least value on the set",
)

LIPSCHITZ, SHORT = "the gradient of f is L-Lipschitz", "the step e is at most 1/L"

DESCENT = Lemma(
    "the descent lemma",
    "Nesterov, Introductory Lectures on Convex Optimization, section 1.2.3",
    (LIPSCHITZ, SHORT),
    "f(x - e grad f) <= f(x) - (e/2) ||grad f||^2, so that f never increases, and the squared "
    "gradients are summable where f is bounded below",
)

EXPONENTIAL = Lemma(
    "the tangent of the exponential",
    "Rudin, Principles of Mathematical Analysis, theorem 8.6",
    (),
    "1 + x <= exp(x), and so exp(x) - 1 <= x exp(x)",
)

SECOND_DERIVATIVE = "f'' >= 0 between the points"

JENSEN = Lemma(
    "convexity by the second derivative",
    "Rockafellar, Convex Analysis, theorem 4.4",
    (SECOND_DERIVATIVE,),
    "f of a mean is at most the mean of f",
)

CONVEX_FUNCTION = "the function is convex"

HULL = "the set is the convex hull of finitely many points"

CONVEX_MAXIMUM = Lemma(
    "the largest value of a convex function",
    "Rockafellar, Convex Analysis, theorem 32.2",
    (CONVEX_FUNCTION, HULL),
    "on the set the function is at most the largest of its values at these points",
)


TANGENT = Lemma(
    "the tangent of a convex function",
    "Rockafellar, Convex Analysis, theorems 4.4 and 25.1",
    (SECOND_DERIVATIVE,),
    "f(y) >= f(x) + f'(x) (y - x)",
)


INCREASING, UNBOUNDED = "S_k increases strictly", "S_k tends to infinity"

STOLZ = Lemma(
    "Stolz and Cesaro",
    "Choudary and Niculescu, Real Analysis on Intervals, section 2.7",
    (INCREASING, UNBOUNDED),
    "limsup y_k/S_k <= limsup (y_k+1 - y_k)/(S_k+1 - S_k), and the same for liminf with >=",
)

COMPLETE = Lemma(
    "absolute convergence",
    "Rudin, Principles of Mathematical Analysis, theorems 3.11 and 3.45",
    (),
    "the points reached by steps of summable lengths converge",
)

CONTRACTION = "some norm of M is below 1"

NEUMANN = Lemma(
    "the inverse near the identity",
    "Horn and Johnson, Matrix Analysis, corollary 5.6.16 and section 5.8",
    (CONTRACTION,),
    "I + M has an inverse, whose norm is at most 1 / (1 - ||M||)",
)
"""The norm is any matrix norm, such as the largest row sum of absolute values."""

BOOLE = Lemma(
    "Boole's inequality",
    "Billingsley, Probability and Measure, theorem 2.1",
    (),
    "the probability of a union is at most the sum of the probabilities",
)

ROWS = "the factors are independent"

MEAN_OF_PRODUCT = Lemma(
    "the mean of a product",
    "Billingsley, Probability and Measure, section 21",
    (ROWS,),
    "the mean of a product of factors with finite means is the product of the means",
)

BOUNDED = "independent summands of mean 0 in [-1, 1]"

HOEFFDING = Lemma(
    "Hoeffding's inequality",
    "Boucheron, Lugosi and Massart, Concentration Inequalities, theorem 2.8",
    (BOUNDED,),
    "the sum of d of them is more than e d in size with probability at most 2 exp(-d e^2/2)",
)

FIXED = "the subspace is independent of the vectors"

GAUSSIAN_PROJECTION = Lemma(
    "projections of standard Gaussian vectors",
    "Muirhead, Aspects of Multivariate Statistical Theory, theorem 1.2.6",
    (FIXED,),
    "the coordinates of a standard Gaussian vector in a subspace of m dimensions are m independent "
    "standard Gaussian numbers, and those that are not correlated are independent",
)

TWO_SQUARES = "squared norms of independent standard Gaussian vectors in R^m"

BETA = Lemma(
    "quotients of chi-squares",
    "Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, section 25.2",
    (TWO_SQUARES,),
    "the first over the sum of both is a beta variable, below q with probability I_q(m/2, m/2)",
)

CHI_SQUARE = Lemma(
    "the moment generating function of a chi-square",
    "Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 1, section 18.3",
    (),
    "E exp(y chi/2) = (1 - y)^(-m/2) for y < 1, chi the squared norm of a standard Gaussian "
    "vector in R^m; by Markov's inequality P(x > 0) <= E exp(x)",
)

UNIFORM = "independent points, uniform on the unit sphere of R^d"

LARGEST = Lemma(
    "the largest of independent numbers",
    "Hajek, Sidak and Sen, Theory of Rank Tests, section 3.1",
    (UNIFORM,),
    "of the inner products of k of them with another one, each is the largest with probability 1/k",
)

ROTATIONS = Lemma(
    "the uniform law does not change under rotations",
    "Muirhead, Aspects of Multivariate Statistical Theory, section 1.5",
    (UNIFORM,),
    "an event of the inner products of some of them is independent of each single one of them",
)

SPHERICAL_CAP = Lemma(
    "the size of a spherical cap",
    "Ball, An Elementary Introduction to Modern Convex Geometry, lemma 2.2",
    (UNIFORM,),
    "their inner product is more than e in size with probability at most 2 exp(-d e^2/2)",
)
