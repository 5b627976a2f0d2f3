"""Errata of what is said about tokens: low scores, hyperplanes, few of them, large dimensions."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata as made
from properties.sim import few_support_tokens, hyperplanes, large_dimension, low_score_tokens

erratum = partial(made.erratum, weight=Weight.CLAIM)

TOKENS = (
    erratum(
        hyperplanes.HYPERPLANES,
        gist="Decision hyperplanes of different sub-sequences can coincide.",
        printed='"For each subsequent in language modeling task, the decision hyperplane are '
        "fundamentally different as the optimal tokens are different for each next work "
        'prediction." Read: the hyperplanes, or half-spaces, of <X^mm z, x> halfway between the '
        "optimal token and its nearest rival are not the same.",
        fails="Optimal tokens repeat. Where they are different two sub-sequences can share their "
        "hyperplane with its sides exchanged (two tokens with opposite queries), and over the "
        "tokens of the sub-sequence their half-space as well: the query, and with it X^mm z, is "
        "the same.",
        repair="Where tokens are the whole vocabulary, half-spaces of different optimal tokens are "
        "different, and ||X^mm (z_i - z_j)|| ||x_opt_i - x_opt_j|| >= 2. The other side of this: "
        "X^mm exists only if sub-sequences that end in the same token have the same optimal one.",
        stands=("amended", "sharp-1", "sharp-2"),
        telling={"literal-3": 0},
    ),
    erratum(
        few_support_tokens.FEW,
        gist="Contributing tokens, or support vectors, need not be few; X^mm needs few of them.",
        printed='"... only a few tokens, which can be regarded as feature vectors, contribute to '
        'the gradient computation for each update." Read: at most half of them.',
        fails="Attention is positive, so that every token other than 0 contributes whose score is "
        "not the attended one. Part 1 of assumption 3.10 says the opposite of few: all tokens are "
        "support vectors. On the default of figure 1, tokens of the sub-sequence, 8 of 100 runs "
        "have an X^mm, with 76% to 93% of the tokens that are not optimal as support vectors; the "
        "others have none.",
        repair="X^mm is the same without all but d min(n, d) of the rivals, n the number of "
        "inputs, however many an input has: they are few where inputs are long against d.",
        stands=("amended", "sharp"),
        telling={"literal-3": 0, "literal-4": 0},
    ),
    erratum(
        large_dimension.DIMENSION,
        gist="A large dimension makes part 2 of assumption 3.10 less likely, and part 1 likely "
        "under some laws only.",
        printed='"In the scenarios where data are distributed such that d is sufficiently large, '
        'such phenomenon is likely to persist." Read, as no law is named: under every law each '
        "part of assumption 3.10 has probability at least 1/2 for d >= 1000.",
        fails="For part 2, to which the sentence refers, the opposite is true: with three tokens "
        "an input it becomes less likely as d grows (entries of fair signs), and has probability 0 "
        "under every law with a density. For part 1 it depends on the law: on the default language "
        "of section 4 it has at most 0.0053, in any dimension, with 99% confidence (none of 1000 "
        "samples).",
        repair="Say it of part 1 and of a law under which tokens and queries become orthogonal: "
        "for entries of fair signs its probability is at least 1 - M exp(-d e^2/2), for n inputs "
        "of T = k + 1 tokens, M twice the number of pairs of tokens and of queries, and "
        "e = 1/(2 k + 2 sqrt(k (k + n - 1))).",
        stands=("amended-1", "amended-2", "sharp-1"),
    ),
    erratum(
        low_score_tokens.LOW_SCORES,
        gist="Leaving out tokens of low score can change X^mm, the limit of training and the "
        "output.",
        printed='"... for tokens that exhibit low token scores (as defined in Definition 3.9), '
        "omitting their computational contributions does not detrimentally impact the final "
        'outcome." Read: the tokens of least score of an input can be left out.',
        fails="The programme reads of scores only which token is optimal: a token is a support "
        "vector or not however low its score. Descent on the loss as printed ends at the very "
        "token that is left out. With the decreasing loss the token of least score may be what "
        "leads the run to the best one, so that without it training ends at a worse token. And "
        "the output of attention at one X is another without it.",
        repair="The score <f, gamma> that attention collects is no lower without these tokens at "
        "any X. From the basin training ends no worse without them. X^mm is the same without "
        "tokens that are no support vectors, whatever their scores, and at r X^mm the output moves "
        "by at most N exp(-r) times the diameter of the tokens where N are left out.",
        stands=("literal-3", "amended-1", "amended-3", "sharp-2"),
        telling={"literal-1": 0, "amended-2": 0},
    ),
)
