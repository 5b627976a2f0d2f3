"""The cost of turning X: |<z, S D>| <= sqrt(||S^T S|| <z, z> <D, D>) for S = X - X^T."""

from attsvm.theory.proof.facts import ge
from attsvm.theory.proof.linked import linked
from attsvm.theory.proof.rules import add_up, decide, exchange, scale
from attsvm.theory.proof.terms import Letter, Term, total
from properties.sim.orientation import MARGINS
from symbolic.facts import (
    cauchy,
    end,
    image,
    index,
    letters_in,
    product,
    root,
    size_by_squares,
    squares,
)

a, b, c = (index(name, "d") for name in "abc")


@linked
def prove() -> str:
    """Prove |<z, S D>| <= ||z|| ||S D|| and ||S D||^2 = <D, S^T S D> <= ||S^T S|| ||D||^2."""
    v = letters_in(MARGINS, "sharp")

    def X(row: Letter, column: Letter) -> Term:
        return v.X.entry((row.term,), (column.term,))

    def S(row: Letter, column: Letter) -> Term:
        return X(row, column) - X(column, row)

    def D(at: Letter) -> Term:
        return v.D.entry((at.term,))

    z = v.z.entry((b.term,))
    moved = total(S(b, a) * D(a), a)
    gram = total(S(b, a) * S(b, c), b)
    turned = exchange(D(b) * X(b, a) * v.z.entry((a.term,)), b, a)
    within = cauchy(z, moved, b)
    outer = exchange(S(b, a) * D(a) * moved, b, a)
    inner = add_up(scale(exchange(S(b, a) * S(b, c) * D(c), b, c), D(a)), a)
    along = total(gram * D(c), c)
    again = cauchy(D(a), along, a)
    size, bound = image(gram, a, c, D(c))
    long = squares(D(a), a)
    whole = product(size, long)
    short = decide(ge(whole.proposition.term, total(D(a) * along, a)), whole, *(again, long, bound))
    left = total(z * moved, b)
    square_ = total(z**2, b) * whole.proposition.term
    above = product(squares(z, b), whole)
    top, top_square = root(square_, above)
    fact = decide(
        ge(top.proposition.term**2, left**2), within, squares(z, b), short, outer, inner, top_square
    )
    x = total(z * total(X(b, a) * D(a), a), b) - total(
        D(b) * total(X(b, a) * v.z.entry((a.term,)), a), b
    )
    fact = decide(ge(top.proposition.term**2, x**2), fact, scale(turned, x + left))
    end(MARGINS, "sharp", by=[size_by_squares(x, top, fact)])
    return "in any dimension; singular vectors of X - X^T attain it"
