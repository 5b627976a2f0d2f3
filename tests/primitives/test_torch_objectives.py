"""Relaxed objectives agree with the conclusions that they stand in for, or are of one order."""

import functools

import numpy as np
import pytest

from attsvm.exact import ExactData, separate
from attsvm.losses import LOSSES
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import LOCAL_TRAP, towards_solution
from attsvm.primitives.torch_objectives import (
    constraints,
    descent_at_rest,
    distance,
    elsewhere,
    negative_gradient,
    solution,
)
from attsvm.risk import gradient_w
from attsvm.svm import att_svm
from attsvm.theory.declaration.judge import glance
from attsvm.theory.declaration.verdict import Truth
from attsvm.theory.instance import codec
from attsvm.theory.packs.packs import find_claims, load_packs
from attsvm.theory.run.examining import examine_case
from attsvm.theory.run.tally import Tally
from attsvm.theory.search import draw, record_moves
from attsvm.theory.search.float_frame import Frame
from properties._support.published_data import gaussian_protocol
from properties._support.small_runs import NOT_ALIGNED, TWO_TOKENS
from properties.mm._support.prompt_instances import SECOND_TRAPPED, TRAPPED, TWO_KEYS, UNEVEN
from properties.tf.global_initial_gradient import CROWDED, OVERTAKEN
from tests.late import Late

torch = Late("torch")

SHIPPED = find_claims(load_packs())
STANDING = [c for c in SHIPPED if c.relaxed is None and c.expected.truth is not Truth.REFUTED]
SINGLY = {c.id: c for c in STANDING if not c.formula.batches and c.cost <= record_moves.CHEAP}
"""Readings about records that stand and are evaluated one by one in floats."""
GUIDED = [c for c in SHIPPED if c.relaxed is not None]
BEYOND_FLOATS = {"sim/lemma-3.13:literal", "sim/lemma-3.13-hessian:literal"}
"""Their first instance refutes, by points 2^-159 apart that softmax in floats takes for one."""
TIES = {"tf/definition-1:sharp"}
"""Its strategies tie scores, which are equal in rationals and not after rounding."""
FAINT = {"mm/nonlinear-head-path:amended-2"}
"""Where attention is saturated L(p) - L_* is some 1e-19, a difference that floats round to 0."""
ELSEWHERE = BEYOND_FLOATS | TIES | FAINT
FORMULAS = {
    (c.formula.conclusion, repr(sorted(c.formula.constants.items()))): c
    for c in reversed(GUIDED)
    if c.formula.measured is None and c.id not in ELSEWHERE
}
"""Guides of claims on limits, which are measured, are compared with proofs instead, below."""
SAME = [*reversed(FORMULAS.values())]
"""Readings that say the same of other instances have one guide."""
JUMPING = {
    "tf/convex-combination:sharp-2",
    "tf/definition-1:amended",
    "tf/definition-1:literal-2",
    "tf/linear-head-one-token:sharp",
}
"""Their formulas ask which token is next or tied, and jump or bend where strategies tie them."""
HOLDING = [c for c in SAME if c.expected.truth is not Truth.REFUTED and c.id not in JUMPING]
NEARLY = {"sim/lemma-3.13:sharp": 1e-3}
"""Relative tolerances where a grid enters; 1e-5 elsewhere."""
SILENT = {
    *("mm/p-svm:amended-2", "mm/theorem-2:sharp-2", "sim/basic-2:sharp"),
    *("sim/definition-3.8:amended", "tf/nonlinear-head-several:sharp-3"),
}
"""Of up to half of their instances they say nothing, and a height of 0 stands for that."""
FAR = {
    *("mm/nonlinear-head-path:amended-1", "mm/optimal-tokens:literal-1"),
    *("mm/optimal-tokens:amended-1", "sim/basic-4:literal", "sim/basic-5:amended"),
    *("sim/basic-6:literal-1", "sim/basic-6:literal-2", "sim/basic-7:literal-1"),
    *("sim/basic-7:literal-2", "sim/fixed-head:amended-2", "sim/lemma-3.13-hessian:amended"),
    *("sim/lemma-3.13:amended", "tf/convex-combination:sharp-1", "tf/lemma-2:amended"),
}
"""Their bounds are far off, or their sides steps: the guide is flat where instances are drawn."""


