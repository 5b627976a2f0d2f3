"""Facts of linked proofs on instances of their readings, and propositions against formulas.

A conclusion about runs or records declares its propositions, a second text beside its formula. Both
are compared on instances of each reading and of its siblings, which make the formula false.
"""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from flint import arb

from attsvm.data import AttentionData
from attsvm.primitives import descent_letters, hypotheses
from attsvm.primitives import programme_letters as letters
from attsvm.primitives.att_svm import exact_att_svm
from attsvm.primitives.descent import Descent, Factored, Keys
from attsvm.primitives.heads import ACTIVATIONS
from attsvm.primitives.loss_hypotheses import sloped
from attsvm.primitives.sentences import Sentences
from attsvm.theory.arithmetic import BALLS
from attsvm.theory.declaration.judge import decided
from attsvm.theory.instance import codec
from attsvm.theory.proof.facts import Sequent, proof
from attsvm.theory.proof.linked import used
from attsvm.theory.proof.rules import fact_of_reading
from attsvm.theory.proof.terms import VECTOR, App, Function, Term
from attsvm.theory.run.sampling import sample
from properties._support import small_runs, token_letters
from properties._support.cones import CONE, LARGE, LONG, NEAR, Local
from properties._support.factor_descent import LEANS, NOWHERE, OPPOSED
from properties.mm._support.attended import Attended
from properties.mm._support.prompt_descent import properly_started
from properties.mm._support.prompt_limits import DIRECTION_FROM_PROPER, DIVERGENCE_FROM_PROPER
from properties.mm._support.token_selections import (
    DUPLICATE,
    ONE_TOKEN,
    Rival,
    Selection,
    chosen,
)
from properties.mm.normalised_descent.paced_runs import Paced
from properties.mm.theorem_2.prompt_limits import Tilted
from properties.mm.w_p_equivalence.models import Weighted
from properties.sim import PRINTED
from properties.sim._support import entry_loss
from properties.sim._support.dropping import mask, named
from properties.sim._support.redundant_tokens import Dropped
from properties.sim._support.self_attention import ORTHOGONAL, SIDEWAYS
from properties.sim.hyperplanes.instances import CONFLICT
from properties.sim.low_score_tokens import NO_LOW_SUPPORT
from properties.sim.low_score_tokens.left_out import low
from properties.sim.often_unsolvable import pair_letters
from properties.sim.often_unsolvable.contradictions import Table, enumerated, probability
from properties.tf._support.descent_steps import Step
from properties.tf._support.regularisation_paths import (
    FALLING_AT_BEST,
    FLAT_BELOW,
    FLAT_SLOPE,
    PUBLISHED,
    Path,
)
from properties.tf.generalised_svm.head_descent import BOUNDED_CURVATURE, KINKED_PAIR, HeadSteps
from properties.tf.generalised_svm.kept_tokens import KeptTokens
from properties.tf.generalised_svm.log_growth import Hidden, Several
from properties.tf.global_initial_gradient.first_steps import Step as FirstStep
from properties.tf.lemma_2_limit.points import Point
from properties.tf.theorem_2.near_optimal_points import Candidate, defined
from properties.tf.vanishing_regularisation.penalised_minima import Path as Penalised
from tests.searching import nightly
from tests.theory.proof import (
    att_svm_model,
    cone_model,
    descent_model,
    factor_model,
    head_model,
    pair_model,
    programme_model,
    rest_model,
    separation_model,
)
from tests.theory.proof.confirming import about_nothing
from tests.theory.proof.evaluation import Model, evaluated, instance_model, stretched
from tests.theory.proof.readings import LINKED_CLAIMS, chain, says
from tests.theory.proof.test_linked_proofs import AGREE


def of_formula(claim):
    """Whether a reading is a formula over variables."""
    return claim.formula.measured is None and claim.formula.batches


def of_run(claim):
    """Whether a reading is on runs."""
    return claim.formula.measured is not None and claim.instance_type is Descent


