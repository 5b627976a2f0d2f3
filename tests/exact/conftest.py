"""Every test starts at, and leaves behind, 53 bits."""

import pytest
from flint import ctx


@pytest.fixture(autouse=True)
def precision():
    ctx.prec = 53
    yield
    ctx.prec = 53
