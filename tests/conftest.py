"""Property tests draw the same 20 instances in every run; `--hypothesis-profile=anew` draws others.

That one, which runs every night, draws 100. A test says how many only where one costs much.
"""

import hypothesis
import pytest

from attsvm.theory.declaration.proof import recorded

hypothesis.settings.register_profile(
    "fixed", max_examples=20, derandomize=True, database=None, deadline=None
)
hypothesis.settings.register_profile("anew", max_examples=100, database=None, deadline=None)
hypothesis.settings.load_profile("fixed")


@pytest.fixture
def steps():
    """The steps of the proofs that a test runs, which citations refer to."""
    with recorded() as found:
        yield found
