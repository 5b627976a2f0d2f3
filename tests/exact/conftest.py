"""A fixture for the precision of balls: `BITS` of the test's module, or 53; afterwards 53 again."""

import pytest
from flint import ctx


@pytest.fixture(autouse=True)
def precision(request):
    ctx.prec = getattr(request.module, "BITS", 53)
    yield
    ctx.prec = 53
