"""Every test starts at the precision of its module, BITS or 53, and leaves 53 bits behind."""

import pytest
from flint import ctx


@pytest.fixture(autouse=True)
def precision(request):
    ctx.prec = getattr(request.module, "BITS", 53)
    yield
    ctx.prec = 53