FORMULAS = {claim.proof: claim for claim in LINKED_CLAIMS.values() if of_formula(claim)}
"""One reading over variables for each linked proof that has any."""
BASIN = {"symbolic.basins:prove", "symbolic.basins:prove_attention"}
"""Proofs that `test_linked_proofs` evaluates."""
OTHER_LETTERS = {"sim/orientation", "sim/printed-loss", "sim/self-attention"}
"""Statements whose letters W, scores or loss stand for others than those of the run."""
RUNS = {
    claim.id if claim.statement_id in OTHER_LETTERS else claim.proof: claim
    for claim in LINKED_CLAIMS.values()
    if (claim.proof not in BASIN or claim.statement_id in OTHER_LETTERS) and of_run(claim)
}
"""One reading on runs for each linked proof that has any, and all readings in other letters."""
RECORDS = {
    name: claim
    for name, claim in LINKED_CLAIMS.items()
    if claim.formula.measured is None and not claim.formula.batches
}
"""All readings on other records, such as data, choices of tokens, and points."""
DECLARED = {
    name: claim
    for name, claim in RECORDS.items()
    if claim.instance_type in (Attended, Descent, Rival, Selection)
    and claim.formula.conclusion.proposition.__module__ != letters.__name__
}
"""Readings whose propositions are declared for other constants as well."""
LIMITS = {
    name: claim
    for name, claim in LINKED_CLAIMS.items()
    if claim.instance_type in (FirstStep, Local, Path, Penalised)
    or claim.id == "tf/svm-rank:amended"
}
"""All readings on limits of minimisers over balls, on descent from cones or after a step, and on
nuclear norms."""
TABLES = {name: claim for name, claim in LINKED_CLAIMS.items() if claim.instance_type is Table}
"""All readings on sentences of two words."""
EVALUATED = {**FORMULAS, **RUNS, **RECORDS, **LIMITS, **TABLES}
GIVEN = {*RECORDS, *LIMITS, *TABLES}
"""Readings for whose facts more values of letters are tried."""
GIVEN_NEVER = {"mm/theorem-2:sharp-2", "mm/v-svm:sharp-2"}
"""Readings with a setting that no instance confirms; see `NEVER`."""
IN_LEAD, NO_RIVAL = "no start has a margin of at most 0", "all instances have rivals"
FAR_OUT = "runs from the cone start far out and grow slowly"
NEVER = {
    "sim/printed-loss:amended-3": (2, IN_LEAD),
    # also: after 400 steps k is still below 2 (1 + slack^2)/(e floor b), with the largest lag
    "sim/printed-loss:sharp": (4, IN_LEAD),
    "symbolic.sim.pair_facts:prove_pair": (9, "the margins of 400 steps stay below a bound"),
    "symbolic.sim.three_facts:prove_three": (3, "the norms of these steps stay below B/off"),
    "symbolic.sim.basic_7:prove": (56, "impossible: no token is at or above the mean"),
    "symbolic.tf.where_stationary:prove": (6, "a factor of b is 0 only up to rounding"),
    "mm/assumption-b:sharp-2": (3, "impossible, as p' has margins of at least 1 and is p(alpha)"),
    "mm/joint-svm:sharp-2": (1, "impossible, as there are rivals: <p', p'> > <p', p_S>"),
    "mm/theorem-2:sharp-2": (7, "its hypotheses exclude the choices of the last two claims"),
    "mm/v-svm:sharp-2": (12, "all instances have rows"),
    "sim/definition-3.8:amended": (1, "it says something of each rival if there are none"),
    "sim/few-support-tokens:amended": (12, "impossible, as constraints that carry are independent"),
    "sim/few-support-tokens:sharp": (12, "impossible, as constraints that carry are independent"),
    # also: that no rival of the largest score supports, though none is locally optimal
    "tf/all-local-unique:sharp": (2, "impossible: a score above the largest one"),
    "tf/benign-landscape:amended-2": (3, "impossible: a score that is attended beside a rival"),
    "tf/definition-2:sharp": (6, NO_RIVAL),
    "tf/generalised-svm:amended-1": (2, "all tokens are kept, so no rival is left"),
    "tf/global-initial-gradient:amended": (3, "impossible: the sum of the A_j is 0"),
    "tf/local-convergence:amended": (2, FAR_OUT),
    "tf/local-convergence:sharp": (2, FAR_OUT),
    "mm/general-data:amended": (2, FAR_OUT),
}
"""Readings with facts that no instance confirms: their number at most, and the reason."""

TRAINED = {"sim/figure-2:amended-2"}
"""Readings that train on sentences; the other readings on sentences train nothing."""
LEFT_OUT = {
    "sim/token-sparsity:literal-3": lambda data: mask(data, named(data, "others")),
    "sim/low-score-tokens:amended-1": low,
}
"""The tokens without which a reading takes the programme, as a mask."""
ALIKE = Descent(
    step=1.0,
    inputs=Sentences(np.array([[1.0, 20], [-1, 20], [0, 16]]), np.array([[0, 1, 0]]), whole=True),
    start=np.zeros((2, 2)),
)
"""Two problems whose hyperplanes (w, c) = (-+1/2, 1/8; 5/2) form an acute angle."""
LOWERS = "sim/printed-loss:amended-5"
LEVEL = Local(
    AttentionData.of(
        [[[0, 0], [-1, 0], [-3, 1], [-3, -1]]], [[1, 0]], scores=[[0.0, -1.0, 0.0, 1.0]]
    ),
    np.array([0]),
    np.array([[48.0, 0.0], [1.0, 0.0]]),
    "log-loss",
)
"""A start in the cone of a choice; of two other tokens one scores the same, and one more."""


