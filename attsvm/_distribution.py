"""Version and requirements of attsvm, from its installation or the checkout's pyproject.toml."""

import importlib.metadata
from pathlib import Path
from typing import Any

_NAME = "attsvm"


def version() -> str:
    """Return the version; "none" if neither an installation nor a pyproject.toml has it."""
    try:
        return importlib.metadata.version(_NAME)
    except importlib.metadata.PackageNotFoundError:
        return str(_project().get("version", "none"))


def requirements() -> tuple[str, ...]:
    """Return the requirements of attsvm, including those of its extras."""
    try:
        return tuple(importlib.metadata.requires(_NAME) or ())
    except importlib.metadata.PackageNotFoundError:
        project = _project()
        extras = project.get("optional-dependencies", {}).values()
        return (*project.get("dependencies", ()), *(word for extra in extras for word in extra))


def _project() -> dict[str, Any]:
    """Return the table `project` of the checkout that this file lies in, empty elsewhere."""
    import tomllib

    file = Path(__file__).parents[1] / "pyproject.toml"
    table = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    project: dict[str, Any] = table.get("project", {})
    return project if project.get("name") == _NAME else {}
