"""The Att-SVM family: max-margin programmes over tokens, each answer with its proof."""

from attsvm.svm.family import (
    JointAnswer,
    finite_part,
    generalised_svm,
    joint_svm,
    local_svm,
    p_svm,
    v_svm,
)
from attsvm.svm.frobenius import FrobeniusAnswer, att_svm, certify, solve_programme
from attsvm.svm.programme import Programme, att_svm_programme

__all__ = [
    "FrobeniusAnswer",
    "JointAnswer",
    "Programme",
    "att_svm",
    "att_svm_programme",
    "certify",
    "finite_part",
    "generalised_svm",
    "joint_svm",
    "local_svm",
    "p_svm",
    "solve_programme",
    "v_svm",
]
