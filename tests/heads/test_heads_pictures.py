"""Pictures and pages of heads show the figures of their table."""

import re

import numpy as np
import pytest

from attsvm import capture_qk
from attsvm.cli import main
from attsvm.errors import DataError, UsageError
from attsvm.heads.page import MOST_HEADS, page
from attsvm.heads.pictures import MOST_TOKENS, attention, curves, model
from attsvm.heads.table import Heads


def drawn(name, heads=3, tokens=6, scale=1.0):
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 2, heads, tokens, 4))
    return capture_qk(scale * q, k, causal=True, name=name)


def several():
    return Heads((*drawn("low"), *drawn("high", heads=2, scale=99.0)))


def test_the_picture_of_a_model_has_the_share_of_each_head():
    heads = several()
    figure = model(heads.table())
    panel = figure.axes[0]
    (image,) = panel.get_images()
    shown = np.ma.filled(image.get_array(), np.nan)
    assert [label.get_text() for label in panel.get_yticklabels()] == ["low", "high"]
    shares = [row.selecting for row in heads.table().rows]
    np.testing.assert_array_equal(shown, [shares[:3], [*shares[3:], np.nan]])


def test_a_mark_says_what_most_queries_select():
    keys = np.array([[0.0], [1.0], [2.0]])
    queries = np.array([[[0.0], [-90.0], [-90.0]], [[0.0], [90.0], [90.0]], [[0.0], [0.0], [0.0]]])
    heads = capture_qk(queries, np.stack([keys] * 3), causal=True, scale=1.0)
    panel = model(heads.table()).axes[0]
    marks = {text.get_position(): text.get_text() for text in panel.texts}
    assert marks == {
        (0, 0): "1",
        (1, 0): "=",
        (2, 0): "1",
    }  # in the third, one query has equal weights


@pytest.mark.parametrize("heads", [1, 4, 9, 10, 12, 30])
def test_the_key_of_the_marks_lies_within_the_picture(heads):
    figure = model(drawn("one", heads=heads).table())
    figure.draw_without_rendering()
    (key,) = (text for text in figure.texts if "most select" in text.get_text())
    box = key.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= figure.axes[0].get_tightbbox().y0


def test_the_picture_of_a_head_has_its_weights_selections_and_gaps():
    (head,) = drawn("one", heads=1, scale=3.0)
    seen, clear = attention(head, 1).axes
    one = head.sequence(1)
    mesh, points = seen.collections
    shown = np.ma.filled(np.reshape(mesh.get_array(), (6, 6)), np.nan)
    np.testing.assert_array_equal(shown, np.where(one.seen, one.attention, np.nan))
    rows = np.flatnonzero(one.attention.max(axis=1) >= 0.5)
    np.testing.assert_array_equal(points.get_offsets(), np.stack([one.targets[rows], rows], axis=1))
    two = np.sort(one.logits, axis=1)[:, -2:]
    widths = [bar.get_width() for bar in clear.patches]
    np.testing.assert_allclose(widths[1:], (two[:, 1] - two[:, 0])[1:])
    assert widths[0] == 0  # the first query sees one token


def test_a_long_sequence_is_cut():
    (head,) = drawn("long", heads=1, tokens=MOST_TOKENS + 5)
    seen, clear = attention(head).axes
    assert len(clear.patches) == MOST_TOKENS
    assert seen.get_xlim()[1] <= MOST_TOKENS


@pytest.mark.parametrize("sequence", [-1, 2])
def test_a_sequence_that_a_head_lacks_is_an_error(sequence):
    (head,) = drawn("one", heads=1)
    with pytest.raises(DataError, match="no such sequence"):
        attention(head, sequence)


def test_curves_have_a_line_for_each_kind_of_training():
    clock = np.array([0, 10, 100])
    lines = {"keys": np.array([1.0, 2.0, 3.0]), "all": np.array([3.0, 2.0, 1.0])}
    figure = curves(clock, {"entropy": lines, "norm": lines}, expected={"entropy": 0.0})
    panel = figure.axes[0]
    for line, values in zip(panel.lines, lines.values(), strict=False):
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert len(panel.lines) == 3
    assert len(figure.axes[1].lines) == 2
    with pytest.raises(DataError, match="one value for each step"):
        curves(clock, {"entropy": {"keys": lines["keys"][:2]}})


def test_a_page_is_bounded_loads_nothing_and_has_every_figure(tmp_path):
    heads = several()
    text = page(heads, heads.table())
    assert not re.search(r"(src|href)=\"(?!data:)", text)
    assert text.count("<img") == 1 + min(len(heads), MOST_HEADS)
    for row in heads.table().rows:
        assert f"<td>{row.name}<td>{row.queries}<td>{row.weight:.3g}" in text
        assert all(note in text for note in row.notes)


def test_the_command_writes_page_and_picture(tmp_path, capsys):
    source, picture, out = (tmp_path / name for name in ("h.npz", "h.svg", "h.html"))
    several().save(source)
    assert main(["heads", str(source), "--plot", str(picture), "--out", str(out)]) == 0
    assert "low, head 0" in capsys.readouterr().out
    assert picture.read_text().startswith("<?xml")
    assert "low, head 0" in out.read_text()


@pytest.mark.parametrize("out", ["page.pdf", "page", "page.json"])
def test_a_page_of_another_format_is_an_error_before_the_file_is_read(tmp_path, out):
    with pytest.raises(UsageError, match=r"got /.*\.html.*\.json"):
        main(["heads", str(tmp_path / "none.npz"), "--out", str(tmp_path / out), "--debug"])
    assert not (tmp_path / out).exists()


def test_a_format_that_cannot_be_drawn_is_an_error_before_the_file_is_read(tmp_path):
    with pytest.raises(UsageError, match="ending"):
        main(["heads", str(tmp_path / "none.npz"), "--plot", "picture.docx", "--debug"])
