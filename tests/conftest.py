"""Property tests draw the same instances in every run; `--hypothesis-profile=anew` draws others."""

import hypothesis

hypothesis.settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("anew", database=None, deadline=None)
hypothesis.settings.load_profile("fixed")
