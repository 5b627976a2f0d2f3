"""Steps of the tf and mm proofs fall where the formula, predicate or sign they run is spoilt."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from attsvm.errors import ProofError
from attsvm.primitives.steps import SHORT
from attsvm.theory.declaration.proof import ensure_zero, recorded
from properties.sim import stability_logistic
from properties.tf.benign_landscape import parts
from symbolic import (
    aligned_inputs,
    basins,
    curvature,
    divergence,
    least_points,
    quadratic_forms,
)
from symbolic.gains import P
from symbolic.mm import (
    assumption_b,
    nonlinear_head_path,
)
from symbolic.mm import best_nu as nu_proofs
from symbolic.sim import (
    low_score_tokens,
    stability_facts,
    stability_of_loss,
    theorem_3_15,
)
from symbolic.sums import (
    ensure_at_least_each,
    ensure_mean,
    ensure_nonnegative_sum,
    entry,
    r,
    swapped,
    t,
    total,
)
from symbolic.tf import (
    benign_landscape,
    definition_1,
    global_conjecture,
    local_convergence,
    margin_flow,
    nonlinear_head_several,
    overparameterisation,
    parameterisation_bias,
    parts_at_rest,
    settled_attention,
)

REAL = sp.Symbol("more", real=True)
LESS = sp.Rational(19, 20)
ATTENDED = low_score_tokens.attended
BETWEEN = definition_1.between


def looser(formula):
    """The comparison with a larger right side."""

    def spoilt(m, v, side):
        said = formula(m, v, side)
        return replace(said, right=said.right * (1 + v.v[-1] ** 2))

    return spoilt


def scaled(function, factor):
    return lambda *values: function(*values) * factor


def activations(name, **changes):
    """The activations, one of which differs."""
    known = nonlinear_head_several.ACTIVATIONS
    return {**known, name: replace(known[name], **changes)}


def factor_less(formula, name):
    """The formula with 95% of a factor that it has by that name."""
    return lambda *values: formula(*values, **{name: LESS})


def over_one_index(term, *indices):
    """A sum over t alone where it should be over all indices."""
    return total(term, *(indices[:1] or (t,)))


SLOPES = nonlinear_head_several
ALIGNED = [theorem_3_15.prove_aligned]
RADII = [local_convergence.ensure_least_coefficients, local_convergence.ensure_spread]


def directed():
    """The step to the direction of runs whose norms are taken to diverge."""
    ensure_zero(0, "norms diverge")
    basins.ensure_direction(P, P, "norms diverge")


def raised_by_others():
    """What other inputs add to margins."""
    aligned_inputs.ensure_raised_by_others(None)


def directed_to_b():
    """The same for the direction of b."""
    ensure_zero(0, "norms diverge")
    global_conjecture.ensure_direction_of_b("norms diverge")


def limit_of_scores():
    """The step to where scores tend to."""
    ensure_zero(0, "independent")
    global_conjecture.ensure_limit("independent", SHORT)


SPOILT = {
    "the balance of an affine dependency falls": (
        parts_at_rest,
        "share",
        scaled(parts_at_rest.share, -1),
        [parts_at_rest.ensure_one_root, parts_at_rest.ensure_balance],
    ),
    "the balance of an affine dependency is bounded": (
        parts_at_rest,
        "share",
        lambda m, b, gamma, u, count: b * m.exp(u - gamma) * b / count,
        [parts_at_rest.ensure_one_root],
    ),
    "the balance of equal tokens as of one": (
        parts_at_rest,
        "share",
        lambda m, b, gamma, u, count: parts.share(m, b, gamma, u),
        [parts_at_rest.ensure_balance],
    ),
    "ReLU of slope -1 at its kink": (
        *(SLOPES, "ACTIVATIONS", activations("relu", slope=lambda m, x: 2 * m.maximum(x, 0))),
        [SLOPES.prove_convex],
    ),
    "low scores raised": (
        *(low_score_tokens, "lower_scores"),
        lambda scores, chosen, by: np.where(chosen, scores + by, scores),
        [low_score_tokens.prove_as_much],
    ),
    "a sum over one index of two": (
        *(least_points, "total", over_one_index),
        [
            *(overparameterisation.prove_bound, overparameterisation.prove_triangle),
            global_conjecture.prove,
        ],
    ),
    "gaps from twice the score": (
        *(definition_1, "ADDED", definition_1.S * (2 * definition_1.BEST)),
        [definition_1.ensure_drop],
    ),
    "bounds of a loss a twentieth off": (
        *(definition_1, "between", lambda m, v, share: BETWEEN(m, v, LESS)),
        [definition_1.ensure_drop],
    ),
    "variances of more tokens": (
        *(overparameterisation, "RHO", overparameterisation.RHO * LESS),
        [overparameterisation.prove_bound],
    ),
    **{
        f"{name} of the cones that falls by no radius": (local_convergence, name, other, proofs)
        for name, other, proofs in (
            ("coefficient", scaled(local_convergence.coefficient, -1), RADII[:1]),
            ("sideways", lambda steepest, turned, room: steepest * room, RADII[1:]),
            ("widening", lambda N, turn, room, across, advance: turn * room, RADII[1:]),
            ("bend_room", lambda r, B, Q, c: c - r * B * Q, [local_convergence.ensure_radius]),
        )
    },
    **{
        f"numbers of {module.__name__} that pass a bound but need not grow, {place}": (
            *(module, name, other),
            proofs,
        )
        for place, (module, name, other, proofs) in enumerate(
            (
                (divergence, "ensure_positive_gain", lambda *_: -P, [global_conjecture.prove]),
                (basins, "STEP", REAL, [lambda: basins.ensure_divergence(P, None)]),
            )
        )
    },
    "constants of inputs that may be negative": (
        *(curvature, "attention_bend", scaled(curvature.attention_bend, -1)),
        [curvature.ensure_own_constant, theorem_3_15.prove_aligned],
    ),
    "95% of the constant of the gradient": (
        *(curvature, "attention_bend", scaled(curvature.attention_bend, LESS)),
        [curvature.ensure_smoothness, basins.prove, limit_of_scores],
    ),
    "means of tokens that are not bounded": (
        *(basins, "MORE", REAL),
        [
            *(basins.ensure_kept, basins.ensure_gap_of_rest, aligned_inputs.ensure_aligned),
            directed,
        ],
    ),
    **{
        f"{name} of either sign among aligned inputs": (
            *(aligned_inputs, name, REAL),
            proofs,
        )
        for name, proofs in (
            ("SLOPE", [aligned_inputs.ensure_aligned]),
            *((name, ALIGNED) for name in ("MORE", "LEAD", "LESS", "S")),
        )
    },
    "a whole that the p_j of the least margin may exceed": (
        *(basins, "LESS", REAL),
        [directed],
    ),
    "a whole that some p_h may exceed": (
        *(global_conjecture, "LESS", REAL),
        [directed_to_b],
    ),
    "attention in which the rest may score least": (
        *(low_score_tokens, "attended"),
        lambda of_low, of_kept: ATTENDED(of_kept, of_low),
        [low_score_tokens.prove_kept],
    ),
    "a hypothesis on 95% of a quarter of the product": (
        *(stability_facts, "SPREAD"),
        stability_logistic.spread_at_least(Fraction(19, 80), "4.21"),
        [stability_of_loss.prove_logistic_on_data],
    ),
    "the same with the squared loss": (
        *(stability_facts, "SPREAD"),
        stability_logistic.spread_at_least(Fraction(19, 80), "4.21"),
        [stability_of_loss.prove_squared_on_data],
    ),
    "descent by the curvature of something else than the risk": (
        *(basins, "ensure_smoothness", curvature.ensure_own_constant),
        [basins.ensure_kept],
    ),
    "descent by a constant that is cited of another function": (
        *(basins, "RISK", "the gradient of another function is Lipschitz"),
        [basins.ensure_kept],
    ),
    "descent of aligned inputs by that curvature": (
        *(aligned_inputs, "ensure_smoothness", curvature.ensure_own_constant),
        [theorem_3_15.prove_aligned],
    ),
    "descent by that curvature, from any start": (
        *(global_conjecture, "ensure_smoothness", curvature.ensure_own_constant),
        [limit_of_scores],
    ),
    "parts of either size beside those of the risk": (
        *(global_conjecture, "THIRD", 1 / (2 + global_conjecture.MORE)),
        [global_conjecture.ensure_parts, global_conjecture.prove],
    ),
    "coefficients by a slope that may jump": (
        *(global_conjecture, "ensure_continuous", lambda *_: None),
        [global_conjecture.ensure_parts],
    ),
    "multipliers of either sign": (
        *(margin_flow, "MULTIPLIERS", sp.symbols("lambda_:4", real=True)),
        [settled_attention.prove_few],
    ),
    "margins that do not add up to energies": (
        *(settled_attention, "inner", lambda u, v: sp.Symbol("other", real=True)),
        [settled_attention.ensure_next_energy],
    ),
    "runs of no divergence": (
        *(basins, "ensure_divergence", lambda *_: None),
        [*ALIGNED],
    ),
    "runs of no divergence, from any start": (
        *(divergence, "ensure_divergence", lambda *_: None),
        [global_conjecture.prove],
    ),
    "margins of the selected tokens of either sign": (
        *(assumption_b, "MORE", REAL),
        [assumption_b.ensure_slow_is_cheap],
    ),
    "gaps of heads on either side of the least": (
        *(nonlinear_head_path, "MORE", REAL),
        [nonlinear_head_path.prove_path],
    ),
    "selected tokens of other scores than Gamma": (
        *(nu_proofs, "LEVEL", sp.Symbol("level", real=True)),
        [nu_proofs.prove_exactly],
    ),
    "a mean that meets what one of two does not": (
        *(least_points, "LESS", REAL),
        [least_points.ensure_mean_meets],
    ),
    "another slope of the risk of two factors": (
        *(parameterisation_bias, "fall", scaled(parameterisation_bias.fall, LESS)),
        [parameterisation_bias.prove],
    ),
    "less room for the products of rows": (
        *(parameterisation_bias, "allowed", scaled(parameterisation_bias.allowed, LESS)),
        [parameterisation_bias.prove],
    ),
    **{
        f"{name} of either sign in {module.__name__}, {place}": (module, name, REAL, proofs)
        for place, (module, names, proofs) in enumerate(
            (
                (
                    *(local_convergence, ("MORE", "ALSO")),
                    [local_convergence.prove, local_convergence.ensure_radius, *RADII],
                ),
                (global_conjecture, ("MORE", "LESS", "S_T"), [global_conjecture.prove]),
                (basins, ("MORE", "LESS"), [*ALIGNED]),
                (aligned_inputs, ("MORE", "S"), [raised_by_others, *ALIGNED]),
                (
                    *(benign_landscape, ("POSITIVE", "MORE")),
                    [benign_landscape.prove_no_minimum],
                ),
                (
                    *(parts_at_rest, ("MORE", "POSITIVE")),
                    [parts_at_rest.ensure_largest_of_one_dependency],
                ),
                (parts_at_rest, ("MORE",), [parts_at_rest.ensure_maxima_of_parts]),
                (
                    *(margin_flow, ("MORE",)),
                    [margin_flow.ensure_flow, margin_flow.ensure_energy, margin_flow.ensure_slow],
                ),
                (
                    *(settled_attention, ("MORE",)),
                    [
                        settled_attention.ensure_decay,
                        *(settled_attention.ensure_logarithms, settled_attention.ensure_next_round),
                    ],
                ),
                (settled_attention, ("LESS",), [settled_attention.ensure_logarithms]),
                (settled_attention, ("TAU", "C"), [settled_attention.ensure_next_round]),
            )
        )
        for name in names
    },
    "sums of pairs in place of differences": (
        *(quadratic_forms, "swapped", lambda x: -swapped(x)),
        [global_conjecture.ensure_lower_tokens_outweigh, margin_flow.ensure_energy],
    ),
    "eigenvalues on either side of the least": (
        *(quadratic_forms, "MORE", REAL),
        [global_conjecture.ensure_lower_tokens_outweigh, margin_flow.ensure_norms],
    ),
    **{
        f"a sum with something added in {module.__name__}": (
            *(module, "total", lambda term: total(term) + 1),
            proofs,
        )
        for module, proofs in (
            (aligned_inputs, [raised_by_others, *ALIGNED]),
            (
                margin_flow,
                [
                    *(margin_flow.ensure_independence, margin_flow.ensure_energy),
                    margin_flow.ensure_norms,
                ],
            ),
            (local_convergence, [*RADII[1:], local_convergence.prove]),
        )
    },
}


def proves(function):
    with recorded():
        return function()


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_part_is_seen(name, monkeypatch):
    module, part, other, proofs = SPOILT[name]
    monkeypatch.setattr(module, part, other)
    for prove in proofs:
        with pytest.raises(ProofError):
            proves(prove)


def test_a_sum_is_not_taken_for_another_one_nor_for_one_of_terms_of_no_sign():
    s, x = entry("s"), entry("x")
    more = sp.Symbol("more", nonnegative=True)
    ensure_nonnegative_sum(total(s * x) - total(s), s * (x - 1), "a mean", s=more, x=1 + more)
    for found, term, values in (
        (total(s * x) - 2 * total(s), s * (x - 1), {"s": more, "x": 1 + more}),
        (total(s * x) - total(s), s * (x - 1), {"s": REAL, "x": 1 + more}),
        (total(s * x) - total(s), s * (x - 1), {"s": more, "x": LESS + more}),
    ):
        with pytest.raises(ProofError):
            ensure_nonnegative_sum(found, term, "a mean", **values)


MEMBER = sp.Symbol("member", nonnegative=True)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ensure_mean(REAL, 1 + MEMBER, "a weight of either sign", least=1),
        lambda: ensure_mean(P, LESS + MEMBER, "a value below the bound", least=1),
        lambda: ensure_mean(P, 1 + MEMBER, "a value above the bound", most=1),
        lambda: ensure_at_least_each(REAL, "a term of either sign"),
        lambda: divergence.ensure_passed(MEMBER, "no growth"),
        lambda: divergence.ensure_passed(P, "falls elsewhere", elsewhere=-MEMBER),
        lambda: divergence.ensure_passed(lambda bound: P - bound, "none above a bound"),
        lambda: divergence.ensure_passed(lambda bound: P / bound**9, "falls below 0"),
        lambda: basins.ensure_lag(P, P, lambda p: p - MEMBER, "less than that p_j"),
        lambda: basins.ensure_lag(P, P, lambda p: [p, LESS * p], "one is less"),
        lambda: basins.ensure_lag(REAL, P, lambda p: p, "a bound of either sign"),
        lambda: least_points.ensure_mean_meets([(lambda x: x @ x, 0)]),
        lambda: least_points.ensure_mean_meets([(lambda x: x @ least_points.A + 1, 0)]),
        lambda: least_points.ensure_existence("a vector that no step has shown"),
    ],
)
def test_a_lemma_is_refused_where_the_quantities_are_others(wrong):
    with pytest.raises(ProofError):
        proves(wrong)


def test_a_sum_within_a_sum_that_depends_on_it_is_refused():
    A = sp.IndexedBase("A", real=True)[t, r]
    with pytest.raises(ProofError, match="depends on it"):
        total(total(A, r), t)


@pytest.mark.parametrize("ensure", [directed, directed_to_b])
def test_what_is_spoilt_of_a_direction_holds_as_it_is(ensure):
    with recorded() as steps:
        ensure()
    assert len(steps) > 5
