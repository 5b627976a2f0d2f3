"""Digests of the code under a claim: of all modules that its statement and its proof import."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from attsvm.theory.declaration.claim import Claim
from attsvm.theory.packs.code_bases import (
    Dotted,
    base_of,
    files_of,
    followed,
    home_of,
    installed,
    located,
)
from attsvm.theory.packs.syntax import Module, digest_of, module_of


def homes(file: str | os.PathLike[str], proof: str | None) -> tuple[Path, ...]:
    """Return the file of a claim and, if it can be found, the file of its proof.

    Args:
        file: where the claim is declared.
        proof: `package.module:function`, or None.
    """
    own = located(file)
    home = home_of(proof.partition(":")[0], base_of(own)) if proof else None
    return (own,) if home is None else (own, located(home))


class Imports:
    """The imports of modules as their files are now; make a new object if files may have changed.

    Imports count wherever they stand in a module, and so do the packages that a module lies in,
    since Python runs these first. Modules of attsvm and of Python itself are left out, and so are
    distributions that attsvm requires: the record of a run has digests or versions of these.
    """

    def __init__(self) -> None:
        # most modules are reached from many claims, and import the same modules
        places = functools.cache(followed), functools.cache(files_of)
        self._after = functools.cache(functools.partial(_imported, *places))

    def reached(self, files: Iterable[Path]) -> tuple[dict[Path, Module], set[tuple[str, str]]]:
        """Return all modules that files import, directly or not, and installed distributions.

        Returns:
            The modules by their files, those in `files` included; name and version of
            distributions.
        """
        found: dict[Path, Module] = {}
        distributions: set[tuple[str, str]] = set()
        left = [(base_of(file), file) for file in files]
        while left:
            base, file = left.pop()
            if file not in found:
                found[file], inner, others = self._after(base, file)
                left += inner
                distributions |= others
        return found, distributions

    def digest(self, files: Iterable[Path], *words: str) -> str:
        """Return the digest of all modules that files import, and of some words.

        It is the same in every folder that the code may lie in. Comments, docstrings, layout and
        line ends do not count.
        """
        modules, distributions = self.reached(files)
        lines = [f"{module.shown} {module.digest}" for module in modules.values()]
        lines += [f"{name} (installed) {version}" for name, version in distributions]
        return digest_of("\x1f".join([*words, *sorted(lines)]))


def _imported(
    followed: Callable[[Path, str, Dotted], Path | None],
    files_of: Callable[[Path, Dotted], list[Path]],
    base: Path,
    file: Path,
) -> tuple[Module, tuple[tuple[Path, Path], ...], frozenset[tuple[str, str]]]:
    """Return a module, the modules that it imports with their bases, and distributions."""
    module = module_of(file, base)
    inner: dict[tuple[Path, Path], None] = {}
    distributions: set[tuple[str, str]] = set()
    for dotted in (*module.imported, file.relative_to(base).parts[:-1]):
        home = followed(base, module.top, dotted[:2]) if dotted else None
        if home is not None:
            prefixes = (dotted[:k] for k in range(1, len(dotted) + 1))
            inner |= {(home, f): None for parts in prefixes for f in files_of(home, parts)}
        elif dotted and installed(dotted[0])[0]:
            distributions.add(installed(dotted[0]))
    return module, tuple(inner), frozenset(distributions)


def digest_of_claim(claim: Claim, imports: Imports | None = None) -> str:
    """Return the digest of the id, the statement, and all modules that a claim imports.

    Args:
        claim: the claim.
        imports: those of many claims, so that each module is read once; None reads them now.
    """
    files = homes(claim.file, claim.proof)
    return (imports or Imports()).digest(files, claim.id, claim.statement)
