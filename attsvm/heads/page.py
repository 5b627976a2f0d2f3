"""A page on captured heads: their table, a picture of the model, and pictures of some heads."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import jinja2

from attsvm.heads.pictures import attention, model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attsvm.heads.table import Heads, Row, Table

MOST_HEADS = 12
"""Maximum number of heads of which the page has a picture."""

DOTS = 80
"""Number of dots per inch of the pictures, so that one has at most about 60 kB."""


def page(heads: Heads, table: Table) -> str:
    """Return an HTML page on heads, which loads nothing else.

    It has the table of all heads and a picture of the model. The 12 heads with the largest shares
    of selecting queries have pictures on their first sequence.

    Args:
        heads: the heads.
        table: their figures, `heads.table()`.

    Raises:
        UsageError: matplotlib is missing.
    """
    order = sorted(range(len(heads)), key=lambda h: (-_share(table.rows[h]), h))[:MOST_HEADS]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("attsvm.heads", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        table=table,
        notes=[*table.noted.items()],
        model=_embedded(model(table)),
        pictures=[(heads[h].name, _embedded(attention(heads[h]))) for h in order],
    )


def _share(row: Row) -> float:
    """Return the share of queries that select; 0 without queries."""
    return row.selecting if row.queries else 0.0


def _embedded(figure: Figure) -> str:
    """Return a picture as the address of an image that holds all its bytes."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS)
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