def one_token(name, h=1.0):
    """The instance with one token, which holds all attention, at x = y = 0; other entries are 1."""
    claim, values = FORMULAS[name], {"x": 0.0, "y": 0.0, "R": 4.0, "h": h}
    arrays = {x: one.axes for x, one in claim.formula.variables.items() if x not in ("n", "D")}
    known = {x: values.get(x, 1.0) + np.zeros([1] * len(axes)) for x, axes in arrays.items()}
    return claim.instance_type(**{x: one if one.ndim else float(one) for x, one in known.items()})


SINGLE = FirstStep(
    AttentionData.of([[[1, 0], [0, 0]]], [[1, 0]], y=[1], v=[1, 0]),
    np.diag([-1.0, 0.0]),
    "correlation",
    1.0,
)
"""A first step on one rival to the margin 0, for a loss with b_i G_i = l(second) - l(best)."""
REST = "symbolic.tf.where_stationary:prove"
ALONE = AttentionData.of([[[1]]], [[1]], scores=[[0]])
"""Data without rivals."""
OF_THREE = "symbolic.sim.three_facts:prove_three"
"""A proof whose constants are exponentials of exponentials, which overflow for long tokens."""
THREE_TOKENS = [
    Descent.of([tokens], [[1, 0]], [start, [0.25, 0]], scores=[[2, 1, 0]])
    for tokens in (
        [[0, 0], [-1, 0], [-1, -1]],
        [[0, 0], [-1, 0], [0.5, -1]],
        [[0, 0], [-1, -0.5], [-0.5, -1]],
    )
    for start in ([0, 0], [-0.5, 0])
]
THREE_TOKENS += [
    Descent.of([[[0, 0], [-1, 0], [0.5, -1]]], [[1, 0]], start, scores=[[2, 1, 0]])
    for start in ([[1.5, 0], [-0.5, 0]], [[-4, 0], [2.625, 0]])
]
"""Runs whose rivals have two scores, at acute and obtuse angles."""
SPECIAL = {
    "mm/assumption-b:sharp-2": [ONE_TOKEN, DUPLICATE],
    "sim/low-score-tokens:amended-1": [ALONE],
    "sim/token-sparsity:literal-3": [ALONE],
    REST: rest_model.CASES,
    OF_THREE: THREE_TOKENS,
    "symbolic.sim.stability:prove_squared": [one_token("symbolic.sim.stability:prove_squared", -1)],
    "tf/local-convergence:amended": [LEVEL],
    **{
        f"symbolic.sim.{name}": [one_token(f"symbolic.sim.{name}")]
        for name in (
            *("lemma_3_13:prove", "lemma_3_13:prove_hessian", "lemma_3_13:prove_published_hessian"),
            *("lemma_3_13_l2:prove", "lemma_3_13_log_loss:prove"),
        )
    },
    "tf/local-convergence:sharp": [LEVEL],
    "mm/general-data:amended": [LEVEL],
    "sim/hyperplanes:amended": [ALIKE],
    "sim/hyperplanes:sharp-2": [ALIKE],
    "tf/global-initial-gradient:amended": [SINGLE],
    LOWERS: [replace(case, loss=PRINTED) for case in (ORTHOGONAL, SIDEWAYS)],
}
"""Instances at which the assumptions of a conclusion hold, where drawn ones miss them."""
LED = Descent.of([[[1, 0], [0, 0]]], [[1, 0]], [[-1, 0], [0, 0]], y=[1], v=[1, 0])
"""A run from a start in the basin at which the one rival has the larger logit."""
CREEPING = replace(
    Descent.of(
        [[[1, 0], [0, 0]], [[0, 1], [0, 0]]], [[1, 0], [0, 1]], np.zeros((2, 2)), y=[1, 1], v=[1, 1]
    ),
    step=2.0**-6,
)
"""A run of short steps."""
PLAIN = (LED, CREEPING, small_runs.UNEVEN_SCORES, small_runs.NOT_TIGHT)
"""More runs, for readings whose hypotheses they meet."""
LONG_RUN = 400
"""Number of steps of a run on which facts on the end are evaluated."""
SIZES = [2.0**x for x in range(-6, 41, 2)]
COUNT = 6 if nightly() else 3
"""Number of instances on which facts are evaluated; more of a reading on records."""
FEW = 24 if nightly() else 6
"""Number of instances that are drawn to compare propositions with formulas."""


