"""Load the plug-in, and check shapes and types of the mathematics in every test."""

from tests.shape_checks import install

# AttentionData checks its own arguments and must see bad ones, so `attsvm.data` stays out
_CHECKED = [
    f"attsvm.{name}"
    for name in (
        "tokens",
        "training",
        "attention",
        "losses",
        "heads",
        "risk",
        "paths",
        "plots",
        "lipschitz",
        "svm",
    )
]
install(_CHECKED)

pytest_plugins = ["attsvm.theory.plugin"]
