"""The documents as a site: `sphinx-build -W -c docs . build/site`."""

import functools
import gc
import re
import sys
from pathlib import Path

from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.transforms.post_transforms import SphinxPostTransform

import attsvm

sys.path.insert(0, str(Path(__file__).parent))
import pages

project = html_title = "attsvm"
version = release = attsvm.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",  # copies MathJax into the site: reading it needs no network
]
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = ["docs/templates/*"]
root_doc = "docs/index"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = html_copy_source = html_show_copyright = False
highlight_language = "none"  # of blocks that name no language, such as outputs
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
napoleon_use_ivar = True
napoleon_custom_sections = [("Options", "params_style"), ("Limits", "params_style")]
toc_object_entries = False  # else each page copies the names of all others
autodoc_member_order = "bysource"
autodoc_use_type_comments = False  # nothing here has any, and looking for them takes seconds
python_maximum_signature_line_length = 88
copybutton_exclude = ".linenos, .gp, .go"
suppress_warnings = [
    "myst.header",  # pages of sources leave out a level of headings
    "ref.python",  # classes of one name in several modules
]


gc.set_threshold(200_000, 50, 1000)  # trees of documents stay, and searching them takes seconds


class _Foreign(SphinxPostTransform):
    """Leave names plain that no object of these pages has, such as those of types of libraries.

    Sphinx would compare each of them with all objects, which takes a sixth of the time.
    """

    default_priority = 5  # before Sphinx resolves references

    def run(self, **options: object) -> None:
        """Replace such references of one page."""
        known = _last_parts(self.env.domains["py"])
        for node in [*self.document.findall(addnodes.pending_xref)]:
            last = node["reftarget"].rpartition(".")[2].removesuffix("()")
            if node.get("refdomain") == "py" and last not in known:
                node.replace_self(node[0])


@functools.cache
def _last_parts(domain: Domain) -> frozenset[str]:
    """Return the names of all objects without those of their modules and classes."""
    return frozenset(name.rpartition(".")[2] for name in domain.data["objects"])


def _escape(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]):
    """Escape what reStructuredText takes for marks: in docstrings, backticks alone are marks."""
    parts = re.split(r"(``.*?``|`[^`]*`)", "\n".join(lines), flags=re.S)
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [p if p.startswith("``") else f"`{p}`" for p in parts[1::2]]
    lines[:] = "".join(parts).split("\n")


def _escape_types(app, what, name, obj, options, lines: list[str]) -> None:
    """Escape types that napoleon has taken from annotations, such as shapes with a star."""
    for k, line in enumerate(lines):
        lines[k] = re.sub(r"^(:vartype \w+: )(.*\*.*)$", r"\1``\2``", line)


_ACCESSIBLE = {
    r' role="heading">': ' role="heading" aria-level="2">',
    r"<pre(?! tabindex)": '<pre tabindex="0"',
    r'<div class="(?=table-wrapper)': '<div tabindex="0" class="',
    r'<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
}
"""What the theme leaves out, by pattern: levels of headings, names, and reach by the keyboard."""


def _complete(app: Sphinx, failed: Exception | None) -> None:
    """Add to all pages what readers with a keyboard or a screen reader need."""
    for page in Path(app.outdir).rglob("*.html"):
        text = old = page.read_text(encoding="utf-8")
        for pattern, better in _ACCESSIBLE.items():
            text = re.sub(pattern, better, text)
        if text != old:
            page.write_text(text, encoding="utf-8")


def _enter(app: Sphinx, failed: Exception | None) -> None:
    """Make the folder itself open at its first page."""
    page = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
    Path(app.outdir, "index.html").write_text(page)


def setup(app: Sphinx) -> None:
    """Connect what Sphinx calls when the pages are written."""
    app.add_post_transform(_Foreign)
    app.connect("builder-inited", lambda app: pages.write())
    app.connect("autodoc-process-docstring", _escape, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _escape_types, priority=600)
    app.connect("build-finished", _complete)
    app.connect("build-finished", _enter)
