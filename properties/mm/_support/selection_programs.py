"""Selections of tokens as programs of the checker, with the solutions of their programmes."""

from attsvm.errors import NotExpressible
from attsvm.primitives.losses import CHECKER
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from properties.mm._support import max_margin as svm
from properties.mm._support.token_selections import Rival, Selection, chosen


def write(m: Programs, case: Rival | Selection) -> None:
    """Add the values of a selection to a program, with v(alpha) and p(alpha)."""
    one = chosen(case)
    for name in ("X", "y", "alpha", "W"):
        m.lines[name] = nested(getattr(one, name).tolist())
    if isinstance(case, Rival):
        m.lines["q"] = nested(case.q.tolist())
    for name, rows, programme in (
        ("v", "head_rows(X, y, alpha)", svm.v_programme(one)),
        ("p", "prompt_rows(X, W, alpha)", svm.p_programme(one)),
    ):
        m.lines[name] = f"least({rows}, {nested(programme.weights)}, len(W))"


def head_exists(m: Programs, case: Rival | Selection, **constants: object) -> Proposition:
    """Return that v(alpha) exists, if it does not: then a claim that needs it is false.

    Raises:
        NotExpressible: it exists, so that more has to be said.
    """
    write(m, case)
    if svm.v_programme(chosen(case)).exists:
        raise NotExpressible("a conclusion about a v(alpha) that exists")
    return Proposition("fact(v is not None)", CHECKER)


def prompt_exists(m: Programs, case: Rival | Selection, **constants: object) -> Proposition:
    """Return the same of p(alpha).

    Raises:
        NotExpressible: it exists, so that more has to be said.
    """
    write(m, case)
    if svm.p_programme(chosen(case)).exists:
        raise NotExpressible("a conclusion about a p(alpha) that exists")
    return Proposition("fact(p is not None)", CHECKER)
