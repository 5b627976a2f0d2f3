"""A plug-in of pytest that makes Hypothesis stop at the first failing example.

Shrinking the example would take longer than all tests that pass.
"""

import hypothesis
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Load a profile of Hypothesis that draws examples and does not shrink them."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    own = hypothesis.settings(hypothesis.settings(), phases=phases)
    hypothesis.settings.register_profile("unshrunk", own)
    hypothesis.settings.load_profile("unshrunk")
