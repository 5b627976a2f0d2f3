"""Load the plug-in, and check shapes and types of the mathematics in every test."""

from jaxtyping import install_import_hook

# AttentionData checks its own arguments and must see bad ones, so `attsvm.data` stays out
_CHECKED = [
    f"attsvm.{name}"
    for name in (
        "tokens",
        "attention",
        "losses",
        "heads",
        "risk",
        "descent",
        "paths",
        "plots",
        "lipschitz",
        "svm",
    )
]
install_import_hook(_CHECKED, "beartype.beartype")

pytest_plugins = ["attsvm.theory.plugin"]
