"""Questions on numbers that people asked on public pages; see `matrices.py` of this folder.

`attsvm ask examples/questions/numbers.py` answers all of them.
"""

from __future__ import annotations

from attsvm import Integer, Real, question

# sparkthread.net/en/Lucky numbers of Euler: no d between 1 and k^2 - k + 41 divides it, for any k
EULER = question(
    lambda m, v: m.any_of(
        m.differ(m.mod(v.k * v.k - v.k + 41, v.d), 0), m.equal(v.k * v.k - v.k + 41, v.d)
    ),
    k=Integer(1),
    d=Integer(2),
    expected="refuted",
)

# proofwiki.org/wiki/Sum_of_Floors_not_greater_than_Floor_of_Sum
FLOORS_BELOW = question(
    lambda m, v: m.at_most(m.floor(v.x) + m.floor(v.y), m.floor(v.x + v.y)),
    x=Real(),
    y=Real(),
    expected="holds",
)

# mathematik.uni-bielefeld.de/~sillke/PUZZLES/floor-basics, A (1)
FLOORS_ABOVE = question(
    lambda m, v: m.at_most(m.floor(v.x + v.y), m.floor(v.x) + m.floor(v.y) + 1),
    x=Real(),
    y=Real(),
    expected="holds",
)

# the same page, A (2)
FLOORS_OF_DOUBLES = question(
    lambda m, v: m.at_least(
        m.floor(2 * v.x) + m.floor(2 * v.y), m.floor(v.x + v.y) + m.floor(v.x) + m.floor(v.y)
    ),
    x=Real(),
    y=Real(),
    expected="holds",
)

# mathhelpforum.com/discrete-math/54254-proofs.html
FLOORS_ARE_ADDITIVE = question(
    lambda m, v: m.equal(m.floor(v.x + v.y), m.floor(v.x) + m.floor(v.y)),
    x=Real(),
    y=Real(),
    expected="refuted",
)

# imathworks.com, on floor((x^2 + x)/i) - floor(x^2/i) = floor(x/i) for i <= x^2
FLOORS_OF_QUOTIENTS = question(
    lambda m, v: m.equal(
        m.floor(m.exact(v.x * v.x + v.x) / v.i) - m.floor(m.exact(v.x * v.x) / v.i),
        m.floor(m.exact(v.x) / v.i),
    ),
    lambda m, v: m.at_most(m.exact(v.i), m.exact(v.x * v.x)),
    x=Integer(1),
    i=Integer(1),
    expected="refuted",
)

# imathworks.com/math/math-how-to-prove-property-of-greatest-integer-function
FLOOR_OF_A_FRACTION = question(
    lambda m, v: m.equal(m.floor(v.x + v.y), m.floor(v.y + v.x - m.floor(v.x)) + m.floor(v.x)),
    x=Real(),
    y=Real(),
    expected="holds",
)

# proofwiki.org/wiki/Floor_of_x+m_over_n
NESTED_FLOORS = question(
    lambda m, v: m.equal(m.floor((v.x + v.k) / v.n), m.floor((m.floor(v.x) + v.k) / v.n)),
    x=Real(),
    k=Integer(-9, 9),
    n=Integer(1, 9),
    expected="holds",
)

# math.techqa.club/for-some-x-in-bbb-r-and-a-b-in-bbb-z-prove-or-deny-...-4199471; its answer asks
# for b > 0
NESTED_FLOORS_OF_EITHER_SIGN = question(
    lambda m, v: m.equal(m.floor((v.a + v.x) / v.b), m.floor((v.a + m.floor(v.x)) / v.b)),
    lambda m, v: m.differ(m.exact(v.b), 0),
    x=Real(),
    a=Integer(-9, 9),
    b=Integer(-9, 9),
    expected="refuted",
)

# assignmentexpert.com/homework-answers/mathematics/real-analysis/question-308333
SQUARES_ARE_ORDERED = question(
    lambda m, v: m.below(v.x**2, v.y**2),
    lambda m, v: m.below(v.x, v.y),
    x=Real(),
    y=Real(),
    expected="refuted",
)

# solve.club/problems/refresher/refresher.html
ROOT_TIMES_NUMBER = question(
    lambda m, v: m.at_least(v.x * m.sqrt(v.x), v.x),
    lambda m, v: m.above(v.x, 0),
    x=Real(),
    expected="refuted",
)

# users.csc.tntech.edu/~srini/DM/chapters/examples/ans2.1.4.html
PRODUCTS_ARE_ORDERED = question(
    lambda m, v: m.above(v.x * v.z, v.y * v.z),
    lambda m, v: m.above(v.x, v.y),
    x=Real(),
    y=Real(),
    z=Real(),
    expected="refuted",
)