def model_of_tokens(data, X):
    """The model of the tokens of all inputs, and of a matrix X."""
    tokens = [(i, t) for i in range(data.n) for t in range(data.T) if data.present[i, t]]
    functions = {
        token_letters.OF: lambda t: t[0],
        token_letters.KEY: lambda t: np.outer(data.X[t], data.Z[t[0]]).ravel(),
    }
    sets = {descent_letters.INPUT: range(data.n), token_letters.TOKEN: tokens}
    return Model(functions, sets, 2, {VECTOR: [x * X.ravel() for x in (1.0, 0.0, -0.5)]})


MODELS = {
    KeptTokens: att_svm_model.model_of_kept,
    Hidden: att_svm_model.model_of_hidden,
    Several: att_svm_model.model_of_several,
    HeadSteps: head_model.model_of,
    Candidate: descent_model.model_of_candidate,
    FirstStep: descent_model.model_of_first_step,
    Local: cone_model.model_of_local,
    Path: descent_model.model_of_path,
    Point: separation_model.model_of_point,
    Table: pair_model.model_of_table,
    Selection: programme_model.model_of,
    Rival: programme_model.model_of,
    Attended: programme_model.model_of_attended,
    Tilted: programme_model.model_of_tilted,
    Step: lambda case: model_of_tokens(case.data, case.start),
    Paced: lambda case: replace(  # one step more, as facts of a step also speak of the next one
        descent_model.model_of(case.case, steps=9, pace=case.step), steps=8, floor=1e-9
    ),
}


def model(claim, case):
    """The model of an instance; that of a run has few steps."""
    if of_formula(claim):
        return model_of_formula(claim, case)
    if claim.proof == REST:
        return rest_model.model_of_rest(case)
    if isinstance(getattr(case, "inputs", None), Factored):
        return factor_model.model_of_factors(case, steps=10)
    if of_run(claim):
        # the floor is what is left where an output and the best score cancel inside a size
        return replace(descent_model.model_for(claim, case, steps=10), floor=1e-14)
    if isinstance(case, Penalised):
        return descent_model.model_of_penalised(case, claim.proof.endswith("factored"))
    if type(case) in MODELS:
        return MODELS[type(case)](case)
    if isinstance(case, Weighted):
        run = descent_model.model_of_runs(case, claim.formula.known_constants["trained"])
        return replace(run, floor=1e-12)
    if claim.id == "tf/all-local-unique:sharp":
        return att_svm_model.model_of_single(case)
    if claim.statement_id == "tf/svm-rank":
        return att_svm_model.model_of_ranks(case)
    if claim.statement_id == "sim/few-support-tokens":
        return att_svm_model.model_of_carriers(case)
    if claim.id in LEFT_OUT:
        case = Dropped(case, LEFT_OUT[claim.id](case))
    idle = hasattr(getattr(case, "inputs", case), "whole") and claim.id not in TRAINED
    if not isinstance(case, Descent) or idle:
        return att_svm_model.model_of_programme(case)
    run = descent_model.model_for(claim, case, steps=4)
    run = replace(run, floor=1e-12)  # the rounding of the gradient's summands
    gone, gamma = low(case.data), np.where(case.data.present, case.data.gamma, np.inf)
    more = {
        letters.DROPPED: lambda j: float(gone[j]),
        letters.LEAST_SCORE: lambda i: float(gamma[i].min()),
    }
    return replace(run, functions={**run.functions, **more})


def model_of_formula(claim, case):
    """The model of an instance of a formula over variables."""
    result = instance_model(claim.formula, case)
    if claim.proof.endswith("hessian"):
        v = claim.formula.exact(case)
        entries = entry_loss.hessian(BALLS, v.A, v.x, v.h, v.b)
        numbers = np.array([[float(arb(x)) for x in row] for row in entries.tolist()])
        result.functions.update(stretched(numbers))
    return replace(result, letters={"side": [-1.0, -0.5, 0.0, 0.25, 1.0]})


def tame(case):
    """Whether exponentials stay within floats, and Gamma of theorem 2 exists."""
    if isinstance(case, Candidate):
        return case.rho <= 64 and defined(case) and sloped(case)
    if isinstance(case, Descent) and isinstance(case.inputs, Keys):
        return np.linalg.norm(case.start) <= 3
    if isinstance(case, Several):
        return case.size <= 1
    if isinstance(case, HeadSteps):
        return head_model.leads(case).max() <= 30
    if isinstance(case, Paced):
        return case.step <= 1 and np.linalg.norm(case.start) <= 6
    if isinstance(case, Local):
        spread = np.ptp(case.data.X, axis=1) @ np.abs(case.start)
        return (spread * np.abs(case.data.Z)).sum(axis=1).max() <= 300
    if isinstance(case, Point):
        return separation_model.largest_logit(case) <= 300
    if hasattr(case, "W") and hasattr(case, "Z"):
        return np.ptp(np.einsum("itd,de,ie->it", case.X, case.W, case.Z), axis=1).max() <= 300
    known = "log-loss", "correlation", "logistic-loss"
    return not isinstance(case, Weighted) or (case.step <= 1 and case.loss in known)


