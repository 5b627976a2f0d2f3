"""Errata of conditions that programmes of the talk, and its optimal tokens, need."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata
from properties.mm import joint_svm, optimal_tokens, p_svm, v_svm

erratum = partial(errata.erratum, weight=Weight.CONSTANT)

CONDITIONS = (
    erratum(
        joint_svm.PROGRAMMES,
        fell="the printed definition",
        gist='"Support vector" has to mean an input of tight margin: read by multipliers, p(alpha) '
        "is ambiguous on published data. Nor need v(alpha) and p(alpha) exist.",
        fails="On the inputs {0, (1, 1)}, {0, (1, -1)}, {0, (1/2, 1)} with labels 1, -1, 1 all "
        "margins of v(alpha) are tight, while multipliers are not unique: by what is counted as a "
        "support vector p(alpha) is (4/3, 1/3), (1, 0) or (2/3, -1/3). Two equal tokens have no "
        "p(alpha).",
        telling={"literal-1": 4, "literal-2": 2},
    ),
    erratum(
        p_svm.PROGRAMME,
        fell="the existence that print takes for granted",
        gist="p(alpha) need not exist, not even for optimal tokens.",
        fails="Two equal tokens are separated by no p. Two inputs of tokens 1, 0 with labels 1, -1 "
        "and head 1 have different optimal tokens, so that p >= 1 and -p >= 1.",
        stands=("amended-1", "amended-2", "sharp-2"),
        telling={"literal-1": 3, "literal-2": 1},
    ),
    erratum(
        v_svm.PROGRAMME,
        fell="the existence that print takes for granted",
        gist="v(alpha) need not exist.",
        fails="A selected token 0 has label margin 0 under every head. Equal tokens of "
        "different labels have opposite margins.",
        telling={"literal": 4},
    ),
    erratum(
        optimal_tokens.TOKENS,
        gist="Optimal tokens minimise the risk, as printed; they alone do for strictly decreasing "
        "losses, and more attention to them is not always better.",
        fails="The hinge loss is 0 at the scores 2 and 1, so every prompt has least risk. With "
        "scores 4, 3, 0 a prompt with less attention to the first token can have more on the "
        "second, and a lower risk.",
        telling={"literal-2": 0},
    ),
)
