"""What proofs take from readings: hypotheses and conclusions as the objects that they are.

A reading that names a proof has to have one of those that are listed, for each that it takes. A
supposition serves one hypothesis of a reading; `JOINED` tells of which a hypothesis is made that
joins several.
"""

from __future__ import annotations

from typing import Any

from attsvm.primitives.hypotheses import (all_independent, all_tight, exists, feasible, lower_scores_equal, rivals_equal, several_tokens, two_scores, unique_optimum)
from attsvm.primitives.loss_hypotheses import falling, sloped
from attsvm.primitives.steps import is_short
from attsvm.theory import Supposed
from properties.mm import (
    nonlinear_head_path,
    optimal_tokens,
    p_svm,
    theorem_1_direction,
    theorem_1_norm,
    v_svm,
)
from properties.mm._support.prompt_descent import starts_in_basin
from properties.sim import (
    basic_1,
    basic_5,
    definition_3_8,
    large_dimension,
    loss_assumptions,
    often_unsolvable,
    orientation,
    printed_loss,
    self_attention,
    theorem_3_14_part_2,
    theorem_3_15,
    token_separation,
)
from properties.sim._support import bounds, entry_loss, token_sequences, training
from properties.sim._support.training import PRINTED, REPAIRED
from properties.sim.low_score_tokens import left_out
from properties.sim.theorem_3_15 import nearly_equal_scores
from properties.tf import (
    all_local_unique,
    benign_landscape,
    definition_1,
    generalised_svm,
    global_conjecture,
    global_equal_scores,
    global_initial_gradient,
    lemma_2,
    lemma_2_limit,
    linear_head_one_token,
    nonlinear_head_several,
    overparameterisation,
    theorem_3,
)
from properties.tf._support import descent_instances
from properties.tf._support.regularisation_paths import steep
from properties.tf._support.token_choices import separates
from properties.tf.local_convergence import cones
from properties.tf.theorem_2 import near_optimal_points


def hypotheses(statement: Any, *names: str) -> tuple[Supposed, ...]:
    """The hypotheses of a statement under these names, which alone say what they say there."""
    return tuple(Supposed(name, (statement.hypotheses[name],)) for name in names)


