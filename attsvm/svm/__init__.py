"""The Att-SVM family: max-margin programmes over tokens, each answer with its proof."""

from attsvm.svm.frobenius import FrobeniusAnswer, att_svm
from attsvm.svm.programme import Programme, att_svm_programme

__all__ = ["FrobeniusAnswer", "Programme", "att_svm", "att_svm_programme"]
