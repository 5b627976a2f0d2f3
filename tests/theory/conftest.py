"""Property tests draw the same instances in every run."""

import hypothesis

hypothesis.settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=None, max_examples=100
)
hypothesis.settings.load_profile("fixed")
