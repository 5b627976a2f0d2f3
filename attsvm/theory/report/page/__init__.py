"""A run as one self-contained HTML page, readable without JavaScript."""

from attsvm.theory.report.page.document import page

__all__ = ["page"]
