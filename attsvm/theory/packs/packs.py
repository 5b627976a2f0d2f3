"""Claim packs: their import, checks of their ids, and the search for claims by id."""

import contextlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from attsvm._words import nearest
from attsvm.errors import ClaimError, UnknownClaimError
from attsvm.theory.declaration.claim import Claim, declared
from attsvm.theory.declaration.statement import Statement
from attsvm.theory.packs.code_bases import (
    hold_to_texts,
    imported_module,
    loose_name,
    module_of_source,
)
from attsvm.theory.packs.code_digests import digest_of_claim
from attsvm.theory.packs.known_packs import (
    is_package,
    known_sources,
    module_of,
    premises_in,
    sources_of,
    statements_in,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pack:
    """Claims that ship together, and the places of their files.

    Attributes:
        name: its module, package or path.
        claims: its claims, in the order of their ids.
        folder: the folder of its package, or of its file.
        whole: whether all its claims are loaded, not only the claims of some statements.
    """

    name: str
    claims: tuple[Claim, ...]
    folder: Path
    whole: bool = True

    @property
    def expectations(self) -> Path:
        """The reviewed expectations file of the pack, whether or not it exists."""
        return self.folder / "expectations.json"

    @property
    def file(self) -> str:
        """The name of its file, "" for a package: its folder then belongs to it alone."""
        file = getattr(sys.modules.get(_module_name(self)), "__file__", None)
        name = Path(file).name if file else ""
        return "" if name == "__init__.py" else name

    @property
    def counterexamples(self) -> tuple[Path, ...]:
        """The curated counterexamples: the files in their folders."""
        return tuple(sorted(f for place in self.curated for f in place.glob("*.json")))

    @property
    def curated(self) -> frozenset[Path]:
        """The folders `counterexamples` beside the pack or a claim, and those in its package."""
        files = {Path(c.file) for c in self.claims}  # a claim typed at a prompt has no file
        places = (self.folder, *(beside(file) for file in files if file.is_file()))
        package = hasattr(sys.modules.get(_module_name(self)), "__path__")
        inner = self.folder.rglob("counterexamples") if package else ()
        return frozenset((*(place / "counterexamples" for place in places), *inner))


def beside(file: Path) -> Path:
    """Return the folder of a statement, which may be a file or a package with helpers."""
    folder = file.resolve().parent
    inner = all((place / "__init__.py").is_file() for place in (folder, folder.parent))
    return folder.parent if inner and (folder.parent / "counterexamples").is_dir() else folder


def load_packs(
    named: Iterable[str] = (),
    only: Sequence[str] = (),
    ids: Iterable[str] = (),
) -> tuple[Pack, ...]:
    """Return the installed packs, the packs of the current project, and named packs; or only some.

    A pack has the name of a module or package, or is a path to a .py file. A project lists its own
    packs under `[tool.attsvm] packs` in its pyproject.toml. The file is read in the current folder,
    and in the checkout from which attsvm itself may run. If two packs have one name, the pack of
    the current folder counts.

    Args:
        named: packs besides the installed ones.
        only: the packs to return, if any; they may also be named by their entry points. Other
            packs are loaded only if claims depend on them.
        ids: the ids of the needed claims, if only some are needed. If each id leads to a file (see
            `attsvm.theory.packs.known_packs`), only these files of packages are loaded. Then unique
            ids and existing dependencies are not checked across the whole package.

    Raises:
        ClaimError: a pack cannot be imported, an id occurs twice, a dependency is missing, or
            there is no pack with a name in `only`.
    """
    named = list(named)
    chosen = sources_of(only)
    statements = statements_in(ids)
    if statements:
        sources = chosen or [*sorted(known_sources()), *named]
        part = _of_statements(sources, statements)
        if part:
            return part
    if only:
        packs = [_load(source) for source in chosen]
        if not list(_missing(_by_id(packs))):
            return _unique(packs)
        loaded = load_packs([*named, *chosen])
        return tuple(pack for pack in loaded if pack.name in chosen)
    packs = [_load(source) for source in [*sorted(known_sources()), *named]]
    seen = _by_id(packs)
    for claim, needed in _missing(seen):
        what = "depends on a claim" if ":" in needed else "rests on a statement"
        raise ClaimError(
            f"{claim} {what} that is not there",
            value=needed,
            remedy=nearest(needed, list(seen)),
        )
    return _unique(packs)


def premises(named: Iterable[str] = (), only: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Return the statements of packages with those that they rest on, from their files alone.

    Args:
        named: packs besides the installed ones.
        only: the packs to read, if not all.

    Raises:
        ClaimError: there is no pack with a name in `only`.
    """
    sources = sources_of(only) or [*sorted(known_sources()), *named]
    pairs = (pair for source in sources for pair in premises_in(source))
    return dict(sorted(pairs, key=lambda pair: f"{pair[0]}:"))  # in the order of claims


def _of_statements(sources: Iterable[str], statements: Sequence[str]) -> tuple[Pack, ...]:
    """Return packs with these statements; none if a statement has no file.

    Packages are loaded no further than the files of these statements.

    Raises:
        ClaimError: a pack cannot be imported, or an id occurs twice.
    """
    places = {
        source: sorted({m for s in statements if (m := module_of(source, s))}) for source in sources
    }
    if not any(places.values()):
        return ()
    needed = (source for source in places if places[source] or not is_package(source))
    packs = [_load(source, places[source]) for source in needed]
    claims = _by_id(packs).values()
    there = {claim.statement_id for claim in claims}.issuperset(statements)
    return _unique(packs) if there else ()


def _by_id(packs: Iterable[Pack]) -> dict[str, Claim]:
    """Return the claims of packs by id.

    Raises:
        ClaimError: two claims have one id.
    """
    seen: dict[str, Claim] = {}
    for claim in (c for pack in packs for c in pack.claims):
        other = seen.setdefault(claim.id, claim)
        if other is not claim and _identity(other) != _identity(
            claim
        ):  # one file may be loaded twice
            raise ClaimError(
                f"two claims have the id {claim.id}: {other.file}:{other.line} and "
                f"{claim.file}:{claim.line}",
                remedy="Rename one of them.",
            )
    return seen


def _identity(claim: Claim) -> tuple[str, int, str, str]:
    """Return place, statement and digest of a claim, which are equal if it was loaded twice."""
    return claim.file, claim.line, claim.statement, digest_of_claim(claim)


def _missing(claims: Mapping[str, Claim]) -> Iterator[tuple[str, str]]:
    """Yield each claim with each claim or statement that it needs and that is not loaded."""
    statements = {claim.statement_id for claim in claims.values()}
    for claim in claims.values():
        yield from ((claim.id, needed) for needed in claim.depends_on if needed not in claims)
        yield from ((claim.id, needed) for needed in claim.rests_on if needed not in statements)


def _unique(packs: Iterable[Pack]) -> tuple[Pack, ...]:
    return tuple({pack.folder / pack.name: pack for pack in packs}.values())


def _load(source: str, inner: Sequence[str] = ()) -> Pack:
    """Return a loaded pack; for a package, `inner` may name the needed modules in full."""
    before = set(sys.modules)
    hold_to_texts()
    # a pack's code may change the current folder
    with declared() as (made, refused), contextlib.chdir("."):
        try:
            modules = _modules(source, inner)
        except ClaimError as error:
            if not refused:
                raise
            raise _together(refused) from error
    try:
        if refused:
            raise _together(refused)
        return _pack(source, modules, made, whole=not inner)
    except ClaimError:  # the next load must check the pack again
        for name in {part.__name__ for part in modules} - before:
            del sys.modules[name]
        raise


def _modules(source: str, inner: Sequence[str]) -> list[ModuleType]:
    """Import the module of a pack, or modules of a package; return them ordered by name.

    Args:
        source: the pack.
        inner: the needed modules of the package; all if none is named.

    Raises:
        ClaimError: a module cannot be imported.
    """
    module = module_of_source(source)
    _ensure_at_hand(source, module)
    modules = [module]
    modules += map(imported_module, inner)
    for outer in modules[1:] if inner else [module]:
        if hasattr(outer, "__path__"):
            result = pkgutil.walk_packages(outer.__path__, outer.__name__ + ".")
            # import each module here first: `walk_packages` would pass on a package's own error
            modules += [imported_module(info.name) for info in result]
    return sorted(modules, key=lambda part: part.__name__)


def _together(refused: Sequence[ClaimError]) -> ClaimError:
    """Return one error with the faults of all statements of a pack."""
    if len(refused) == 1:
        return refused[0]
    lines = " ".join(f"({k}) {error}" for k, error in enumerate(refused, 1))
    return ClaimError(f"{len(refused)} statements cannot be checked: {lines.rstrip('.')}")


def _ensure_at_hand(source: str, module: ModuleType) -> None:
    """Raise if the current folder holds another version of this pack than the loaded one.

    Raises:
        ClaimError: the texts differ, for example because a pack was edited after its installation.
    """
    loaded = Path(module.__file__ or ".").resolve()
    present = Path.cwd() / Path(*source.split("."))
    if loaded.name == "__init__.py":
        loaded = loaded.parent
    else:
        present = present.with_suffix(".py")
    if source.endswith(".py") or not present.exists() or present.samefile(loaded):
        return
    if _texts(present) != _texts(loaded):
        raise ClaimError(
            f"the pack {source} that is installed differs from the one in this folder",
            value=str(loaded),
            remedy="Install it again, best by `pip install -e .`; or list it under [tool.attsvm] "
            f'in pyproject.toml, packs = ["{source}"], and the files of this folder are checked.',
        )


def _texts(place: Path) -> dict[Path, bytes]:
    """Return the Python files of a package, or a module, by their places in it."""
    files = place.rglob("*.py") if place.is_dir() else [place]
    return {file.relative_to(place): file.read_bytes() for file in files}


def _pack(
    source: str, modules: Sequence[ModuleType], made: Sequence[Claim], *, whole: bool
) -> Pack:
    module = modules[0]
    claims: dict[str, Claim] = {}
    for value in (value for part in modules for value in declared_in(part)):
        if isinstance(value, Claim) and claims.setdefault(value.id, value) is not value:
            raise ClaimError(
                f"two claims have the id {value.id}: {claims[value.id].file} and {value.file}",
                remedy="Rename one of them.",
            )
    files = {getattr(part, "__file__", None) for part in modules}
    for claim in made:
        if claim.file in files and claim.id not in claims:
            raise ClaimError(
                f"the claim {claim.id} of {claim.file}:{claim.line} is bound to no name of its "
                "module, so it would not be checked",
                remedy="Write `NAME = Statement(...)` at the top level of the module, outside "
                "functions, lists and loops.",
            )
    if not claims and whole:
        from attsvm.theory.declaration.question import Question

        remedy = "Write `NAME = Statement(...)` at the top level of the module."
        if any(isinstance(value, Question) for value in vars(module).values()):
            remedy = f"`attsvm ask {source}` answers its questions."
        raise ClaimError("a claim pack holds no claim", value=source, remedy=remedy)
    folder = Path(module.__file__ or ".").resolve().parent
    return Pack(source, tuple(claims[key] for key in sorted(claims)), folder, whole)


def declared_in(module: ModuleType) -> Iterator[object]:
    """Yield the values of a module, and in the place of a statement its claims."""
    for value in vars(module).values():
        if isinstance(value, Statement):
            yield from value.claims
        else:
            yield value


def _module_name(pack: Pack) -> str:
    return loose_name(pack.name) if pack.name.endswith(".py") else pack.name


def modules(pack: Pack) -> list[ModuleType]:
    """Return the modules that loading the pack has imported, in the order of their names."""
    own = _module_name(pack)
    inner = own + "."
    names = [name for name in sys.modules if name.startswith(own)]
    names = [name for name in names if name == own or name.startswith(inner)]
    return [sys.modules[name] for name in sorted(names)]


def members(packs: Iterable[Pack], kind: type[T]) -> tuple[T, ...]:
    """Return the module-level values of a type in these packs, each value once."""
    values = [v for pack in packs for module in modules(pack) for v in vars(module).values()]
    return tuple({id(v): v for v in values if isinstance(v, kind)}.values())


NO_CLAIMS = (
    "No pack is known here: name one by --pack, or list some under [tool.attsvm] in the "
    "pyproject.toml of the current folder. The claims of the three sources come with attsvm if it "
    "is installed or lies in a checkout of its repository; this copy has neither."
)
"""Remedy of the error that there are no claims at all."""


def find_claims(packs: Sequence[Pack], wanted: Sequence[str] = ()) -> tuple[Claim, ...]:
    """Return claims by id, statement, or prefix up to / or :; all claims if nothing is named.

    Raises:
        UnknownClaimError: a word matches nothing; the error names the nearest ids.
    """
    known = {c.id: c for pack in reversed(packs) for c in pack.claims}
    claims = [known[key] for key in sorted(known)]
    if not wanted:
        return tuple(claims)
    chosen: dict[str, Claim] = {}
    for word in wanted:
        matches = [c for c in claims if _begins(c.id, word)]
        if not matches:
            if word.endswith(".py"):
                raise UnknownClaimError(
                    "a claim is named by its id, not by its file",
                    value=word,
                    remedy=f"Write --pack {word}, which brings the claims of a file.",
                )
            if word.endswith("*"):
                raise UnknownClaimError(
                    "a star is no wildcard here",
                    value=word,
                    remedy="Use a prefix that ends in / or :, such as sim/.",
                )
            raise UnknownClaimError(
                f"no claim, statement or source is called {word!r}",
                remedy=(_alike(word, [c.id for c in claims]) or "`attsvm claims` lists them.")
                if claims
                else NO_CLAIMS,
            )
        chosen.update({c.id: c for c in matches})
    return tuple(chosen[key] for key in sorted(chosen))


def _alike(word: str, ids: Sequence[str]) -> str:
    """Return the names most similar to a word: sources, else statements; readings after a ":"."""
    if ":" in word:
        return nearest(word, ids)
    statements = dict.fromkeys(id.partition(":")[0] for id in ids)
    sources = dict.fromkeys(id.partition("/")[0] for id in statements)
    near = "" if "/" in word.rstrip("/") else nearest(word.rstrip("/"), sources, least=0.6)
    if not near and word.find("/") == len(word) - 1:
        return f"The sources are {', '.join(sources)}; --pack FILE brings claims of your own."
    return near or nearest(word, statements)


def _begins(id: str, word: str) -> bool:
    """Return whether a word is an id, or a prefix of it that ends at / or :."""
    return id.startswith(word) and (
        word[-1:] in ("/", ":") or id[len(word) :][:1] in ("", "/", ":")
    )