def slow(run):
    """Whether start and step are small enough.

    Otherwise floats cannot tell attended scores from scores of tokens, and exponentials overflow.
    """
    small = np.linalg.norm(run.W) <= 6 and run.step <= 1
    return small and (not isinstance(run.inputs, Factored) or factor_model.gentle(run))


def largest(claim, case):
    """The largest number of an instance of a formula over variables, or 5."""
    values = (getattr(case, name, 0) for name in claim.formula.variables)
    numbers = [np.ravel(x).astype(float) for x in values if not isinstance(x, str)]
    return max(5, np.abs(np.concatenate(numbers)).max())


@functools.cache
def drawn(name, part="", count=FEW):
    """Instances that are drawn from the variables of a reading, or of a sibling."""
    claim = LINKED_CLAIMS[name]
    found = sample(claim.part(part).data, count)[0]
    return [codec.decode(x, claim.instance_type) for x in found]


def instances(claim, count):
    """Examples and drawn instances that meet the hypotheses: of formulas, the smallest ones."""
    of_letters = claim.id in DECLARED
    found = []
    for size in (6, 160) if of_letters else (30, 160):
        cases = [*claim.examples[: None if of_letters else 3], *drawn(claim.id, count=size)]
        if claim.formula.conclusion in (DIRECTION_FROM_PROPER, DIVERGENCE_FROM_PROPER):
            cases = [run for run in map(properly_started, cases) if run is not None]
        near = filter(slow if of_run(claim) else tame, cases)
        if claim.proof == OF_THREE:
            near = (run for run in near if np.abs(run.data.X).max() <= 2)
        met = (x for x in near if all(h.holds(x) is True for h in claim.hypotheses))
        found = [*itertools.islice(met, None if of_formula(claim) else count)]
        if len(found) >= min(count, 6):
            break
    if of_formula(claim):
        found.sort(key=lambda case: largest(claim, case))
    return found[:count]


def left_after(facts, whole, found, tries, only=None):
    """The facts that a model does not confirm, of some; no evaluated fact may be false in it."""
    tally = evaluated(whole, found, tries=tries, facts=only)
    assert tally.false == []
    confirmed = {*tally.confirmed, *tally.reached}
    return [fact for fact in facts if fact not in confirmed], tally.open


def left_at_more_values(facts, whole, models, *, late):
    """The facts that models do not confirm at 300 values, of those on the end or of the others."""
    for found in models:
        asked = [fact for fact in facts if fact.proposition.eventually is late]
        if not asked:
            break
        facts, _ = left_after(facts, whole, found, 300, asked)
    return facts


def plain_runs(claim):
    """The runs of `PLAIN` that meet the hypotheses of a reading."""
    if not of_run(claim) or claim.statement_id == "sim/printed-loss":
        return []  # those take other labels
    return [run for run in PLAIN if all(h.holds(run) is True for h in claim.hypotheses)]


