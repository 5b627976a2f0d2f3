"""Property tests draw the same instances in every run; `--hypothesis-profile=anew` draws others.

That one, which runs every night, draws more of them where a test does not say how many.
"""

import hypothesis
import pytest

from attsvm.theory.declaration.proof import recorded

hypothesis.settings.register_profile(
    "fixed", max_examples=40, derandomize=True, database=None, deadline=None
)
hypothesis.settings.register_profile("anew", database=None, deadline=None)
hypothesis.settings.load_profile("fixed")


@pytest.fixture
def steps():
    """The steps of the proofs that a test runs, which citations refer to."""
    with recorded() as found:
        yield found
