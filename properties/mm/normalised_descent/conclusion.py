"""Conclusions about the limit and the speed of normalised descent."""

import numpy as np
from flint import arb

from attsvm.errors import NotExpressible
from attsvm.exact import ExactData
from attsvm.limits import direction_converges
from attsvm.losses import LOSSES
from attsvm.primitives import run_programs
from attsvm.primitives.limit_certificates import short_step
from attsvm.primitives.steps import FLOW, TARGET, along, tends
from attsvm.theory import OPEN, Slack, concludes, stated
from attsvm.theory.arithmetic.namespace import Proposition
from attsvm.theory.arithmetic.programs import Programs, exact_value, literal
from attsvm.theory.types import Comparison, Namespace, Number, Numbers, Relation
from properties.mm._support.prompt_descent import prompt
from properties.mm._support.prompt_limits import P_K, PROMPTS, Q_K, certified
from properties.mm.normalised_descent import paced_letters
from properties.mm.normalised_descent.paced_runs import Paced, differences, float_path, kept, path

STEPS = 64


def same_limit(run: Paced, towards: str = "optimal") -> Slack:
    """Return the slack of "plain and normalised descent both converge in direction to the target".

    The component of the normalised path orthogonal to the target must not grow with its length.
    """
    p = prompt(run.case, towards)
    if p is None or not any(p):
        return Slack.unknown("there is no such target")
    target = np.zeros((len(p), len(p)))
    target[:, 0] = [float(arb(x)) for x in p]
    u = target[:, 0] / np.linalg.norm(target)
    plain = direction_converges(run.case.data, run.case.W, LOSSES[run.case.loss], target)
    if towards == "optimal" and not plain.holds:
        return Slack.unknown("plain descent goes elsewhere")
    early, late = float_path(run, STEPS)[[STEPS // 4, STEPS]]
    grown = float(np.linalg.norm(late - (late @ u) * u) - np.linalg.norm(early - (early @ u) * u))
    along = float((late - early) @ u)
    normalised = Slack(0.5 - float(np.arctan2(grown, along)), 0.1)
    return min(plain, normalised, key=lambda slack: slack.value)


def certified_same_limit(run: Paced, towards: str = "optimal") -> arb | None:
    """Return -1 if plain descent is proved to reach p(alpha) and normalised descent not to.

    For another target return what is proved of plain descent.
    """
    plain = certified(run.case, towards)
    if towards != "optimal" or not (plain > 0 or plain < 0):
        return plain
    if not plain > 0:
        return None
    chosen, best = kept(run, STEPS), ExactData.of(run.case.data).optimal
    if chosen is None:
        return OPEN
    return arb(-1) if any(t not in ts for t, ts in zip(chosen, best, strict=True)) else None


def _same_limit(m: Programs, run: Paced, towards: str = "optimal") -> Proposition:
    """Return the claim of `SAME_LIMIT` for the checker, for tokens that normalised descent keeps.

    Raises:
        NotExpressible: the target is another one, or neither a trap nor a basin proves a limit.
    """
    tried = (1 << k for k in range(STEPS.bit_length()))
    steps = next((k for k in tried if kept(run, k, k) is not None), None)
    if towards != "optimal" or steps is None:
        raise NotExpressible("a run of normalised steps that no trap is known to hold")
    run_programs.write(m, run)
    case = run.case
    m.lines["step"] = literal(exact_value(short_step(case.data, case.loss, case.step)))
    m.lines["limit"] = run_programs.limit(case, moving=True)
    m.lines["prompt"] = f"paced(data, start, loss, {literal(exact_value(run.step))}, {steps})"
    m.lines["kept"] = "trap(data.moving, prompt, loss, step)"
    text = "both_or_none(along(limit, target), fact(kept == data.moving.optimal))"
    return Proposition(text, run_programs.CHECKER)


SAME_LIMIT = tends(
    "$formula if one of the two does",
    f"{along(P_K)}, {along(Q_K)}",
    along(TARGET),
    floats=same_limit,
    balls=certified_same_limit,
    checked=_same_limit,
    symbols=PROMPTS,
    stand_in=FLOW,
    where="p(k) are the iterates of descent with a step of one over a Lipschitz constant of the "
    "gradient, q(k) those of normalised descent with steps of length s from the same p(0), and "
    "p(alpha) is the max-margin solution of the optimal tokens",
)


@run_programs.traces
@stated(
    "$formula for k = 1, 2, 3, 4",
    r"\|p_k\| \ge $share \|p'_k\|",
    where="p_k are the prompts of normalised and p'_k those of plain descent with steps of one "
    "size",
)
def ahead(m: Namespace, run: Paced, share: Number = 1) -> Relation:
    normalised, plain = path(m, run, 4), path(m, run, 4, "plain")
    pairs = zip(plain[1:], normalised[1:], strict=True)
    return m.all_of(*(m.at_most(share * m.norm(q), m.norm(p)) for q, p in pairs))


def longest(m: Namespace, run: Paced) -> Numbers:
    """Return B, the largest length of a difference k_alpha - k_t."""
    return m.sqrt(m.max(m.array([row @ row for row in m.values(differences(run.case))])))


def missing(m: Namespace) -> Comparison:
    """Return a violated comparison, the conclusion about a p* that does not exist."""
    return m.below(m.exact(0), m.exact(0))


@concludes(paced_letters.close)
@stated(
    "$formula for every k >= 1 (checked up to 64)",
    r"\|p_k\| - \langle p_k, u\rangle \le s + B a \left(a \ln J + \frac{s}{2}\right) (1 + "
    r"\ln k)",
    {
        "towards": {
            "optimal": "p*",
            "worst": "the solution for the worst tokens",
            "mean": "the mean of the constraints",
        }
    },
    where="p_k are the prompts of normalised descent with steps of length s, p* = p(alpha), u is "
    "the direction of $towards, a = ||p*||, B = max ||k_alpha - k_t||, and J is the number of "
    "rivals",
)
def close(m: Namespace, run: Paced, towards: str = "optimal") -> Relation:
    p, target = prompt(run.case), prompt(run.case, towards)
    if p is None or target is None or not any(target):
        return missing(m)
    s, a = m.values(run.step), m.norm(m.values(p))
    rivals = m.exact(len(differences(run.case)))
    slope = longest(m, run) * a * (a * m.log(rivals) + s / 2)
    unit = m.values(target) / m.norm(m.values(target))
    return m.all_of(
        *(
            m.at_most(m.norm(q) - q @ unit, s + slope * (1 + m.log(m.exact(k))))
            for k, q in enumerate(path(m, run, STEPS)[1:], 1)
        )
    )


@concludes(paced_letters.advanced)
@stated(
    "$formula for every k >= 1 (checked up to 16)",
    r"\langle p_k - p_0, p^*\rangle \ge $share $more \frac{s}{B}",
    {"more": {0: "k", 1: "(k + 1)"}},
    where="p_k are the prompts of $pace descent with steps of length s, p* = p(alpha), and B = max "
    "||k_alpha - k_t||",
)
def progress(
    m: Namespace, run: Paced, share: Number = 1, more: int = 0, pace: str = "normalised"
) -> Relation:
    p = prompt(run.case)
    if p is None:
        return missing(m)
    prompts = path(m, run, 16, pace)
    least = share * m.values(run.step) / longest(m, run)
    ahead = [(q - prompts[0]) @ m.values(p) for q in prompts]
    return m.all_of(*(m.at_most((k + more) * least, ahead[k]) for k in range(1, 17)))
