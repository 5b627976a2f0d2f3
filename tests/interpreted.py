"""Kernels run by the Python interpreter.

A kernel that only other kernels call is tested this way, as compiling it takes longer than its
test. Tests of the kernels that call it run its compiled code.
"""

from types import FunctionType

from attsvm.kernels import _Kernel


def interpreted(kernel, **constants):
    """A kernel and all kernels that it calls as Python functions, with `constants` replaced."""
    code = kernel.function.__code__
    scope = {**kernel.function.__globals__, **constants}
    called = [name for name in code.co_names if isinstance(scope.get(name), _Kernel)]
    scope.update({name: interpreted(scope[name], **constants) for name in called})
    return FunctionType(code, scope, kernel.function.__name__)
