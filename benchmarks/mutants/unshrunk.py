"""A plug-in of pytest that stops at the first example that fails.

Making the example smaller takes longer than all tests that pass.
"""

import hypothesis
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """Draw examples and shrink none."""
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    own = hypothesis.settings(hypothesis.settings(), phases=phases)
    hypothesis.settings.register_profile("unshrunk", own)
    hypothesis.settings.load_profile("unshrunk")
