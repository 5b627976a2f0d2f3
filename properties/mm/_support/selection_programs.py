"""Conclusions about selections of tokens in the words of the checker, with their witnesses."""

from attsvm.errors import NotExpressible
from attsvm.primitives.losses import CHECKER
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, nested
from properties.mm._support import label_margins as margins
from properties.mm._support import max_margin as svm
from properties.mm._support.attended import Attended
from properties.mm._support.token_selections import Rival, Selection, chosen

Case = Attended | Rival | Selection


def write(m: Programs, case: Case) -> None:
    """Add the values of a selection to a program, with v(alpha), p(alpha) and the prompt."""
    svm.write(m, case)
    if isinstance(case, Attended):
        m.lines["prompt"] = nested(case.p.tolist())


def _choices(m: Programs, case: Case, *, own: bool) -> None:
    """Add the other choices beta to a program, and those choices for which p(beta) exists.

    The choice alpha counts among the latter if it is the selection's `own`.
    """
    others = [*margins.others(chosen(case))]
    m.lines["others"] = "other_choices(X, alpha)"
    tried = [*([chosen(case)] if own else []), *others]
    weights = nested([svm.p_programme(b).weights for b in tried])
    m.lines["reached"] = f"with_prompts(X, W, [{'alpha, ' if own else ''}*others], {weights})"


def label_margins_shrink(
    m: Programs, case: Selection, share: int | str = 1, idlers: str = "none"
) -> Proposition:
    """Return that other choices have smaller label margins, and idle inputs saturate in time.

    Raises:
        NotExpressible: the claim is another one.
    """
    if (share, idlers) != (1, "none"):
        raise NotExpressible("a share of Gamma, or idle inputs that may be last")
    if not svm.v_programme(case).exists:
        return svm.head_exists(m, case)
    write(m, case)
    _choices(m, case, own=False)
    heads = {tuple(b.alpha.tolist()): svm.v_programme(b).weights for b in margins.others(case)}
    known = ", ".join(f"{b}: {nested(weights)}" for b, weights in heads.items())
    m.lines["weights"] = f"{{{known}}}"
    m.lines["heads"] = "[least(head_rows(X, y, b), weights[tuple(b)], len(W)) for b in reached]"
    parts = [
        "fact(v is not None)",
        "fact(all(u is None or (v and inner(v, v) < inner(u, u)) for u in heads))",
    ]
    last = [prompt.vector for prompt in margins.slowest(case) if prompt.vector is not None]
    if last and svm.p_programme(case).exists:
        square = svm.v_programme(case).margin_square
        counted = nested([w / square for w in margins.multipliers(case)])
        tilts = nested([u.vector or [0] * len(case.W) for u in margins.tilts(case)])
        m.lines["rests"] = f"idle(head_rows(X, y, alpha), v, {counted}, {tilts})"
        m.lines["last"] = nested([x / last[0][-1] for x in last[0][:-1]])
        parts.append("fact(p is None or keeps_idle_last(prompt_rows(X, W, alpha), rests, last))")
    return Proposition(f"all_of({', '.join(parts)})", CHECKER)


def _relaxed(m: Programs, case: Selection) -> None:
    """Add p(alpha) to a program, with margins of at least 0 for inputs that v does not need."""
    bounds = f"tight_bounds(head_rows(X, y, alpha), v, {case.X.shape[1] - 1})"
    weights = nested(svm.relaxed(case).weights)
    m.lines["relaxed"] = f"shortest(prompt_rows(X, W, alpha), {bounds}, {weights}, len(W))"


def relaxed_exists(m: Programs, case: Selection, **constants: object) -> Proposition:
    """Return the claim that v(alpha) and the relaxed p(alpha) exist, if one does not.

    Raises:
        NotExpressible: both exist, so that this claim would not show a refutation.
    """
    if not svm.v_programme(case).exists:
        return svm.head_exists(m, case)
    write(m, case)
    _relaxed(m, case)
    if svm.relaxed(case).exists:
        raise NotExpressible("a conclusion about a relaxed p(alpha) that exists")
    return Proposition("fact(v is not None and relaxed is not None)", CHECKER)


def relaxed_unambiguous(
    m: Programs, case: Selection, share: int | str = 1, against: str = "essential"
) -> Proposition:
    """Return that the relaxed p(alpha) is that of the inputs with which v(alpha) is another.

    Raises:
        NotExpressible: the claim is another one.
    """
    if (share, against) != (1, "essential"):
        raise NotExpressible("a share of the relaxed p(alpha), or the one without relaxation")
    write(m, case)
    _relaxed(m, case)
    v = svm.v_programme(case)
    others = [svm.solve(v.rows[:i] + v.rows[i + 1 :], len(case.W)) for i in range(len(v.rows))]
    needed = [other.vector != v.vector for other in others]
    m.lines["needed"] = (
        f"essential(head_rows(X, y, alpha), v, {nested([o.weights for o in others])}, "
        f"{case.X.shape[1] - 1})"
    )
    weights = nested(svm.p_programme(case, needed).weights)
    m.lines["other"] = f"shortest(prompt_rows(X, W, alpha), needed, {weights}, len(W))"
    return Proposition("fact(v is None or relaxed == other)", CHECKER)


def positive_nu(m: Programs, case: Case) -> str:
    """Return that nu = Gamma - max ||sum_i w_i Y_i x_i,beta_i|| > 0 for multipliers w."""
    write(m, case)
    m.lines["others"] = "other_choices(X, alpha)"
    weights = nested(svm.v_programme(chosen(case)).weights)
    return f"fact(has_positive_nu(X, y, v, {weights}, others))"


def fixed_prompt(m: Programs, case: Attended, towards: str = "selected") -> Proposition:
    """Return what the limit of v_r implies of one input of two tokens at the best prompt."""
    write(m, case)
    token = "alpha[0]" if towards == "selected" else "1 - alpha[0]"
    return Proposition(f"with_best_prompt(X, y, W, {token}, prompt)", CHECKER)


def linear_loss(m: Programs, case: Selection, share: int | str = 1) -> Proposition:
    """Return that no sum of labelled tokens is longer than the largest such sum along v(alpha).

    Raises:
        NotExpressible: the claim is about a share of the right side, or there is no v(alpha).
    """
    write(m, case)
    if share != 1 or not svm.v_programme(case).exists:
        raise NotExpressible("a share of the longest sum, or no v(alpha)")
    _choices(m, case, own=True)
    return Proposition("fact(longest_along(X, y, v, reached))", CHECKER)


def every_radius(m: Programs, case: Rival, share: int | str = 1) -> Proposition:
    """Return that p(alpha) is not 0, and that no choice of tokens has less risk than bounded.

    Raises:
        NotExpressible: the claim is about a share of the exponent.
    """
    if share != 1:
        raise NotExpressible("a share of the exponent")
    write(m, case)
    _choices(m, case, own=True)
    return Proposition(
        "all_of(fact(p is not None and any(p)), low_risk(X, y, alpha, q, reached))", CHECKER
    )
