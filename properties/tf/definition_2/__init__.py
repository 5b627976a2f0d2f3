"""Definition 2: support indices and locally-optimal directions.

"Fix token indices alpha. Solve (Att-SVM) with opt replaced with alpha. We refer to (T_i) as support
indices. If alpha obeys gamma_i,alpha_i > gamma_it, indices alpha are called a locally-optimal
direction." The optimal tokens should be such a direction; "GD can select locally-optimal tokens!"

W^mm(alpha) is the least W with (x_i,alpha_i - x_it)^T W z_i >= 1 for all tokens t but alpha_i of
every input i, and gamma_it is the score of a token. The slide gives neither T_i nor the range of t;
T_i is read as the tokens of margin 1 under W^mm(alpha).

With t over all tokens only the optimal tokens can qualify, and descent has no other choice to
select. With t over T_i other choices qualify: of tokens 1, 0, -1 with scores 1, 0, 2 and query 1
the first has W^mm = 1 and T = {second}. Tokens 1, 0 with query 0 have no W^mm, and with tied scores
neither is above the other. T_i may be empty. Of two inputs with tokens 1, 0 and 2, 0 and query 1
the second has margin 2. So its choice is compared with nothing, even if it is the worse token.

Proof of sharp. Call rivals the tokens of at least the score of the chosen one, and W' the solution
without them. If W' gives every rival a margin of at least 1, it meets all constraints and is
W^mm(alpha). If not, some rival has margin 1 under W^mm(alpha). Otherwise all rivals would have
multiplier 0 and W^mm(alpha) would be W'. So alpha is locally optimal exactly if the solution
without its rivals gives all of them margins above 1.
"""

import numpy as np

from attsvm.data import AttentionData
from attsvm.primitives.descent_letters import feasible
from attsvm.primitives.hypotheses import FEASIBLE, LINEAR_HEAD, UNIQUE
from attsvm.primitives.programme_letters import some_left_out
from attsvm.strategies.data import attention_data, ragged
from attsvm.theory import Hypothesis, Reading, Records, Statement, changed
from properties._support import token_choices as choices
from properties._support.token_choices import ONE_TOKEN, TIED, ZERO_QUERY, Choice
from properties.tf import SOURCE
from properties.tf.definition_2.conclusion import least_margin, locally_optimal

FAR = AttentionData.of([[[1.0], [0.0]], [[2.0], [0.0]]], [[1.0], [1.0]], scores=[[1.0, 0.0]] * 2)
OTHER = Choice(
    AttentionData.of([[[1.0], [0.0], [-1.0]]], [[1.0]], scores=[[1.0, 0.0, 2.0]]), np.array([0])
)

OTHERS = {
    "the worst tokens in place of the best": changed(chosen="worst"),
    "every input has a support index": changed(over="each"),
}
ANY = Records(AttentionData, ragged(attention_data()))

SOLVED = Hypothesis("W^mm(alpha) exists", choices.separates, proposition=feasible)
RIVALLED = Hypothesis("some token is a rival", choices.has_rival, proposition=some_left_out)

DEFINITION = Statement(
    "tf/definition-2",
    rests_on=("tf/definition-1",),
    source=SOURCE,
    place="Definition 2",
    printed="Fix token indices alpha. Solve (Att-SVM) with opt replaced with alpha. We refer to "
    "(T_i) as support indices. If alpha obeys gamma_i,alpha_i > gamma_it, indices alpha are called "
    "a locally-optimal direction",
    variables=ANY,
    conclusion=locally_optimal,
    cost=2,
    violating={
        UNIQUE: ANY,
        FEASIBLE: ANY,
        SOLVED: [Choice(ZERO_QUERY, np.array([1]))],
        RIVALLED: [Choice(FAR, np.array([0, 0]))],
    },
    readings={
        "literal-1": Reading(
            "refuted",
            fairness="strained",
            read={"gamma_it": "the score of any other token"},
            constants={"over": "all"},
            under=(LINEAR_HEAD,),
            examples=(ZERO_QUERY, TIED),
            siblings=OTHERS,
        ),
        "literal-2": Reading(
            "refuted",
            fairness="strained",
            read={"gamma_it": "the score of any other token of margin 1 under W^mm"},
            constants={"over": "support"},
            under=(LINEAR_HEAD,),
            examples=(ZERO_QUERY, TIED),
            siblings=OTHERS,
        ),
        "amended": Reading(
            "proved",
            read={"gamma_it": "the score of any other token"},
            proof="symbolic.tf.definition_2:prove_optimal",
            constants={"over": "all"},
            under=(UNIQUE, FEASIBLE),
            variables=Records(AttentionData, ragged(choices.separable()), choices.separable_larger),
            examples=(ONE_TOKEN, FAR),
            siblings=OTHERS,
        ),
        "sharp": Reading(
            "proved",
            strength="exact",
            proof="symbolic.tf.definition_2:prove",
            under=(SOLVED, RIVALLED),
            variables=Records(Choice, choices.choices(), choices.choices_larger),
            conclusion=least_margin,
            examples=(OTHER,),
            siblings={
                "no choice with a rival is locally optimal": changed(of="none"),
                "min_r m_r = min_r m'_r": changed(floor=0),
                "max_r m'_r in place of min_r m'_r": changed(of="max"),
            },
        ),
    },
)
