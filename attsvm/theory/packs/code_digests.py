"""Digests of a claim's code: all modules that its statement and its proof import."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from attsvm.errors import ClaimError
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
        file: the file that declares the claim.
        proof: `package.module:function`, or None.
    """
    own = located(file)
    home = home_of(proof.partition(":")[0], base_of(own)) if proof else None
    return (own,) if home is None else (own, located(home))


class Imports:
    """The imports of modules as their files are now; make a new object if files may have changed.

    Imports count anywhere in a module. The packages around a module count as well, since Python
    runs them first. Modules of attsvm and Python, and distributions that attsvm requires, are left
    out: the record of a run has their digests or versions.
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
        results: dict[Path, Module] = {}
        distributions: set[tuple[str, str]] = set()
        left = [(base_of(file), file) for file in files]
        while left:
            base, file = left.pop()
            if file not in results:
                results[file], inner, others = self._after(base, file)
                left += inner
                distributions |= others
        return results, distributions

    def digest(self, files: Iterable[Path], *words: str) -> str:
        """Return the digest of all modules that files import, and of some words.

        The digest does not depend on the folder of the code, nor on comments, docstrings, layout
        and line ends. So only an edit that may change a verdict needs a new review.
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
    """Return the digest of a claim's id, its statement, and all modules that it imports.

    Args:
        claim: the claim.
        imports: a cache of modules shared by many claims; None reads the modules now.
    """
    files = homes(claim.file, claim.proof)
    return (imports or Imports()).digest(files, claim.id, claim.statement)


def ensure_no_assert(claim: Claim) -> None:
    """Raise if code that a claim imports has an `assert` statement, which `python -O` would drop.

    Statements within functions and classes whose names begin with "test" do not count.

    Raises:
        ClaimError: a module that the statement or the proof imports has one.
    """
    modules, _ = Imports().reached(homes(claim.file, claim.proof))
    for module in modules.values():
        if module.asserts:
            raise ClaimError(
                f"{claim.id} rests on a module with an assert statement, which python -O drops",
                value=f"{module.shown}, line {module.asserts}",
                remedy="Raise an error in its place; a proof takes its steps by ensure_true and "
                "its relatives.",
            )
