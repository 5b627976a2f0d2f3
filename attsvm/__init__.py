"""attsvm: executable theory of softmax attention as a support vector machine over tokens.

`from attsvm import ...` offers data and losses, solvers, training, regularisation paths, attention
of PyTorch modules, and claims with `ask`, `verify`, `hunt` and `show`. Modules are imported on
first use.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attsvm.data import AttentionData
    from attsvm.errors import AttsvmError
    from attsvm.heads import capture, capture_qk
    from attsvm.losses import LOG_LOSS, LOSSES, SIGMOID_LOSS
    from attsvm.paths import path_joint, path_kq, path_w
    from attsvm.svm import (
        att_svm,
        finite_part,
        generalised_svm,
        joint_svm,
        local_svm,
        p_svm,
        v_svm,
    )
    from attsvm.svm.answer import solve
    from attsvm.svm.separability import separability
    from attsvm.theory import (
        PSD,
        Choice,
        Convex,
        Defined,
        Fitted,
        Hypothesis,
        Integer,
        Matrix,
        Near,
        Orthogonal,
        Permutation,
        Reading,
        Real,
        Records,
        Simplex,
        Sorted,
        Statement,
        Symmetric,
        Tensor,
        Unit,
        Vector,
        changed,
    )
    from attsvm.theory.declaration.question import question
    from attsvm.theory.interactive import ask, hunt, show, verify
    from attsvm.training import (
        descend_kq,
        descend_p,
        descend_vp,
        descend_w,
        follow,
        follow_kq,
        follow_p,
    )

    __version__: str

_NAMES = {
    "attsvm.data": "AttentionData",
    "attsvm.errors": "AttsvmError",
    "attsvm.losses": "SIGMOID_LOSS LOG_LOSS LOSSES",
    "attsvm.paths": "path_joint path_kq path_w",
    "attsvm.svm": "att_svm finite_part generalised_svm joint_svm local_svm p_svm v_svm",
    "attsvm.svm.answer": "solve",
    "attsvm.svm.separability": "separability",
    "attsvm.theory": "Choice Convex Defined Fitted Hypothesis Integer Matrix Near Orthogonal PSD "
    "Permutation Reading Real Records Simplex Sorted Statement Symmetric Tensor Unit Vector "
    "changed",
    "attsvm.theory.interactive": "ask hunt show verify",
    "attsvm.theory.declaration.question": "question",
    "attsvm.training": "descend_kq descend_p descend_vp descend_w follow follow_kq follow_p",
    "attsvm.heads": "capture capture_qk",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "__version__":
        from attsvm._distribution import version

        return version()
    if name == "LOGISTIC_LOSS":
        warnings.warn(
            "LOGISTIC_LOSS is 1/(1 + exp(u)): write SIGMOID_LOSS, or LOG_LOSS for log(1 + exp(-u))",
            stacklevel=2,
        )
        return import_module("attsvm.losses").SIGMOID_LOSS
    raise AttributeError(f"module 'attsvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
