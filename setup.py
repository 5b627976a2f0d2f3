"""The step of the build that puts the claims of the three sources into a wheel, below attsvm."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

SOURCES = "attsvm/sources"
PACKAGES = ("properties", "symbolic")


class BuildWithSources(build_py):
    """A build step that copies `properties` and `symbolic` to `attsvm/sources`.

    An editable install needs no copies.
    """

    def run(self) -> None:
        """Build the packages, remove sources that an earlier build left, and copy the sources."""
        super().run()
        if self.editable_mode:
            return
        shutil.rmtree(Path(self.build_lib, SOURCES), ignore_errors=True)
        for name in PACKAGES:
            left_out = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*")
            shutil.copytree(name, Path(self.build_lib, SOURCES, name), ignore=left_out)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return the files that the build made."""
        own = Path(self.build_lib, SOURCES).rglob("*")
        sources = [os.fspath(file) for file in own if file.is_file()]
        return [*super().get_outputs(include_bytecode), *sources]


setup(cmdclass={"build_py": BuildWithSources})
