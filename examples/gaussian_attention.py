"""The question whether softmax attention with a Gaussian matrix contracts distances on average.

H. J. Jeon and B. Van Roy, Information-theoretic foundations for machine learning, arXiv:2407.12288
(2024), are said to ask whether

    E ||Attn(U) - Attn(U')||_F^2 <= ||U - U'||_F^2

for r x K matrices with columns of norm at most 1, and A with independent standard normal entries.
The paper was not read. Here Attn(U) is the softmax of each column of U^T A U / sqrt(r); the page
docs/proofs/gaussian_attention.md says why. For r = 1, `ratio` encloses the left side over the right
for the rows (1, -1, ..., -1) and (1 - d, -1, ..., -1), which refutes the inequality. `bound` is the
constant that the page proves for all K.
"""

from __future__ import annotations

from flint import acb, arb, fmpq

_END = 12
"""The integral goes from -12 to 12; the tails are bounded."""


def sigmoid(x: acb) -> acb:
    """Return 1 / (1 + e^-x)."""
    return 1 / (1 + (-x).exp())


def ratio(K: int, d: fmpq, *, mixed: bool = False) -> arb:
    """Return a ball with E ||Attn(U) - Attn(U')||^2 / ||U - U'||^2, for r = 1.

    Args:
        K: the number of columns, at least 2.
        d: the distance of the first entries, positive and at most 2.
        mixed: whether Attn(U) is U times the softmax, in place of the softmax alone.
    """
    first = acb(1 - d)

    def weights(a: acb) -> list[tuple[acb, acb]]:
        """Return the weight of the first column in two columns of Attn(U), and the same for U'.

        These are the first column and any other one.
        """
        rest = acb(K - 1).log()
        return [
            (sigmoid(2 * a - rest), sigmoid(first * (first + 1) * a - rest)),
            (sigmoid(-2 * a - rest), sigmoid(-(first + 1) * a - rest)),
        ]

    def squared(a: acb, analytic: bool) -> acb:
        """Return the squared distance, times e^(-a^2/2)."""
        if mixed:  # the entries are p_j (u_1 + 1) - 1
            gaps = [2 * p - (first + 1) * q for p, q in weights(a)]
            total = gaps[0] ** 2 + (K - 1) * gaps[1] ** 2
        else:  # the other K - 1 weights of a column are equal
            gaps = [p - q for p, q in weights(a)]
            total = (gaps[0] ** 2 + (K - 1) * gaps[1] ** 2) * K / (K - 1)
        return total * (-a * a / 2).exp()

    middle = acb.integral(squared, -_END, _END).real / (2 * arb.pi()).sqrt()
    # the slope of a sigmoid is at most 1/4, and the arguments differ by at most 3 d |a|; so entries
    # of mixed columns differ by at most d + 2 (3 d |a| / 4) < 1.5 d (1 + |a|), and others by less
    tail = arb(K) * (3 * arb(d) / 2) ** 2 * beyond(arb(_END))
    return (middle + tail.union(arb(0))) / arb(d) ** 2


def beyond(end: arb) -> arb:
    """Return a bound of E (1 + |a|)^2 over |a| > end, for a standard normal a and end >= 1.

    There (1 + |a|)^2 <= 4 a^2, and E a^2 over |a| > t is at most 2 (t + 1/t) times the density.
    """
    density = (-end * end / 2).exp() / (2 * arb.pi()).sqrt()
    return 8 * (end + 1 / end) * density


def bound(r: int, pieces: int = 400) -> arb:
    """Return a constant that the ratio of the two sides never exceeds, for dimension r and all K.

    It is the maximum over h = |mean of the columns| in [0, 1] of (sqrt(F) + sqrt(G))^2 / 2, by
    interval arithmetic on pieces of [0, 1].
    """

    def F(s: arb) -> arb:
        return (s / (2 * r)).exp() * (1 + s / r) / r

    most = arb(0)
    for k in range(pieces):
        low, high = arb(k) / pieces, arb(k + 1) / pieces
        S = (1 + high) ** 2
        share = (1 - low) / (1 + low)  # falls as h grows; all else grows
        mean = F(arb(0)) + share * (F(S) - F(arb(0)))
        most = most.max((F(S).sqrt() + mean.sqrt()) ** 2 / 2)
    return most


if __name__ == "__main__":
    for K in (10, 60, 1000):
        print(f"K = {K}: E ||Attn(U) - Attn(U')||^2 / ||U - U'||^2 = {ratio(K, fmpq(1, 100))}")
    print(f"the same with U times the softmax, K = 2: {ratio(2, fmpq(1, 100), mixed=True)}")
    for r in (2, 3, 4, 5):
        print(f"r = {r}, all K: at most {float(bound(r).upper()):.3f}")
