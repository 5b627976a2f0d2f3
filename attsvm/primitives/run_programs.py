"""Records of descent as programs of the checker: their values, their witnesses, what is claimed.

The functions that these programs call are in `attsvm.primitives.run_checker`. Witnesses are the
multipliers of solutions and a number of steps; the checker proves whatever it uses.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from flint import arb, ctx, fmpq_mat

from attsvm._types import Array
from attsvm.data import AttentionData
from attsvm.errors import NotExpressible, present
from attsvm.exact import ExactData, rationals, separate
from attsvm.exact.traps import is_stationary_start
from attsvm.limits.proofs import PRECISIONS
from attsvm.primitives.att_svm import exact_constraints, flat
from attsvm.primitives.descent import Descent, Factored, Keys
from attsvm.primitives.growth_rates import proved_limit
from attsvm.primitives.limit_certificates import short_step
from attsvm.primitives.losses import SLOPED
from attsvm.primitives.self_attention import SelfAttention
from attsvm.primitives.sentences import Sentences
from attsvm.primitives.steps import Stepped
from attsvm.theory.arithmetic.entries import Values
from attsvm.theory.arithmetic.namespace import Proposition, Relation
from attsvm.theory.arithmetic.programs import Programs, exact_value, literal, nested

_F = TypeVar("_F", bound=Callable[..., Relation])

CHECKER = "attsvm.primitives.claim_checker"
"""The module with the conditions on runs of the checker."""

TARGETS = {"optimal": "target", "worst": "low", "opposite": "opposite"}
"""Names of the max-margin solutions for the optimal tokens, for those of lowest score, and minus
the first one."""


def write(m: Programs, case: Values) -> None:
    """Add the values of a record of attention to a program, with its max-margin solutions.

    Raises:
        NotExpressible: the record is of another type.
    """
    if not isinstance(getattr(case, "data", case), AttentionData):
        raise NotExpressible(f"a record of the type {type(case).__name__}")
    m.sources.add(CHECKER)
    data = case if isinstance(case, AttentionData) else case.data
    exact = ExactData.of(data)
    m.lines["data"] = _data(m, case, data)
    if hasattr(case, "loss"):
        m.lines["loss"] = repr(case.loss)
    if isinstance(case, Descent):
        inputs, start = case.inputs, nested(case.start.tolist())
        turned = {Keys: "column({})", SelfAttention: "transposed({})"}.get(type(inputs), "{}")
        m.lines["start"] = turned.format(start)
        m.lines["step"] = literal(exact_value(short_step(data, case.loss, case.step)))
        if isinstance(inputs, Factored):
            del m.lines["start"]
            m.lines["K"], m.lines["Q_"] = (nested(x.tolist()) for x in case.start)
    elif isinstance(getattr(case, "case", None), Descent):  # a run and the length of its steps
        m.lines["start"] = f"column({nested(case.case.start.tolist())})"
    elif isinstance(case, Stepped) and hasattr(case, "loss"):
        m.lines["start"] = nested(case.W.tolist())
        m.lines["step"] = literal(exact_value(short_step(data, case.loss, case.step)))
    soft = getattr(case, "soft", case)
    if hasattr(soft, "move"):  # the rival and the price of a soft margin
        m.lines["move"], m.lines["C"] = nested(soft.move.tolist()), literal(exact_value(soft.C))
    if hasattr(case, "sequence"):
        m.lines["sequence"] = str(case.sequence.tolist())
    m.lines["size"] = str(data.d**2)
    m.lines["target"] = least("data.optimal", exact, _chosen(exact, "optimal"))
    m.lines["opposite"] = "target and [-x for x in target]"
    m.lines["low"] = least("data.worst", exact, _chosen(exact, "worst"))


def _data(m: Programs, case: Values, data: AttentionData) -> str:
    """Return the inputs of a record as an expression."""
    inputs = getattr(case, "inputs", None)
    if isinstance(inputs, SelfAttention):
        for name in ("tokens", "values", "labels"):
            m.lines[name] = nested(getattr(inputs, name).tolist())
        m.lines["causal"] = str(inputs.causal)
        return "self_attention(tokens, values, labels, causal)"
    if isinstance(inputs, Sentences):
        m.lines["embeddings"] = nested(inputs.embeddings.tolist())
        sentences = np.asarray(inputs.sentences).tolist()
        return f"predictions(embeddings, {sentences}, {inputs.whole})"
    if isinstance(inputs, Keys):
        return f"prompted({nested(inputs.X.tolist())}, {nested(inputs.scores.tolist())})"
    X = nested([x[there].tolist() for x, there in zip(data.X, data.present, strict=True)])
    Z = nested(data.Z.tolist())
    if data.scores is None:
        y, v = present(data.y, "the labels"), present(data.v, "the head")
        return f"labelled({X}, {Z}, {nested(y.tolist())}, {nested(v.tolist())})"
    rows = zip(data.scores, data.present, strict=True)
    return f"Data({X}, {Z}, {nested([row[there].tolist() for row, there in rows])})"


def multipliers(exact: ExactData, chosen: list[int]) -> str:
    """Return multipliers that prove the max-margin solution of tokens, or that there is none."""
    answer = separate(exact, chosen)
    return nested([] if answer is None else list(answer.duals))


def least(chosen: str, exact: ExactData, tokens: list[int]) -> str:
    """Return an expression for the max-margin solution; `chosen` is one for the tokens."""
    return f"least(rows(data, {chosen}), {multipliers(exact, tokens)}, size)"


def target_exists(m: Programs, case: Values, towards: str = "optimal", **_: object) -> Proposition:
    """Return the claim, false if there is none, that a max-margin solution has a direction.

    Raises:
        NotExpressible: there is one, so that this claim would not show a refutation.
    """
    write(m, case)
    if has_target(case, towards):
        raise NotExpressible("a limit of which the checker has no proof")
    return Proposition(f"fact(has_direction({TARGETS[towards]}))", CHECKER)


def has_target(case: Values, towards: str) -> bool:
    """Return whether there is a solution, and it is not 0."""
    exact = ExactData.of(case if isinstance(case, AttentionData) else case.data)
    solved = separate(exact, _chosen(exact, towards))
    return solved is not None and solved.status == "solved"


def _chosen(exact: ExactData, towards: str) -> list[int]:
    if towards not in TARGETS:
        raise NotExpressible(f"the target {towards}")
    if towards == "worst":
        return [row.index(min(row)) for row in exact.gamma]
    return [tied[0] for tied in exact.optimal]


def converges(
    m: Programs,
    case: Values,
    towards: str = "optimal",
    *,
    own: bool = True,
    sides: bool = False,
    turned: bool = False,
) -> Proposition:
    """Return that descent of the record converges in direction to a max-margin solution.

    Args:
        m: the program.
        case: the record.
        towards: the name of the solution.
        own: whether the claim is about the descent of the record, and not about some other one.
        sides: whether the transpose of the solution will do as well.
        turned: whether it is the transpose that is claimed.

    Raises:
        NotExpressible: the checker has no proof of its own.
    """
    write(m, case)
    if not has_target(case, towards):
        return target_exists(m, case, towards)
    if not own:
        if towards == "optimal" and _moves_aside(case):
            return Proposition("some_start_reaches(data, loss, target)", CHECKER)
        raise NotExpressible("a run that is not that of the record")
    if isinstance(case, Descent) and isinstance(case.inputs, Factored):
        if any(x.any() for x in case.start):
            return _factors_apart(case, towards)
        return Proposition("factors_converge(K, Q_)", CHECKER)
    name = TARGETS[towards]
    try:
        m.lines["limit"] = limit(case)
    except NotExpressible:
        path = proved_limit(case.data, case.W, case.loss, case.step)
        if path is None or path.certificate.reason != "trap":
            raise
        text = f"turns_to(data, start, loss, step, {path.certificate.step}, {name})"
        return Proposition(text, CHECKER)
    transpose = f"along(limit, flat(transposed(matrix({name}))))"
    if sides:
        return Proposition(f"any_of(along(limit, {name}), {transpose})", CHECKER)
    if turned:
        return Proposition(transpose, CHECKER)
    return Proposition(f"along(limit, {name})", CHECKER)


def _factors_apart(case: Descent, towards: str) -> Proposition:
    """Return the false claim that K Q^T reaches the solution, if only K Q^T stays semidefinite.

    Raises:
        NotExpressible: this does not apply to the factors.
    """
    exact, (K, Q) = ExactData.of(case.data), case.start
    answer = separate(exact, _chosen(exact, towards))
    T = np.array([[float(arb(x)) for x in row] for row in present(answer, "a solution").W])
    sign = 1 if (K == Q).all() else -1
    apart = (T != T.T).any() or np.linalg.eigvalsh(sign * T)[0] < 0
    if towards != "optimal" or not ((sign * Q == K).all() and apart and case.data.T <= 2):
        raise NotExpressible("descent on factors K and Q that are not 0")
    return Proposition("factors_reach(data, K, Q_, target)", CHECKER)


def _moves_aside(case: Values) -> bool:
    """Return whether no start leads to the solution, for the reason of `some_start_reaches`."""
    exact = ExactData.of(case.data)
    moving = [i for i, row in enumerate(exact.gamma) if len(set(row)) > 1]
    simple = all(len(set(exact.gamma[i])) == 2 and len(exact.optimal[i]) == 1 for i in moving)
    chosen = _chosen(exact, "optimal")
    A = [a for (i, _), a in exact_constraints(exact, chosen).items() if i in moving]
    answer = separate(exact, chosen)
    if not A or not simple or case.loss not in SLOPED or answer is None:
        return False
    return bool(fmpq_mat([*A, flat(answer.W)]).rank() > fmpq_mat(A).rank())


def limit(case: Values, *, moving: bool = False) -> str:
    """Return the direction of the run of a record, as an expression with its witness.

    A run that stays at its start has the direction of the start, unless it has to be `moving`.

    Raises:
        NotExpressible: neither a trap nor a basin proves it.
    """
    factors = isinstance(getattr(case, "inputs", None), Factored)
    if factors or not hasattr(case, "loss") or not hasattr(case, "step"):
        raise NotExpressible(f"the run of a record of the type {type(case).__name__}")
    if is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss):
        if moving:
            raise NotExpressible("a run that stays at its start")
        return "stays(data, start, loss)"
    return run_along("data, start, loss, step", case.data, case.W, case.loss, case.step)[0]


def run_along(names: str, data: AttentionData, W: Array, loss: str, step: float) -> tuple[str, str]:
    """Return the direction of a run as an expression of data, start, loss and step, by their names.

    Also return the multipliers of the solution in this direction.

    Raises:
        NotExpressible: neither a trap nor a basin proves it.
    """
    for bits in PRECISIONS:
        with ctx.workprec(bits):
            path = proved_limit(data, W, loss, step)
        if path is not None and path.certificate.settles and path.certificate.reason != "cone":
            end = path.certificate
            weights = multipliers(path.data, end.selected)
            end_of = f"steps={end.step}, multipliers={weights}, by={end.reason}"
            return f"ends_along({names}, {end_of})", weights
    raise NotExpressible("a run whose limit is shown by neither a trap nor a basin")


def with_loss(m: Programs, case: Values, loss: str) -> Proposition:
    """Return that descent on another loss converges to the limit of the run, in direction.

    Raises:
        NotExpressible: a limit is not proved.
    """
    write(m, case)
    m.lines["limit"] = limit(case, moving=True)
    m.lines["other_step"] = literal(exact_value(short_step(case.data, loss, case.step)))
    names = f"data, start, {loss!r}, other_step"
    m.lines["other"], _ = run_along(names, case.data, case.W, loss, case.step)
    return Proposition("along(other, limit)", CHECKER)


def without_least(
    m: Programs, case: Values, rest: AttentionData, which: str, text: str
) -> Proposition:
    """Return a condition on the directions `limit` and `other` with and without least scores.

    Raises:
        NotExpressible: other tokens are left out, or a limit is not proved.
    """
    if which != "low":
        raise NotExpressible("data that keep the tokens of least score alone")
    write(m, case)
    m.lines["limit"] = limit(case, moving=True)
    m.lines["rest"] = "without_least(data)"
    m.lines["other_step"] = literal(exact_value(short_step(rest, case.loss, case.step)))
    names = "rest, start, loss, other_step"
    m.lines["other"], _ = run_along(names, rest, case.W, case.loss, case.step)
    return Proposition(text, CHECKER)


def shares_fade(m: Programs, case: Values, which: str = "others") -> Proposition:
    """Return that the shares in the gradient of the tokens of margin above 1 tend to 0.

    Raises:
        NotExpressible: the claim is about other tokens, or the limit is not proved.
    """
    if which != "others":
        raise NotExpressible(f"the shares of the tokens {which}")
    write(m, case)
    names = "data, start, loss, step"
    m.lines["limit"], m.lines["weights"] = run_along(names, case.data, case.W, case.loss, case.step)
    m.lines["idle"] = "others(data, target)"
    return Proposition("fact(not any(t in lasting(data, limit, weights) for t in idle))", CHECKER)


def margins_end(m: Programs, case: Values, of: str, whose: str) -> Proposition:
    """Return that the least, mean or largest margin of a run ends above 0.

    Raises:
        NotExpressible: the limit of the run is not proved, or the run stays at its start.
    """
    write(m, case)
    towards = {"optimal": "optimal", "worst": "worst"}[whose]
    if (of, whose) == ("least", "optimal") and not has_target(case, towards):
        return Proposition("fact(target is not None)", CHECKER)
    m.lines["limit"] = limit(case, moving=True)
    chosen = {"optimal": "data.optimal", "worst": "data.worst"}[whose]
    joined = {"least": "min(margins)", "mean": "sum(margins)", "largest": "max(margins)"}[of]
    m.lines["margins"] = f"[inner(a, limit) for a in rows(data, {chosen})]"
    return Proposition(f"below(0, {joined})", CHECKER)


def margin_converges(m: Programs, case: Values, of: str = "largest") -> Proposition:
    """Return that the least or largest margin converges: it is 0 at the limit of the direction.

    Raises:
        NotExpressible: the limit of the run is not proved, or the run stays at its start.
    """
    write(m, case)
    m.lines["limit"] = limit(case, moving=True)
    joined = "max" if of == "largest" else "min"
    m.lines["margins"] = "[inner(a, limit) for a in rows(data, data.optimal)]"
    return Proposition(f"equal({joined}(margins), 0)", CHECKER)


def diverges(m: Programs, case: Values, *, own: bool = True) -> Proposition:
    """Return that the norm of the descent of the record tends to infinity.

    Raises:
        NotExpressible: the checker has no proof of its own.
    """
    write(m, case)
    if all(len(set(row)) == 1 for row in ExactData.of(case.data).gamma):
        return Proposition("fact(bool(data.moving.X))", CHECKER)  # else no start moves
    if not own or not isinstance(case, Descent):
        raise NotExpressible("a run that is not that of the record")
    return Proposition("diverges(data, start, loss)", CHECKER)


def rises(m: Programs, case: Values, of: str = "least", sign: int = 1) -> Proposition:
    """Return that a step of descent raises every margin, or the mean margin, times the sign."""
    write(m, case)
    m.lines["A"] = "rows(data, data.optimal)"
    return Proposition(
        f"rises(data, start, loss, {'A' if of == 'least' else '[mean(A)]'}, {sign})", CHECKER
    )


def moves(m: Programs, case: Values) -> Proposition:
    """Return that the gradient at the start is not 0."""
    write(m, case)
    return Proposition("fact(not is_stationary(data, start, loss))", CHECKER)


def leaves_zero(m: Programs, case: Values, **_: object) -> Proposition:
    """Return that descent does not stay at 0, which has no direction.

    Raises:
        NotExpressible: it does not stay there, so that this claim would not show a refutation.
    """
    write(m, case)
    stays = is_stationary_start(ExactData.of(case.data), rationals(case.W), case.loss)
    if case.start.any() or not stays:
        raise NotExpressible("the limit of a run that leaves 0")
    return Proposition("fact(any(flat(start)) or not is_stationary(data, start, loss))", CHECKER)


def support(m: Programs, case: Values, text: str) -> Proposition:
    """Return a condition on the margins under the solution; that there is one if there is none."""
    write(m, case)
    exact = ExactData.of(case if isinstance(case, AttentionData) else case.data)
    answer = separate(exact, _chosen(exact, "optimal"))
    if answer is not None and answer.status != "solved":
        return Proposition("fact(target is not None)", CHECKER)
    m.lines["margins"] = "[inner(a, target) for a in rows(data, data.optimal)]"
    return Proposition(text, CHECKER)


def solvable_for(m: Programs, data: AttentionData, choices: Iterable[Iterable[int]]) -> Proposition:
    """Return that there is a solution for a choice of tokens, the first one that has none.

    Raises:
        NotExpressible: all choices have a solution.
    """
    exact = ExactData.of(data)
    for chosen in choices:
        tokens = [kept.index(int(t)) for kept, t in zip(exact.kept, chosen, strict=True)]
        answer = separate(exact, tokens)
        if answer is not None and answer.status != "solved":
            write(m, data)
            return Proposition(f"fact({least(str(tokens), exact, tokens)} is not None)", CHECKER)
    raise NotExpressible("the conclusion that every choice of tokens has a solution")


def on_data(m: Programs, case: Values, text: str) -> Proposition:
    """Return a condition on the values of a record."""
    write(m, case)
    return Proposition(text, CHECKER)


def target_is_there(m: Programs, case: Values, **constants: object) -> Proposition:
    """Return the claim, false if there is none, that a solution exists, for claims that need one.

    Raises:
        NotExpressible: there is one, so that this claim would not show a refutation.
    """
    write(m, case)
    if has_target(case, "optimal"):
        raise NotExpressible("a conclusion about a solution that exists")
    return Proposition("fact(target is not None)", CHECKER)


def same_without_least(m: Programs, case: Values, which: str = "low") -> Proposition:
    """Return that the solution exists, and is the same without the tokens of least score.

    Raises:
        NotExpressible: other tokens are left out.
    """
    if which != "low":
        raise NotExpressible("data that keep the tokens of least score alone")
    write(m, case)
    exact = ExactData.of(case if isinstance(case, AttentionData) else case.data)
    scores = [[g for g in row if g > min(row) or g == max(row)] for row in exact.gamma]
    X = [
        [x for x, g in zip(X, row, strict=True) if g > min(row) or g == max(row)]
        for X, row in zip(exact.X, exact.gamma, strict=True)
    ]
    rest = ExactData(X, exact.Z, scores, [[*range(len(row))] for row in scores])
    m.lines["rest"] = "without_least(data)"
    weights = multipliers(rest, _chosen(rest, "optimal"))
    m.lines["alone"] = f"least(rows(rest, rest.optimal), {weights}, size)"
    return Proposition("fact(target is not None and target == alone)", CHECKER)


def all_support(m: Programs, case: Values, where: str = "Att-SVM") -> Proposition:
    """Return that all tokens support the Att-SVM, or all solutions for choices of tokens."""
    if where == "Att-SVM":
        return on_data(m, case, "fact(all_tight(data, target))")
    write(m, case)
    return Proposition(f"all_of({all_solved(m, case)}, {supported_everywhere(m, case)})", CHECKER)


CHOICES = 64
"""Maximum number of choices of one token an input in a program."""


def local_solutions(m: Programs, case: Values) -> str:
    """Return the name of the solutions for all choices of one token an input.

    Raises:
        NotExpressible: there are too many.
    """
    write(m, case)
    exact = ExactData.of(case if isinstance(case, AttentionData) else case.data)
    if math.prod(map(len, exact.X)) > CHOICES:
        raise NotExpressible(f"a condition on more than {CHOICES} choices of tokens")
    choices = itertools.product(*(range(len(X)) for X in exact.X))
    weights = ", ".join(multipliers(exact, [*chosen]) for chosen in choices)
    m.lines["local"] = f"local_svms(data, [{weights}])"
    return "local"


def only_optimal(m: Programs, case: Values) -> Proposition:
    """Return that a choice is locally optimal exactly if it is optimal."""
    same = "locally_optimal(data, c, w) == is_optimal(data, c)"
    return Proposition(f"fact(all({same} for c, w in {local_solutions(m, case)}))", CHECKER)


def all_solved(m: Programs, case: Values) -> str:
    """Return that the programme of each choice of one token an input has a solution."""
    return f"fact(all(w is not None for _, w in {local_solutions(m, case)}))"


def supported_everywhere(m: Programs, case: Values) -> str:
    """Return that all other tokens have margin 1 under each of these solutions."""
    local = local_solutions(m, case)
    return f"fact(all(w is None or set(margins_of(data, c, w)) <= {{1}} for c, w in {local}))"


def computed(
    m: Programs,
    case: Values,
    names: Iterable[str],
    conclusion: Callable[..., Relation],
    **own: object,
) -> Relation:
    """Return a conclusion that computes with m from these arrays of a record and from constants."""
    m.sources.add(CHECKER)
    for name in names:
        m.input_value(name, getattr(case, name))
        m.place(getattr(case, name), name)
    return conclusion(m, case, **own)


def traces(conclusion: _F) -> _F:
    """Give a conclusion the form for the checker that `traced` writes."""

    def checked(m: Programs, case: Values, **constants: object) -> Relation:
        return traced(m, case, conclusion, **constants)

    conclusion.checked = checked  # type: ignore[attr-defined]
    return conclusion


def traced(
    m: Programs, case: Values, conclusion: Callable[..., Relation], **own: object
) -> Relation:
    """Return a conclusion that computes with m from tokens, queries, scores, start and solution."""
    write(m, case)
    exact = ExactData.of(case if isinstance(case, AttentionData) else case.data)
    for name, parts in (("X", exact.X), ("Z", exact.Z), ("scores", exact.gamma)):
        m.lines[name] = f"reals(data.{name})"
        for i, part in enumerate(parts):
            m.place(part, f"{name}[{i}]")
    for name, value in (
        ("W", getattr(case, "start", getattr(case, "W", None))),
        ("V", getattr(getattr(case, "soft", case), "move", None)),
    ):
        if value is not None:
            m.input_value(name, value)
            m.place(value, name)
    answer = separate(exact, _chosen(exact, "optimal"))
    if answer is not None and answer.status == "solved":
        m.lines["solution"], m.lines["A"] = "reals(target)", "reals(rows(data, data.optimal))"
        m.place([x for row in answer.W for x in row], "solution")
        m.place([*exact_constraints(exact).values()], "A")
    constants = {k: m.exact(c) if str(c)[:1].isdigit() else c for k, c in own.items()}
    return conclusion(m, case, **constants)