def tensors(case, copies=1):
    """The instance as guides see it, in a batch of copies."""
    document = codec.encode(case)
    frame = Frame.of(document)
    return frame.tensors(torch.tensor(np.repeat(frame.row(document)[None], copies, axis=0)))


@functools.cache
def instances(name):
    """Admissible instances of a reading with heights: explicit ones, drawn ones, ensemble."""
    (claim,) = (c for c in SAME if c.id == name)
    part = claim.part("")
    tally, seen = Tally(claim, part, 0), []
    tally.pool.offer = lambda height, case: seen.append((height, case)) or False
    for case in part.examples:
        examine_case(tally, case, "explicit")
    generator = np.random.default_rng(0)
    for _ in range(2 if claim.ensemble else 0):
        examine_case(tally, claim.ensemble(generator), "ensemble")
    draw(tally, max(8 // claim.cost, 4), 0, 1, None)
    return [(h, case) for h, case in seen if np.isfinite(h)]


def test_many_statements_have_a_guide():
    assert len({c.statement_id for c in GUIDED}) >= 12


@pytest.mark.parametrize("claim", SAME, ids=lambda claim: claim.id)
def test_a_guide_is_the_height(claim):
    pairs = []
    for height, case in instances(claim.id):
        value = claim.relaxed(tensors(case, 2))
        assert value.shape == (2,)
        # products of a batch may sum in another order for each instance
        assert float(value[0]) == pytest.approx(float(value[1]), rel=1e-12, abs=1e-15)
        pairs.append((height, float(value[0])))
    heights, guides = np.array(pairs).T
    close = np.abs(heights - guides) <= NEARLY.get(claim.id, 1e-5) * np.abs(heights) + 1e-9
    assert close.mean() >= (0.5 if claim.id in SILENT else 0.9), np.array(pairs)[~close]


@pytest.mark.parametrize("claim", HOLDING, ids=lambda claim: claim.id)
def test_a_guide_has_a_gradient_that_shows_the_way(claim):
    """A small step along the gradient raises the guide wherever that has a gradient."""
    cases, raised = [case for _, case in instances(claim.id)[:12]], []
    # the guide of a true identity is rounding
    bounds = [case for case in cases if claim.conclusion(case).kind != "equality"]
    for case in bounds:
        document = codec.encode(case)
        frame = Frame.of(document)
        x = torch.tensor(frame.row(document)[None]).requires_grad_()
        value = claim.relaxed(frame.tensors(x))
        (slope,) = torch.autograd.grad(value.sum(), x)
        assert slope.isfinite().all()
        if slope.abs().max() > 1e-9:
            length = 1e-6 * (1.0 + x.detach().abs()) / slope.abs().max()
            after = claim.relaxed(frame.tensors(x.detach() + length * slope))
            raised.append(after.item() > value.item())
    assert bool(raised) == (bool(bounds) and claim.id not in FAR)
    assert sum(raised) >= 0.7 * len(raised)


def descent(run, loss="log-loss"):
    return Descent(run.data, run.start, loss)


ELSEWHERE = [
    descent(NOT_ALIGNED, "logistic-loss"),
    descent(LOCAL_TRAP),
    TRAPPED,
    SECOND_TRAPPED,
    Descent(OVERTAKEN, np.zeros((2, 2)), "correlation"),
    Descent(CROWDED, np.zeros((2, 2)), "correlation"),
    descent(TWO_TOKENS, "logistic"),
]
THERE = [
    descent(TWO_TOKENS),
    UNEVEN,
    TWO_KEYS,
    *(descent(towards_solution(np.random.default_rng(k))) for k in range(4)),
]


@pytest.mark.parametrize("case", ELSEWHERE)
def test_runs_that_are_proved_to_go_elsewhere_are_seen_to(case):
    assert elsewhere(tensors(case)) > 0
    assert elsewhere(tensors(case), towards="worst") < 0


@pytest.mark.parametrize("loss", ["logistic", "correlation", None])
def test_the_gradient_at_the_start_is_that_of_the_loss_asked_for(loss):
    case = Descent(TWO_TOKENS.data, np.full((1, 1), 0.5), "log-loss")
    gradient = gradient_w(case.data, case.start, LOSSES[loss or case.loss])
    found = descent_at_rest(tensors(case), loss)
    assert float(found[0]) == pytest.approx(-float(np.linalg.norm(gradient)), rel=1e-12)


@pytest.mark.parametrize("case", THERE)
def test_runs_that_arrive_are_seen_to(case):
    assert elsewhere(tensors(case)) < 0


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("lost", [0, 2, 4])
def test_a_run_that_leaves_the_numbers_is_nan_and_costs_the_others_nothing(lost):
    case = THERE[0]
    batch, alone = tensors(case, copies=5), elsewhere(tensors(case))
    batch.start[lost] = float("inf")
    seen = elsewhere(batch)
    assert seen[lost].isnan()
    assert (seen[np.arange(5) != lost] == alone).all()


@pytest.mark.parametrize("case", [*ELSEWHERE, *THERE])
def test_the_unrolled_descent_ends_where_the_longer_run_does(case):
    unrolled = tensors(case)
    for record in {id(r): r for r in (unrolled, getattr(unrolled, "data", unrolled))}.values():
        vars(record).update({k: v.requires_grad_() for k, v in vars(record).items() if _real(v)})
    assert elsewhere(unrolled).requires_grad
    assert elsewhere(unrolled).sign() == elsewhere(tensors(case)).sign()


def _real(value):
    return isinstance(value, torch.Tensor)


def test_the_unrolled_descent_is_steered_out_of_the_basin():
    """From data whose run arrives, ascent on the guide finds data whose run does not."""
    document = codec.encode(UNEVEN)
    frame = Frame.of(document)
    x = torch.tensor(frame.row(document)[None])
    for _ in range(60):
        x = x.requires_grad_()
        (slope,) = torch.autograd.grad(elsewhere(frame.tensors(x)).sum(), x)
        x = (x + 0.2 * slope / slope.norm()).detach()
    assert elsewhere(frame.tensors(x.requires_grad_())) > 0


@pytest.mark.parametrize("seed", range(6))
def test_the_solver_of_programmes_is_right(seed):
    data = gaussian_protocol(np.random.default_rng(seed), n=1 + seed % 3, T=4, d=5)
    exact = ExactData.of(data)
    found = separate(exact, [tied[0] for tied in exact.optimal])
    A, counted = constraints(tensors(data))
    W = att_svm(data).W
    assert found.status == "solved"
    assert float(distance(A, counted)) == pytest.approx(1 / np.linalg.norm(W), rel=1e-9)
    assert np.linalg.norm(solution(A, counted).numpy().ravel() - W.ravel()) < 1e-9 * np.abs(W).sum()


@pytest.mark.parametrize("loss", ["log-loss", "exponential", "squared", "logistic", "correlation"])
def test_coefficients_are_minus_the_gradient(loss):
    data = gaussian_protocol(np.random.default_rng(3), n=3, T=4, d=5)
    W = np.random.default_rng(4).normal(size=(5, 5))
    found = negative_gradient(tensors(data), torch.tensor(W[None]), loss)[0].numpy()
    assert found == pytest.approx(-gradient_w(data, W, LOSSES[loss]), rel=1e-9, abs=1e-14)


def rebuilt(claim, part):
    """The explicit instances of a part as batches rebuild them from their floats."""
    for case in part.examples:
        document = codec.encode(case)
        frame = Frame.of(document)
        again = frame.record(claim.instance_type, frame.row(document))
        assert codec.encode(again) == document
        yield again


@pytest.mark.parametrize("id", sorted(SINGLY))
def test_records_that_are_screened_one_by_one_look_violated_where_the_judge_says_so(id):
    claim, told = SINGLY[id], 0
    for name in ("", *(s.name for s in claim.siblings)):
        part = claim.part(name)
        for case in rebuilt(claim, part):
            slack = claim.conclusion(case, **part.parameters)
            if slack.kind != "unknown":
                height = glance(part.formula, part.parameters, case)
                assert height >= 1.0 if slack.violated else height <= 1.0 + 1e-9
                told += 1
    assert told > 0
