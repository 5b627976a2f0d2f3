"""The claims of the three sources, as included in an installed attsvm.

In a checkout they are the packages `properties` and `symbolic` beside `attsvm`. A wheel has the
same files in the folder `attsvm/sources`, so that the top level of an environment contains only
`attsvm`. They are imported as `attsvm.sources.properties` and `attsvm.sources.symbolic`. Their
files still say `from properties...`: within them these two names refer to the packages of this
folder, whatever packages of these names a user has.
"""

import builtins
import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = ("properties", "symbolic")
"""The packages that a wheel has in its folder of sources."""

CLAIMS = f"{__name__}.properties"
"""The name of the pack of the claims of the three sources in a wheel."""

_FOLDER = Path(__file__).with_suffix("")
_PLACES = {_FOLDER, _FOLDER.resolve()}

__path__ = [str(_FOLDER)]


def is_carried() -> bool:
    """Return whether this attsvm carries the claims; a checkout has them beside it instead."""
    return (_FOLDER / "properties" / "__init__.py").is_file()


def holds(place: Path) -> bool:
    """Return whether a file or a folder lies among the carried sources."""
    return any(place.is_relative_to(folder) for folder in _PLACES)


def full_name(module: str, file: Path) -> str:
    """Return the full name of a module that the file imports by the name `module`.

    Args:
        module: a dotted name, as written in the file.
        file: the file.
    """
    own = module.partition(".")[0] in PACKAGES and holds(file)
    return f"{__name__}.{module}" if own else module


def _import(
    name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    """Import a module for a carried file; its `import` statements call this function."""
    top = name.partition(".")[0]
    if level or top not in PACKAGES:
        return builtins.__import__(name, globals, locals, fromlist, level)
    module = builtins.__import__(f"{__name__}.{name}", globals, locals, fromlist or ("",), 0)
    return module if fromlist else sys.modules[f"{__name__}.{top}"]


_BUILTINS = {**vars(builtins), "__import__": _import}


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader of carried files; their `import` statements call `_import`."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; `exec` takes the built-in functions from its globals."""
        vars(module)["__builtins__"] = _BUILTINS
        super().exec_module(module)


def _finder(folder: str) -> importlib.machinery.FileFinder:
    """Return the finder of carried modules in a folder.

    Raises:
        ImportError: the folder is not that of the carried sources.
    """
    if not holds(Path(folder)):
        raise ImportError("it holds no sources of attsvm", path=folder)
    return importlib.machinery.FileFinder(folder, (_Loader, [".py"]))


sys.path_hooks.insert(0, _finder)
