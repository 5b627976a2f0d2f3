"""Errata that turn a theorem or a claim of the talk round."""

from functools import partial

from attsvm.theory.report.errata import Weight
from properties._support import errata
from properties.mm import (
    assumption_b,
    general_data,
    loss_choice,
    nonlinear_head_path,
    normalised_descent,
    theorem_1_direction,
    theorem_1_norm,
    theorem_2,
    w_p_equivalence,
)

erratum = partial(errata.erratum, weight=Weight.CLAIM)

CLAIMS = (
    erratum(
        theorem_1_direction.THEOREM,
        gist="Descent on p need not converge in direction to p(alpha), not even from p(0) = 0; "
        "from the basin it does, and from an explicit r p(alpha).",
        fails='Neither alpha nor a "proper" p(0) is named. Read for optimal tokens and any p(0): a '
        "run from zero ends at the worse key -2, though the best one is unique and has a p(alpha). "
        "Read for some p(0) and eta: with an input of two optimal tokens p never moves along their "
        "difference, so that no start gives the direction of p(alpha) for this choice.",
        repair="Start in the basin, or at p(0) = r p(alpha) with an explicit r. For a single input "
        "whose other tokens share a score any p(0) will do. The threshold of the basin is sharp: "
        "105% of it will not do.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        theorem_1_norm.THEOREM,
        gist="||p(k)|| need not tend to infinity: p(0) = 0 may be stationary; from the basin it "
        "grows like ||p(alpha)|| ln k.",
        fails="With keys 1, 0, -2 and scores 1, -4, 0 the gradient at p = 0 is 0 for every loss. "
        "Read for some p(0) and eta it falls where all scores tie: nothing moves from any start.",
        repair="Let the optimal tokens be unique and l' < 0: the norm tends to infinity from any "
        "p(0) and with any constant step where the rivals of each input share a score, or all "
        "keys are on the margin; from p(0) = r p(alpha) with an explicit r; and from the basin, "
        "where ||p(k)|| / ln k tends to ||p(alpha)||.",
        telling={"literal-1": 0},
    ),
    erratum(
        theorem_2.PATH,
        gist="The joint path does not take v to v(alpha) for fixed R, nor p to p(alpha) for fixed "
        "r, nor for every loss of assumption A; for exp(-u) it does as both radii grow.",
        fails="The slide does not say how r and R move together. With R fixed, attention keeps a "
        "share of the other token, and v_r points to a mixture. With r fixed and small, the tokens "
        "of the longer mean are better than those of the larger label margin, and p_R turns to "
        "them. With both growing, the loss -u, which assumption A admits, turns v to the sum of "
        "the labelled tokens.",
        repair="For exp(-u), where assumption B holds with an explicit nu > 0 and p(alpha) exists, "
        "v_r / r tends to v(alpha) / ||v(alpha)|| as r and R tend to infinity in any way, and "
        "p_R / R to p(alpha) / ||p(alpha)|| as R does, whatever r >= r_0 does. Without B the limit "
        "of r/R decides which inputs p may leave behind; where r grows exponentially in R, one of "
        "tight margin and multiplier 0 keeps half of its logit margin, not all of it as in the "
        "joint p-SVM.",
        telling={"literal-1": 1, "literal-2": 1, "literal-3": 1},
    ),
    erratum(
        assumption_b.ASSUMPTION,
        gist="Assumption B can fail for every nu though v(alpha) and p(alpha) exist, as on "
        "published data; where it holds, the relaxation of the joint p-SVM is void.",
        fails='It is an assumption: refuted is only that it comes with the programmes ("for some '
        'nu > 0"). Where an input that does not support v is the slowest to saturate, heads turn '
        "to it at no cost of first order, and no nu will do. So it is for the inputs {0, (1, 1)}, "
        "{0, (1, -1)}, {0, (1/2, 3/2)} with labels 1, -1, 1.",
        repair="Let gamma be the largest label margin of another choice than alpha, and W_i the "
        "largest multiplier of input i in v(alpha), of sum 1: B holds with nu = min(Gamma - gamma, "
        "Gamma min W_i (1 - Y_i v(alpha)^T x_it)) where that is above 0, for no other data if "
        "attention can reach every choice, and for no larger nu if differences of keys are "
        "independent, as for almost all data with d >= n (T - 1). Where B holds and p(alpha) "
        "exists inputs that do not support v saturate as fast as others: margins of 0 relax "
        "nothing.",
        telling={"literal-1": 4, "literal-2": 3},
    ),
    erratum(
        general_data.GENERAL,
        gist="Descent on p need not converge to a max-margin solution on general data; from starts "
        "near that of locally-optimal tokens, far out, it does.",
        fails="Read for all data, any start and step, and the tokens that the run selects. Where "
        "all scores tie nothing moves; and with keys 1, 0, -2 and scores 1, -4, 0 the start p(0) = "
        "0 is stationary for every loss, and has no direction.",
        telling={"literal": 1},
    ),
    erratum(
        w_p_equivalence.EQUIVALENCE,
        gist="Descent on p with W fixed is not descent on W with p fixed; it is for W W^T = c I, "
        "or for the prompt W p itself.",
        fails="A step on W moves W p along -||p||^2 g, a step on p moves it along -W W^T g, g the "
        "gradient in W p. With W = diag(1, 2) these are two directions. At p = 0 a step on W "
        "moves nothing.",
        telling={"literal-1": 0},
    ),
    erratum(
        nonlinear_head_path.PATH,
        gist="For nonlinear heads the path need not be max-margin; with convex units such as ReLU "
        "it is where every Y_i h is convex and best tokens are unique, or concave and falls from "
        "them.",
        fails="The slides have no theorem on it. For h(x) = -x^2 and the tokens 1, -2 the prompt 0 "
        "is better than every token. For the tokens 0, 1 the best one is left with slope 0, so "
        "that the risk gap is of second order in the attention q to the other, not of first.",
        telling={"literal-1": 0, "literal-2": 0},
    ),
    erratum(
        normalised_descent.DESCENT,
        gist="Normalised descent can be trapped where plain descent converges, and is not always "
        "ahead of it; for one input with equal rivals every step size works.",
        printed="No sentence of the slides or the abstract at hand: read of experiments that show "
        "both. Normalised descent takes p(k+1) = p(k) - s grad L / ||grad L||; it is said to have "
        "the limit of plain descent (literal-1), and to be at least as far from zero (literal-2).",
        fails="A long step s = 2 throws the first input to its worse token, where it stays, while "
        "plain descent reaches p(alpha) = (-4, -1). With keys 3, 0, scores 2, 0 and s = 1 the "
        "gradient is longer than 1, and plain descent is ahead after one step.",
        repair="For a single input whose other tokens share a score below the best, and p(0) = 0, "
        "every s leads to the direction of p(alpha), with 1 - cos of order ln k / k. Also for "
        "several such inputs the norm grows at least linearly in k, where plain descent grows "
        "like ln k.",
        telling={"literal-1": 0},
    ),
    erratum(
        loss_choice.CHOICE,
        gist="The direction that descent reaches can depend on the loss, and the path need not.",
        printed="No sentence of the slides or the abstract at hand: read of experiments with the "
        "losses -u, exp(-u) and log(1 + exp(-u)). All reach one direction (literal-1), on "
        "different paths (literal-2).",
        fails="From p(0) = 0, with keys (1, 0), 0 and (-2, 1), 0 and scores 4, 0 and 1, 0, exp(-u) "
        "and log-loss converge to p(alpha) = (1, 3), while -u never slows the first input down and "
        "drags the second one to its worse token for ever. With one input the gradients of all "
        "losses at p have one direction, and with two keys all paths of descent lie on one ray.",
        repair="From a start in the basins of both losses both converge in direction to p(alpha). "
        "With a single input gradient flow follows one curve for all losses with l' < 0.",
        telling={"literal-2": 0},
    ),
)
