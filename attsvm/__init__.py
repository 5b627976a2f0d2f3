"""attsvm: executable theory of softmax attention as a support vector machine over tokens.

`AttentionData` holds tokens, queries and scores; `att_svm` separates the optimal tokens, `solve`
does so with a report; `attsvm.theory` checks claims. Everything is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attsvm.data import AttentionData
    from attsvm.errors import AttsvmError
    from attsvm.svm import att_svm
    from attsvm.svm.answer import solve

    __version__: str

__all__ = ["AttentionData", "AttsvmError", "__version__", "att_svm", "solve"]

_HOMES = {
    "AttentionData": "attsvm.data",
    "AttsvmError": "attsvm.errors",
    "att_svm": "attsvm.svm",
    "solve": "attsvm.svm.answer",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("attsvm")
    raise AttributeError(f"module 'attsvm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
