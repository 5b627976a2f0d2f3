"""For the authors: the order of the paper's statements, and errata of those that do not stand."""

from __future__ import annotations

from attsvm.theory.errata import Source
from properties.sim.errata.constants import CONSTANTS
from properties.sim.errata.experiments import EXPERIMENTS
from properties.sim.errata.formulas import FORMULAS
from properties.sim.errata.introduction import INTRODUCTION
from properties.sim.errata.training import TRAINING

SIM = Source(
    "sim",
    order=(
        "sim/attention-shape",
        "sim/fixed-head",
        "sim/l2-objective",
        "sim/kq-bias",
        "sim/token-sparsity",
        "sim/token-separation",
        "sim/stability-logistic",
        "sim/stability-l2",
        "sim/tensor-trick",
        "sim/definition-3.3",
        "sim/definition-3.6",
        "sim/definition-3.8",
        "sim/orientation",
        "sim/lemma-3.11",
        "sim/lemma-3.12",
        "sim/lemma-3.13",
        "sim/lemma-3.13-hessian",
        "sim/lemma-3.13-l2",
        "sim/lemma-3.13-log-loss",
        "sim/theorem-3.14-part-1",
        "sim/theorem-3.14-part-2",
        "sim/theorem-3.15",
        *(f"sim/basic-{k}" for k in range(1, 8)),
        "sim/logistic-lipschitz",
        "sim/definition-4.1",
        "sim/figure-1",
        "sim/figure-2",
    ),
    errata=(*INTRODUCTION, *FORMULAS, *CONSTANTS, *TRAINING, *EXPERIMENTS),
    names={
        "AttentionData.X": "tokens",
        "AttentionData.Z": "queries",
        "AttentionData.y": "labels",
        "AttentionData.v": "head",
        "Run.start": "X(0)",
        "Soft.move": "V",
        "Soft.keep": "V is added to X^mm",
        "Headed.M": "values",
        "Spoken.sentences": "sentences by index",
        "Spoken.start": "X(0)",
        "Spoken.whole": "whole vocabulary",
    },
)
