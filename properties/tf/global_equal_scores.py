"""Global convergence if the scores of non-optimal tokens are approximately equal.

"Theorem: We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: scores of non-optimal tokens
are [approximately] equal." W_k are the iterates of descent and W^mm(opt) is the Att-SVM solution.
The slide asks for nothing else: no start, no step, no feasible Att-SVM; the loss is strictly
decreasing and smooth. "Approximately" is read as within some delta > 0, so equal scores meet it for
every delta.

`literal` falls as `amended-1` does, and also for data without an Att-SVM: tokens 1 and 0, twice,
queries 1 and -1, head 1. `amended-1` falls for tokens (1, 0), 0 and (-2, 1), 0, both queries (1,
0), labels 1, head (4, 9), so scores 4, 0 and 1, 0, and the loss -u. With w the first column of W,
input 1 moves w along (1, 0) and input 2 along (-2, 1). Input 1 moves it four times as far as input
2; the second margin grows only if this factor is below 5/2. So input 2 selects its worse token for
ever. W^mm has w = (1, 3).

`amended-2`: a single input is aligned, and so are inputs with orthogonal queries; any constant step
will do (`symbolic.aligned_facts:prove_equal_rivals`). For nearly equal scores the same holds with
an explicit delta for each start and short steps, see properties/sim/theorem_3_15.
"""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from attsvm.data import AttentionData
from attsvm.primitives import losses
from attsvm.primitives.aligned_inputs import INPUTS_ALIGNED, together, together_larger
from attsvm.primitives.descent import Descent
from attsvm.primitives.descent_runs import opposed_data, rival_data
from attsvm.primitives.hypotheses import EQUAL_RIVALS, FEASIBLE, LINEAR_HEAD, SEVERAL_TOKENS, UNIQUE
from attsvm.primitives.loss_hypotheses import SLOPED_LOSS, STRICT_LOSS
from attsvm.primitives.steps import ANY, flattened, headed, stepped
from attsvm.strategies import composite
from attsvm.strategies.adversarial_starts import starts_about, trapping_data
from attsvm.strategies.data import ragged, ragged_larger
from attsvm.theory import Reading, Statement, changed
from properties.tf import SOURCE
from properties.tf._support import descent_instances as cases
from properties.tf._support.descent_instances import NOT_ALIGNED

FAR_START = replace(cases.from_zero([[[1], [0]]], y=[1.0], v=[1.0]), start=np.array([[-24.0]]))


@composite
def started(draw: st.DrawFn, data: SearchStrategy[AttentionData]) -> Descent:
    """Draw a run with a decreasing loss, started at zero, near, far, or at worse tokens.

    Every second data set has rivals of two scores, so that a claim about these fails too.
    """
    drawn = draw(ragged(trapping_data() if draw(st.booleans()) else data))
    return Descent(drawn, draw(starts_about(drawn, 0, 1, 3)), draw(st.sampled_from(losses.SLOPED)))


def larger(generator: np.random.Generator) -> Descent:
    """Return a run on aligned inputs with equal rivals, from zero or a random start."""
    data = ragged_larger(generator, together_larger(generator))
    start = float(generator.choice([0.0, 1.0, 4.0])) * generator.integers(-8, 9, (data.d, data.d))
    return Descent(data, start / 8, str(generator.choice(losses.SLOPED)))


THEOREM = Statement(
    "tf/global-equal-scores",
    rests_on=("tf/definition-1",),
    source=SOURCE,
    place="Global convergence with alternative criteria",
    printed="We have that W_k/||W_k||_F -> W^mm(opt)/||W^mm(opt)||_F, if: scores of non-optimal "
    "tokens are [approximately] equal",
    variables=stepped(Descent, started(rival_data()), steps=ANY),
    conclusion=cases.DIRECTION,
    cost=10,
    violating={
        EQUAL_RIVALS: [cases.PASSED_OVER],
        UNIQUE: [cases.TIED_ASIDE],
        SEVERAL_TOKENS: [cases.ONE_TOKEN],
        FEASIBLE: [cases.NO_QUERY],
        SLOPED_LOSS: [cases.FLAT],
    },
    readings={
        "literal": Reading(
            "refuted",
            read={"[approximately] equal": "exactly equal, as a special case"},
            under=(LINEAR_HEAD, EQUAL_RIVALS, STRICT_LOSS),
            variables=stepped(Descent, flattened(headed(started(rival_data()))), steps=ANY),
            examples=(NOT_ALIGNED, cases.OWN_TOKEN, cases.OPPOSED),
            siblings={
                "any scores": changed(drop=[EQUAL_RIVALS], examples=[cases.OBTUSE]),
                **cases.WORST,
            },
        ),
        "amended-1": Reading(
            "refuted",
            under=(LINEAR_HEAD, EQUAL_RIVALS, UNIQUE, SEVERAL_TOKENS, FEASIBLE, STRICT_LOSS),
            examples=(NOT_ALIGNED, cases.OWN_TOKEN),
            siblings=cases.WRONG,
        ),
        "amended-2": Reading(
            "proved",
            proof="symbolic.aligned_facts:prove_equal_rivals",
            under=(EQUAL_RIVALS, UNIQUE, SEVERAL_TOKENS, FEASIBLE, INPUTS_ALIGNED, SLOPED_LOSS),
            variables=stepped(Descent, started(together()), larger, steps=ANY),
            examples=(FAR_START,),
            siblings={
                **cases.WRONG,
                "inputs need not be aligned": changed(
                    drop=[INPUTS_ALIGNED],
                    variables=stepped(Descent, started(opposed_data()), steps=ANY),
                    examples=[NOT_ALIGNED],
                ),
            },
        ),
    },
)