def long_models(claim, cases):
    """Models of long runs, with bounds and errors of many sizes."""
    if claim.instance_type is Local:
        found = (cone_model.model_of_local(case, steps=LONG_RUN // 4) for case in cases[:2])
    elif claim.instance_type is FirstStep:
        found = (descent_model.model_of_first_step(case, LONG_RUN) for case in (SINGLE, *cases[:2]))
    elif of_run(claim):
        longer = (descent_model.model_for(claim, run, LONG_RUN) for run in cases[:6])
        found = (replace(one, floor=1e-14) for one in longer)
    else:
        found = ()
    for one in found:
        yield replace(one, letters={**one.letters, "off": SIZES, "b": SIZES})


def never_confirmed(name, whole, cases, tries):
    """The facts that serve a conclusion, or are given, and that no instance confirms.

    Left out are facts whose assumptions the proof refutes.
    """
    claim, serving = EVALUATED[name], used(whole.concluded)
    left = [f for f in whole.facts if f in serving or f.rule in ("setting", "hypothesis")]
    models = [model(claim, case) for case in cases]
    for found in models:
        left, open_ = left_after(left, whole, found, tries)
        assert open_ == [] or name in {*RUNS, *LIMITS}
    left = left_at_more_values(left, whole, models, late=False)
    excused = about_nothing(whole, left)
    left = [fact for fact in left if fact not in excused]
    more = [*plain_runs(claim), *instances(claim, 30)] if left else []
    left = left_at_more_values(left, whole, (model(claim, x) for x in more), late=False)
    return left_at_more_values(left, whole, long_models(claim, more), late=True)


@pytest.mark.parametrize("name", EVALUATED)
@pytest.mark.filterwarnings("ignore:overflow")
def test_each_fact_is_confirmed_and_none_is_false_on_an_instance(name):
    """But for those in `NEVER`, and those whose assumptions the proof refutes."""
    claim = EVALUATED[name]
    count = 4 * COUNT if name in DECLARED else 2 * COUNT if name in RECORDS else COUNT
    cases = [*instances(claim, count), *SPECIAL.get(name, [])]
    assert len(cases) >= 3
    whole = chain(claim.proof)
    left = never_confirmed(name, whole, cases, tries=12 if name in GIVEN else 6)
    number, _ = NEVER.get(name, (0, ""))
    assert len(left) <= number, left
    given = {fact for fact in left if fact.rule in ("setting", "hypothesis")}
    assert not given | ({*left} & {*whole.concluded}) or name in GIVEN_NEVER


def test_readings_with_facts_that_no_instance_confirms_are_evaluated():
    assert {*GIVEN_NEVER} <= {*NEVER} <= {*EVALUATED}
    assert all(number > 0 and reason for number, reason in NEVER.values())


def test_sets_of_pairs_give_the_probability_and_the_product_of_a_reading():
    (claim,) = TABLES.values()
    for case in instances(claim, 9):
        found = pair_model.model_of_table(case).functions
        sets = pair_model.model_of_table(case).sets[pair_letters.SET]
        chances = sum(found[pair_letters.CHANCE](case.m, s) for s in sets)
        assert chances == pytest.approx(float(enumerated(case)))
        pairs = itertools.product(sets, sets)
        signed = (
            found[pair_letters.SIGN](s, t) * found[pair_letters.POWER](case.m, t) for s, t in pairs
        )
        assert sum(signed) == pytest.approx(float(probability(case)))


def test_no_fact_from_two_basins_is_false_on_either_run():
    """Letters stand for the run on the loss of an instance, and for that on the loss -x."""
    claim = LINKED_CLAIMS["mm/loss-choice:amended-1"]
    cases = [run for run in instances(claim, 9) if run.loss != "correlation"][:2]
    assert len(cases) == 2
    for run in cases:
        for loss in (run.loss, "correlation"):
            on_loss = descent_model.model_of(replace(run, loss=loss), steps=12)
            assert evaluated(chain(claim.proof), on_loss, tries=6).false == [], run


# propositions against formulas and predicates

MORE = {"tf/all-support-no-stationary:sharp": [{"share": "1.25"}]}
"""Other constants that make a formula false somewhere."""
WITHOUT = {"tf/linear-head-landscape:amended-2", "tf/linear-head-landscape:sharp-3"}
"""Readings that say something if V does not exist."""
STAND = {
    *("mm/p-svm:sharp-2", "mm/v-svm:sharp-2"),
    *("sim/token-separation:sharp-1", "sim/token-separation:sharp-3", "sim/figure-2:amended-2"),
    "tf/linear-head-landscape:sharp-3",
}
"""Readings whose propositions are declared for no constants that make the formula false."""


def told_apart(claim, cases):
    """The instances at which floats tell scores apart and, if a reading needs it, V exists."""
    if claim.instance_type is not Descent:
        return cases
    near = (case for case in cases if np.abs(case.W).max() <= 3)
    return [x for x in near if claim.id in WITHOUT or hypotheses.FEASIBLE.holds(x)]


def strict_model(claim, case):
    """The model of an instance of a declared reading, in which 0 is not above 0."""
    if not isinstance(case, Descent):
        return replace(MODELS[type(case)](case), strict=True)
    short = replace(case, step=min(case.step, 1.0))  # after long steps attention underflows
    return replace(descent_model.model_for(claim, short, 3), strict=True, floor=1e-9)


def exact_model(claim, case):
    """The model of an instance of another reading; exponentials may be tiny."""
    found = model(claim, case)
    return replace(found, floor=0.0) if isinstance(case, Descent) else found


def compared(claim):
    """Yield the constants of a reading and of siblings, instances, and their models."""
    if claim.id in DECLARED:
        parts = [("", {}), *(("", more) for more in MORE.get(claim.id, []))]
        own = {s.name for s in claim.siblings if s.data is not None}
        parts += [(s.name if s.name in own else "", s.parameters) for s in claim.siblings]
        for part, parameters in parts:
            for case in told_apart(claim, [*claim.examples, *drawn(claim.id, part)]):
                changed = {k: v for k, v in parameters.items() if k != "tightened"}
                yield changed, case, strict_model(claim, case)
        return
    for part in claim.parts():
        if not part.name or (part.dropped and not part.parameters):
            for case in filter(tame, [*part.examples, *drawn(claim.id, part.name)]):
                found = exact_model(claim, case)
                strict = found.strict or isinstance(case, Several | HeadSteps | Tilted)
                yield {}, case, replace(found, strict=strict)


@pytest.mark.parametrize("name", RECORDS)
def test_propositions_agree_with_the_formula(name):
    """On instances of the reading and of its siblings, which make the formula false somewhere."""
    claim, refuted = RECORDS[name], 0
    known = {k: v for k, v in claim.formula.known_constants.items() if k != "tightened"}
    for changed, case, found in compared(claim):
        said = claim.formula.conclusion.proposition(**{**known, **changed})
        if said is not None:
            false = decided(claim.formula.relation(BALLS, case, changed)) is False
            assert says(said.sequents, found) is not false, (changed, case)
            refuted += false
    # if a reading without hypotheses has no other constants, no sibling makes it false
    assert refuted > 0 or name in STAND or not (name in DECLARED or claim.hypotheses)


@pytest.mark.parametrize("name", [name for name, claim in RECORDS.items() if claim.hypotheses])
def test_predicates_agree_with_propositions_of_hypotheses(name):
    """If propositions depend on letters without a meaning, only what is met is compared."""
    claim, seen = RECORDS[name], set()
    listed = {
        x: x.proposition() for h in claim.hypotheses for x in h.consequences() if x.proposition
    }
    listed = {x: [*sequents] for x, sequents in listed.items()}
    for part in claim.parts():
        cases = [*part.examples, *drawn(claim.id, part.name)]
        for case in told_apart(claim, cases) if name in DECLARED else filter(tame, cases):
            declared = name in DECLARED and not isinstance(case, Descent)
            if declared and chosen(case).X.shape[1] == 1:
                continue  # without rows nothing is said of labels
            found = (strict_model if name in DECLARED else model)(claim, case)
            for hypothesis, sequents in listed.items():
                holds = hypothesis.holds(case) is True
                if holds or (name in DECLARED and hypothesis.name in claim.formula.hypotheses):
                    seen.add(holds)
                    assert says(sequents, found) == holds, (hypothesis.name, case)
    assert True in seen or not listed


def test_a_start_of_factors_leans_exactly_if_the_proposition_of_the_hypothesis_holds():
    seen = set()
    for run in [*LINKED_CLAIMS["sim/kq-bias:amended-3"].examples, NOWHERE, OPPOSED]:
        case = replace(run, step=1.0)
        found = replace(factor_model.model_of_factors(case, steps=2), strict=True)
        seen.add(LEANS.holds(case))
        assert says([*LEANS.proposition()], found) == LEANS.holds(case), case
    assert seen == {True, False}


def elsewhere():
    """The hypotheses with propositions of readings on runs and limits, each with a reading.

    Left out are those that other tests compare with their predicates.
    """
    compared = {x for c in RECORDS.values() for h in c.hypotheses for x in h.consequences()}
    found = {}
    for claim in LINKED_CLAIMS.values():
        listed = () if of_formula(claim) else claim.hypotheses
        for one in (x for h in listed for x in h.consequences() if x.proposition):
            if one not in {*AGREE, *compared, FALLING_AT_BEST}:
                found.setdefault(one, claim)
    return {one.name: (one, claim) for one, claim in found.items()}


ELSEWHERE = elsewhere()
LOCALLY_OPTIMAL, _ = ELSEWHERE["alpha is locally optimal"]
ONE_WAY = {
    "K^T D / ||D|| + Q^T z / ||z|| is not 0": "a vector is 0 only up to rounding",
    "some q has Y_i <z_i, q> > 0 for all i": "without labels the letters have no meaning",
    "the Frobenius solution has rank 1": "the letters are about rank 1 alone",
    "risk gaps of the start on l and on -x below their thresholds": "floats meet a threshold",
}
"""Hypotheses whose propositions may hold although the predicate does not, with the reason."""


@pytest.mark.parametrize("name", ELSEWHERE)
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow", "ignore:divide by zero")
def test_predicates_of_runs_and_limits_agree_with_their_propositions(name):
    """On instances of a reading and of its siblings, at which letters have their meanings.

    Best rivals need unique optimal tokens, and radii need tokens that are locally optimal.
    """
    hypothesis, claim = ELSEWHERE[name]
    sequents, seen = [*hypothesis.proposition()], set()
    for part in claim.parts():
        cases = [*part.examples[:4], *drawn(claim.id, part.name)]
        for case in filter(tame, cases):
            needed = {Descent: hypotheses.UNIQUE, Local: LOCALLY_OPTIMAL}.get(type(case))
            if needed not in (None, hypothesis) and not needed.holds(case):
                continue
            holds = hypothesis.holds(case) is True
            seen.add(holds)
            assert says(sequents, model(claim, case)) is holds or (name in ONE_WAY and not holds)
    assert True in seen


@pytest.mark.parametrize("phi", ACTIVATIONS)
def test_letters_tell_a_kink_from_a_bounded_second_derivative(phi):
    case = replace(KINKED_PAIR, phi=phi)
    found = replace(head_model.model_of(case), strict=True)
    assert BOUNDED_CURVATURE.holds(case) is (phi != "relu")
    assert says([*BOUNDED_CURVATURE.proposition()], found) is (phi != "relu")


def test_a_hypothesis_on_a_solution_says_nothing_if_there_is_none():
    data = CONFLICT.data
    assert exact_att_svm(data) is None
    assert low(data).any()
    assert NO_LOW_SUPPORT.holds(data) is True
    found = att_svm_model.model_of_programme(Dropped(data, low(data)))
    assert says([*NO_LOW_SUPPORT.proposition()], found)


# changes that must be noticed


CHANGED = {
    "sim/definition-3.8:literal-1": letters.FIRST,
    "sim/definition-3.8:sharp-1": letters.FIRST,
    "sim/definition-3.8:sharp-2": descent_letters.V,
    "sim/definition-4.1:amended": letters.LARGEST,
    "sim/token-sparsity:sharp-1": descent_letters.V,
    "sim/token-sparsity:sharp-2": descent_letters.V,
}
"""A letter whose value is set to 0, so that a setting or a hypothesis is false."""


@pytest.mark.parametrize("name", CHANGED)
def test_a_false_hypothesis_or_setting_is_seen_on_an_instance(name):
    claim = RECORDS[name]
    (atom,) = CHANGED[name].atoms
    found = set()
    for case in instances(claim, 6):
        changed = att_svm_model.model_of_programme(case)
        value = changed.functions[atom.function]() * 0
        changed.functions[atom.function] = lambda value=value: value
        tally = evaluated(chain(claim.proof), changed, tries=12)
        found |= {fact.rule for fact, _ in tally.false}
    assert found & {"hypothesis", "setting"}


def test_a_hypothesis_that_an_instance_violates_is_seen():
    claim = LINKED_CLAIMS["sim/basic-1:amended"]
    whole = model_of_formula(claim, instances(claim, 1)[0])
    short = replace(whole, functions={**whole.functions, Function("R"): lambda: 0.01})
    found = {fact.rule for fact, _ in evaluated(chain(claim.proof), short, tries=4).false}
    assert "hypothesis" in found


def test_that_a_matrix_meets_the_constraints_is_told_from_the_opposite():
    """Both ways: the equation is 0 exactly if all margins are at least 1."""
    claim = RECORDS["sim/definition-3.8:sharp-1"]
    case = next(c for c in instances(claim, 12) if c.data.T > 1)
    with proof() as made:
        for X in (letters.FIRST, letters.FIRST / 1000):
            fact_of_reading(Sequent(letters.meets(X)), "planted", "it meets all constraints")
    tally = evaluated(made, att_svm_model.model_of_programme(case))
    assert [fact.number for fact in tally.confirmed] == [1]
    assert [fact.number for fact, _ in tally.false] == [2]


def test_no_two_letters_are_one_function():
    """As two constants of one name would be."""
    terms = [x for m in (descent_letters, letters) for x in vars(m).values() if isinstance(x, Term)]
    constants = {a.function for term in terms for a in term.atoms if isinstance(a, App)}
    own = [x for x in terms if len(x.atoms) == 1]
    named_ = {id(x): x for x in own}.values()
    assert len(named_) == len({*named_})
    assert len(constants) > 10


@pytest.mark.parametrize("path", [FLAT_SLOPE, FLAT_BELOW, PUBLISHED])
def test_a_loss_that_is_flat_at_a_best_score_is_told_from_others(path):
    run = Descent(path.data, np.zeros((path.data.d,) * 2), path.loss)
    found = descent_model.model_of(run, steps=2)
    assert says([*FALLING_AT_BEST.proposition()], found) == FALLING_AT_BEST.holds(path)


def test_no_reading_takes_the_cone_of_one_share_with_the_radius_of_another():
    used = [{*claim.hypotheses} & {CONE, LARGE, LONG, NEAR} for claim in LINKED_CLAIMS.values()]
    assert {CONE, LARGE} in used
    assert all(own in (set(), {CONE, LARGE}, {NEAR, LONG}) for own in used)