_HEADS: Any = nonlinear_head_path.PATH.variables
BOUNDED_LOGITS = Supposed(
    "the lengths of the logits at x and y are at most R, and so is each logit",
    (bounds.DOMAIN[bounds.LOGITS],),
)
BOUNDED_MATRIX = Supposed(
    "the spectral norm of A is at most R",
    (bounds.DOMAIN[bounds.MATRIX], entry_loss.DOMAIN[bounds.MATRIX]),
)
LARGE_RADIUS = Supposed(
    "R is at least 1, as where it is at least 4",
    (basic_1.BOUND.hypotheses["R >= 1"], basic_5.BOUND.hypotheses[basic_5.LARGE]),
    (basic_1.BOUND.hypotheses["R >= 4"], basic_5.BOUND.hypotheses[basic_5.LISTED_RADIUS]),
)
BELOW_ALPHA = Supposed(
    "beta is positive and at most the sum of exponentials at x, and that at y",
    (bounds.LISTED[bounds.BETA],),
)
_OF_ONE_LOSS = (
    _HEADS["loss"],
    *(orientation.TRAINING.conclusion, printed_loss.RATE),
    *(("loss", PRINTED), ("loss", REPAIRED)),
)
"""Of readings whose losses all have a continuous slope below 0, the printed one turned round."""
_CONVEX = generalised_svm.STATEMENT.hypotheses[generalised_svm.CONVEX_LOSS]
LOSS = Supposed(
    "the slope of the loss is continuous",
    (sloped, steep, loss_assumptions.sloped, near_optimal_points.cheap, *_OF_ONE_LOSS),
    (cones.is_long, cones.is_large),  # of losses that a start may have: all have such a slope
)
FALLING_LOSS = Supposed(
    "l' < 0 at all scores from the lowest to the highest",
    (falling, sloped, loss_assumptions.sloped, near_optimal_points.cheap, _CONVEX, *_OF_ONE_LOSS),
)
FALLING_AT_BEST = Supposed("l' < 0 at the best scores", (steep,))
FALLING_AT_ALPHA = Supposed("l' < 0 at the scores of alpha", (cones.is_large, cones.is_long))
SMALL_COST = Supposed(
    "G, which is at least n times the risk gap of V, is below every m_i d_i",
    (near_optimal_points.cheap,),
)
DECREASING_LOSS = Supposed(
    "the loss is decreasing, strictly where a comparison is",
    (
        *(steep, lemma_2_limit.decreasing),
        *(
            definition_1.DEFINITION.hypotheses[x]
            for x in (definition_1.DECREASES, lemma_2.DECREASING)
        ),
        *(
            optimal_tokens.TOKENS.hypotheses[x]
            for x in (definition_1.DECREASES, lemma_2.DECREASING)
        ),
        *(lemma_2.LEMMA.hypotheses[lemma_2.DECREASING], _HEADS["loss"]),
    ),
    (sloped, near_optimal_points.cheap),
)
TWICE_SMOOTH_LOSS = Supposed("the slope of the loss is differentiable", (("loss", REPAIRED),))
CONTINUOUS_LOSS = Supposed(
    "l is one of the strictly decreasing losses, all continuous", (), (lemma_2_limit.decreasing,)
)
CONVEX_LOSS = Supposed("the loss is convex", (_CONVEX,))
BENT_LOSS = Supposed(
    "l'' is continuous, as it is where its supremum enters the L that steps are compared with",
    (),
    (is_short, global_conjecture.CONJECTURE.hypotheses[global_conjecture.SHORT_OR_FEW]),
)
SHORT_STEP = Supposed("the step is at most 1/L", (is_short,))
SHORT_OR_FEW = Supposed(
    "the step is at most 1/L where queries are not orthogonal or an input has over three tokens",
    (global_conjecture.CONJECTURE.hypotheses[global_conjecture.SHORT_OR_FEW],),
)
MEETS = Supposed(
    "V meets all constraints",
    (
        p_svm.PROGRAMME.hypotheses[p_svm.MEETS],
        definition_3_8.DEFINITION.hypotheses[definition_3_8.MEET],
    ),
)
FEASIBLE = Supposed(
    "some matrix meets all constraints, and so those that are left where some are dropped",
    (feasible,),
)
SOLUTION = Supposed(
    "W^mm exists, or X^low on the printed loss",
    (exists, feasible, printed_loss.LOSS.hypotheses[printed_loss.LOW]),
    (all_tight, all_independent, token_sequences.enough),
)
LEAST_VECTOR = Supposed(
    "the programme, Att-SVM, p-SVM or v-SVM, has a solution",
    (
        *(feasible, left_out.idle),
        p_svm.PROGRAMME.hypotheses[p_svm.EXISTS],
        v_svm.PROGRAMME.hypotheses[v_svm.EXISTS],
    ),
)
IDLE = Supposed("no token of least score is a support vector", (left_out.idle,))
NUCLEAR_SOLUTION = Supposed(
    "Att-SVM* has a solution of a rank of r at most, which r = d allows where it is feasible",
    (feasible, theorem_3.low_rank),
)
SUPPORTED = Supposed("all tokens are support vectors of Att-SVM", (all_tight,))
MARGINS_ADD = Supposed(
    "all tokens are support vectors of Att-SVM, or the rivals of an input have one score",
    (all_tight, theorem_1_norm.THEOREM.hypotheses[theorem_1_norm.SEPARATED], rivals_equal),
    (all_independent,),  # some matrix has all margins 1, as a solution of such an Att-SVM has
)
TWO_SCORES = Supposed(
    "some input has two different scores",
    (
        two_scores,
        lemma_2.LEMMA.hypotheses[lemma_2.TWO_SCORES],
        optimal_tokens.TOKENS.hypotheses[lemma_2.TWO_SCORES],
    ),
)
SCORES_OR_SEPARATED = Supposed(
    "some input has two different scores, or some W separates its optimal tokens",
    (two_scores, lemma_2_limit.separable),
)
CONVEX_PHI = Supposed(
    "phi is convex",
    (
        nonlinear_head_several.STATEMENT.hypotheses[nonlinear_head_several.CONVEX],
        nonlinear_head_path.PATH.hypotheses[nonlinear_head_path.CONVEX],
        generalised_svm.STATEMENT.hypotheses[generalised_svm.BENT_UP],
    ),
)
RISING_UNITS = Supposed(
    "units have b_k >= 0, or heads of both signs are read each by itself",
    (
        nonlinear_head_several.STATEMENT.hypotheses[nonlinear_head_several.RISING],
        *(nonlinear_head_path.rising, nonlinear_head_path.one_sign),
    ),
)
LOCALLY_OPTIMAL = Supposed(
    "alpha is locally optimal: tokens of margin 1, of which are all that have a multiplier, score "
    "below it",
    (cones.is_locally_optimal,),
)
IN_CONE = Supposed("||E|| r_j <= s sigma c_j for all j", (cones.within,), (cones.is_near,))
BELOW_ONE = Supposed("0 < s < 1, as where s is 1/2", (cones.is_large,), (cones.is_long,))
RADIUS = Supposed("sigma is at least the radius of s", (cones.is_large,), (cones.is_long,))
NEAR = Supposed(
    "W_0 is at an angle of at most arctan(q/N) to W^mm(alpha): ||E|| <= sigma q", (cones.is_near,)
)
LONG = Supposed("||W_0|| is at least sqrt(N^2 + q^2) times the radius of s = 1/2", (cones.is_long,))
WITHOUT_RIVALS = Supposed(
    "W^mm(alpha) exists, without which alpha is not locally optimal, and meets the constraints "
    "without rivals as well",
    (separates, all_local_unique.told),
)
DIFFERENCES = Supposed(
    "the differences of an input's tokens are independent, as its tokens are affinely so",
    (benign_landscape.FEASIBILITY.hypotheses[benign_landscape.AFFINE],),
)
INDEPENDENT_QUERIES = Supposed("queries are independent", (benign_landscape.queries_independent,))
LEVELS = Supposed(
    "some w has <w, x_t> > b > <w, x_s> for the tokens that score above and below a level",
    (benign_landscape.LANDSCAPE.hypotheses[benign_landscape.APART],),
)
ALL_SUPPORT = Supposed(
    "all tokens are support vectors in all Local-SVMs",
    (global_conjecture.CONJECTURE.hypotheses[global_conjecture.EVERYWHERE],),
)
EACH_SOLVED = Supposed(
    "each Local-SVM has a solution",
    (global_conjecture.CONJECTURE.hypotheses[global_conjecture.SOLVED],),
)
SCORES_DIFFER = Supposed(
    "no two scores of an input are equal",
    (global_conjecture.different,),
)
_BASINS = (
    *(starts_in_basin, training.starts_in_basin, descent_instances.HYPOTHESES[training.BASIN]),
    *(
        statement.hypotheses[training.BASIN]
        for statement in (
            *(loss_assumptions.THEOREM, orientation.TRAINING, self_attention.THEOREM),
            linear_head_one_token.SELECTION,
        )
    ),
    printed_loss.LOSS.hypotheses[printed_loss.NEAR],
)
BASIN = Supposed("the risk gap of the start is below min_i [l(second) - l(best)]/n", _BASINS)
TWO_TOKENS = Supposed(
    "some input has two tokens, as where W^mm is not 0, or the basin not empty",
    (several_tokens, exists, printed_loss.LOSS.hypotheses[printed_loss.LOW]),
    (
        *_BASINS,
        *(theorem_3.low_rank, global_initial_gradient.first_steps.is_long),
        theorem_3_14_part_2.THEOREM.hypotheses[theorem_3_14_part_2.PAIRS],
    ),
)
UNIQUE_OPTIMUM = Supposed(
    "optimal tokens are unique",
    (
        *(unique_optimum, lower_scores_equal),
        printed_loss.LOSS.hypotheses[printed_loss.LOWEST],
    ),
    (
        *(global_conjecture.different, nearly_equal_scores.within),
        nearly_equal_scores.within_of_others,
        nonlinear_head_path.PATH.hypotheses[nonlinear_head_path.STEEP],
        theorem_3_14_part_2.THEOREM.hypotheses[theorem_3_14_part_2.SAME],
    ),
)
FIRST_IS_BEST = Supposed(
    "the head is largest at the first token of each input",
    (nonlinear_head_path.PATH.hypotheses[nonlinear_head_path.BEST],),
    (nonlinear_head_path.PATH.hypotheses[nonlinear_head_path.STEEP],),
)
EQUAL_RIVALS = Supposed(
    "the rivals of an input have one score",
    (
        *(rivals_equal, lower_scores_equal),
        global_equal_scores.THEOREM.hypotheses[global_equal_scores.EQUAL],
    ),
    (
        printed_loss.pairs,
        theorem_3_14_part_2.THEOREM.hypotheses[theorem_3_14_part_2.PAIRS],
    ),
)
ALIGNED_INPUTS = Supposed(
    "no <A_it, A_ju> of two inputs is negative",
    (
        global_equal_scores.THEOREM.hypotheses[global_equal_scores.ALIGNED],
        self_attention.THEOREM.hypotheses[self_attention.ALIGNED],
        theorem_3_15.THEOREM.hypotheses[theorem_3_15.INPUTS_ALIGNED],
        printed_loss.LOSS.hypotheses[self_attention.ALIGNED],
    ),
)
ONE_INPUT = Supposed(
    "there is a single input",
    tuple(
        statement.THEOREM.hypotheses[statement.SINGLE]
        for statement in (loss_assumptions, theorem_1_direction, theorem_3_14_part_2)
    ),
)
EITHER_PART = Supposed(
    "all tokens are support vectors, or the rivals of an input have one score below the best",
    (
        token_separation.SEPARATION.hypotheses[token_separation.PART],
        printed_loss.LOSS.hypotheses[printed_loss.PART],
    ),
)
BETTER_TOKENS = Supposed(
    "in each choice but the best all better tokens are support vectors, one of them with a "
    "positive multiplier",
    (global_conjecture.CONJECTURE.hypotheses[global_conjecture.BETTER],),
)
ORTHOGONAL_QUERIES = Supposed("queries are orthogonal", (global_conjecture.orthogonal,))
FEW_TOKENS = Supposed(
    "at most one input has three tokens, and the others have at most two",
    (global_conjecture.few,),
)
ONE_DEPENDENCY = Supposed(
    "tokens of an input have one affine dependency at most",
    (benign_landscape.LANDSCAPE.hypotheses[benign_landscape.FEW],),
)
PARTS = Supposed(
    "each affine dependency of an input's tokens is a sum of dependencies within parts, each of "
    "which has one score, or one dependency, of all its tokens, or is on a line",
    (benign_landscape.LANDSCAPE.hypotheses[benign_landscape.KNOWN],),
)
CONSTRAINTS = Supposed(
    "the (x_t - x_s) z^T of all inputs are independent, and so are the A_j, whichever tokens are "
    "chosen",
    (all_independent,),
)
GENERAL_POSITION = Supposed(
    "tokens are Gaussian: where d >= T - 1 the A_j are almost surely independent",
    (overparameterisation.GAUSSIAN,),
)
ENOUGH_DIMENSIONS = Supposed(
    "d >= T - 1", (overparameterisation.PROBABILITY.hypotheses[overparameterisation.SOME],)
)
THREE_TOKENS = Supposed(
    "T = 3", (overparameterisation.PROBABILITY.hypotheses[overparameterisation.TRIANGLE],)
)
EMBEDDINGS = Supposed("the embeddings are independent", (often_unsolvable.independent,))
ROWS_OF_LANGUAGES = Supposed(
    "successors are drawn for each token apart: rows of a random language are independent",
    (often_unsolvable.COUNTED,),
)
TEN_SENTENCES = Supposed("there are ten sentences", (("m", 10),))
UNIT_EMBEDDINGS = Supposed(
    "embeddings are Gaussian, scaled to norm 1, so that almost surely no two are the same",
    (often_unsolvable.COUNTED,),
)
WHOLE_VOCABULARY = Supposed("attention is over the vocabulary", (("over", "vocabulary"),))
SIGNS = Supposed(
    "entries are independent fair signs, and so are their products",
    (large_dimension.COUNTED, large_dimension.unlikely),
)
GAUSSIAN = Supposed(
    "tokens are independent standard Gaussian vectors, so that x_s, x_t and the mean of others are "
    "independent of the span of the others' differences",
    (overparameterisation.GAUSSIAN,),
)
SPHERICAL = Supposed(
    "tokens and queries are independent, uniform on the unit sphere",
    (overparameterisation.SPHERICAL,),
)

JOINED: dict[Any, tuple[Supposed, ...]] = {
    sloped: (LOSS, FALLING_LOSS),
    loss_assumptions.sloped: (LOSS, FALLING_LOSS),
    _CONVEX: (CONVEX_LOSS, FALLING_LOSS),
    steep: (LOSS, DECREASING_LOSS, FALLING_AT_BEST),
    near_optimal_points.cheap: (LOSS, FALLING_LOSS, SMALL_COST),
    exists: (SOLUTION, TWO_TOKENS),
    printed_loss.LOSS.hypotheses[printed_loss.LOW]: (SOLUTION, TWO_TOKENS),
    left_out.idle: (LEAST_VECTOR, IDLE),
    lower_scores_equal: (UNIQUE_OPTIMUM, EQUAL_RIVALS),
    cones.is_large: (BELOW_ONE, RADIUS, FALLING_AT_ALPHA),
    cones.is_long: (LONG, FALLING_AT_ALPHA),
}
"""Hypotheses that join several, and the suppositions each of which says a part of one."""
