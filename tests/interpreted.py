"""Kernels run by Python: compiling one that no command calls by itself takes longer than its test.

What is compiled of them is part of the code of others, which tests run as users do.
"""

from types import FunctionType

from attsvm.kernels import _Kernel


def interpreted(kernel, **constants):
    """A kernel, and all that it calls, as functions of Python; some constants may be others."""
    code = kernel.function.__code__
    scope = {**kernel.function.__globals__, **constants}
    called = [name for name in code.co_names if isinstance(scope.get(name), _Kernel)]
    scope.update({name: interpreted(scope[name], **constants) for name in called})
    return FunctionType(code, scope, kernel.function.__name__)
