"""The documents as a site: `sphinx-build -W -c docs . build/site`."""

from pathlib import Path

from sphinx.application import Sphinx

import attsvm

project = html_title = "attsvm"
version = release = attsvm.__version__
extensions = ["myst_parser"]
include_patterns = ["*.md", "docs/*.md"]
root_doc = "docs/index"
html_theme = "furo"
html_show_sourcelink = html_copy_source = False
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # pages of sources leave out a level of headings


def _enter(app: Sphinx, failed: Exception | None) -> None:
    """Make the folder itself open at its first page."""
    page = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
    Path(app.outdir, "index.html").write_text(page)


def setup(app: Sphinx) -> None:
    """Connect what Sphinx calls when the pages are written."""
    app.connect("build-finished", _enter)
