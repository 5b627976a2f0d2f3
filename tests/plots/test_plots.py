"""Pictures show the numbers that they are given, and the numbers are what they say."""

import csv
import io
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attsvm.attention import logits_of_p, logits_of_w, softmax
from attsvm.data import AttentionData
from attsvm.errors import DataError, TiedTokensError, UsageError
from attsvm.losses import LOSSES
from attsvm.plots import (
    Heading,
    Table,
    counts,
    effective_tokens,
    heading,
    histograms,
    mean_and_error,
    progress,
    projections,
    separation_margins,
    shares,
    token_weights,
    trajectories,
)
from attsvm.plots.draw import band, count_axis
from attsvm.plots.margins import plot_margins
from attsvm.plots.style import PALETTE, sheet
from attsvm.strategies.data import attention_data
from attsvm.svm import att_svm
from attsvm.svm.geometry import margins
from attsvm.training import follow_w
from properties._support.published_data import gaussian_protocol, one_input
from tests.late import Late

axes, colors, figure = (Late(f"matplotlib.{name}") for name in ("axes", "colors", "figure"))


def entries(size):
    return st.lists(st.integers(-9, 9), min_size=size, max_size=size)


# measures


@given(entries(3).filter(any), entries(3).filter(any))
def test_a_heading_is_what_rational_arithmetic_says(w, u):
    W, U = np.array([w], dtype=float), np.array(u, dtype=float)
    inner = sum(a * b for a, b in zip(w, u, strict=True))
    square, size = sum(a * a for a in w), sum(a * a for a in u)
    off = square - (Fraction(inner * inner, size) if inner > 0 else 0)
    h = heading(W, U)
    assert h.norm[0] == pytest.approx(math.sqrt(square), rel=1e-14)
    assert h.residual[0] == pytest.approx(math.sqrt(off), rel=1e-13, abs=1e-14)
    cosine = inner / math.sqrt(square * size)
    assert h.cosine[0] == pytest.approx(cosine, abs=1e-14)
    assert h.gap[0] == pytest.approx(1.0 - cosine, abs=1e-14)


def test_there_is_no_heading_towards_zero_and_none_of_zero():
    with pytest.raises(DataError, match="other than zero"):
        heading(np.ones((1, 3)), np.zeros(3))
    of_zero = heading(np.zeros((1, 3)), np.ones(3))
    assert np.isnan([of_zero.cosine[0], of_zero.gap[0]]).all()
    assert (of_zero.norm[0], of_zero.residual[0]) == (0.0, 0.0)


def test_a_gap_survives_where_one_minus_the_cosine_is_lost():
    for angle in (1e-5, 1e-9, 1e-12):
        turned = 1e6 * np.array([[np.cos(angle), np.sin(angle)]])
        h = heading(turned, np.array([3.0, 0.0]))
        assert h.gap[0] == pytest.approx(angle**2 / 2.0, rel=1e-6, abs=0.0)
        assert h.residual[0] == pytest.approx(1e6 * angle, rel=1e-6)


def test_a_heading_of_matrices_is_that_of_their_entries():
    generator = np.random.default_rng(0)
    W, target = generator.normal(size=(2, 5, 3, 3)), generator.normal(size=(3, 3))
    for name in ("norm", "cosine", "gap", "residual"):
        flat = getattr(heading(W.reshape(2, 5, 9), target.ravel()), name)
        np.testing.assert_array_equal(getattr(heading(W, target), name), flat)
    with pytest.raises(DataError, match="differ in shape"):
        heading(W, np.ones((2, 2)))


@given(attention_data(), st.integers(0, 99))
def test_weights_and_margins_are_those_of_the_layer(data, seed):
    generator = np.random.default_rng(seed)
    mask = generator.random((data.n, data.T)) < 0.7
    mask[np.arange(data.n), data.gamma.argmax(axis=1)] = True
    data = AttentionData(data.X, data.Z, scores=data.gamma, mask=mask)
    W, p = generator.normal(size=(2, 3, data.d, data.d)), generator.normal(size=(4, data.d))
    weights = token_weights(data, W)
    for index in np.ndindex(2, 3):
        expected = softmax(logits_of_w(data.X, data.Z, W[index]), data.present)
        np.testing.assert_allclose(weights[index], expected, rtol=1e-12, atol=1e-15)
    for k, row in enumerate(token_weights(data, p, prompts=True)):
        expected = softmax(logits_of_p(data.X, p[k]), data.present)
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-15)
    chosen = data.gamma.argmax(axis=1)
    if (mask.sum(axis=1) > 1).any():
        found = separation_margins(data, W, chosen)
        for index in np.ndindex(2, 3):
            table = margins(data, W[index], chosen)
            np.testing.assert_allclose(
                found[index], table[np.isfinite(table)], rtol=1e-11, atol=1e-12
            )


def test_margins_of_prompts_and_of_named_targets():
    data = one_input()
    p = np.array([[1.0, 2.0]])
    assert separation_margins(data, p, prompts=True) == pytest.approx(np.array([[0.9, 1.9]]))
    assert separation_margins(data, p, [1], prompts=True) == pytest.approx(np.array([[-0.9, 1.0]]))
    tied = AttentionData(data.X, data.Z, scores=np.ones((1, 3)))
    with pytest.raises(TiedTokensError):
        separation_margins(tied, p, prompts=True)
    with pytest.raises(DataError, match="prompts=True"):
        token_weights(data, p)
    with pytest.raises(DataError, match="differ from tokens"):
        token_weights(data, np.ones((2, 3)), prompts=True)


def test_effective_tokens_count_equal_shares():
    for T in range(1, 6):
        for used in range(1, T + 1):
            weights = np.where(np.arange(T) < used, 1.0 / used, 0.0)
            assert effective_tokens(weights) == pytest.approx(used)


def test_projections_are_products():
    generator = np.random.default_rng(1)
    W, Z = generator.normal(size=(2, 4, 3, 3)), generator.normal(size=(5, 3))
    seen = projections(W, Z)
    assert seen.shape == (5, 2, 4, 3)
    np.testing.assert_allclose(seen[3, 1, 2], W[1, 2] @ Z[3])


def test_histograms_share_bins_and_lose_nothing():
    values = np.random.default_rng(2).normal(size=(3, 500)) * [[1.0], [2.0], [5.0]]
    edges, filled = counts(values, 20)
    assert (edges[0], edges[-1]) == (values.min(), values.max())
    assert filled.sum(axis=1).tolist() == [500] * 3
    inside = (values[1] >= edges[7]) & (values[1] < edges[8])
    assert filled[1, 7] == inside.sum()
    for bad in (np.array([[np.nan]]), np.zeros((0, 3))):
        with pytest.raises(DataError):
            counts(bad)
    with pytest.raises(DataError):
        counts(values, 0)


def test_means_and_errors_leave_out_what_is_missing():
    values = np.array([[1.0, np.nan], [2.0, 5.0], [6.0, np.nan]])
    mean, error, count = mean_and_error(values)
    assert mean.tolist() == [3.0, 5.0]
    assert error[0] == pytest.approx(np.std([1.0, 2.0, 6.0], ddof=1) / math.sqrt(3))
    assert np.isnan(error[1])
    assert count.tolist() == [3, 1]
    mean, _, count = mean_and_error(np.full((2, 1), np.nan))
    assert np.isnan(mean[0])
    assert count.tolist() == [0]


# tables


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5))
def test_csv_and_json_give_back_every_float(values):
    """What is no finite number is left empty."""
    values = [*values, math.nan, math.inf, -math.inf]
    table = Table({"x": np.array(values), "k": np.arange(len(values))})
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert [float(row["x"]) for row in rows[:-3]] == values[:-3]
    assert [row["x"] for row in rows[-3:]] == [""] * 3
    assert table.json()["x"] == [*values[:-3], None, None, None]
    assert [int(row["k"]) for row in rows] == table.json()["k"]


def test_tables_broadcast_select_join_and_stack():
    table = Table.of(run=np.array([[0], [1]]), name="a, b", x=np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert table["x"].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert table.csv().splitlines()[:2] == ["run,name,x", '0,"a, b",1.0']
    assert table.where(run=1)["x"].tolist() == [3.0, 4.0]
    assert len(table.where(run=1, name="c")) == 0
    assert table.distinct("run") == [0, 1]
    longer = Table.join([table, Table.of(run=[1], name="a, b", x=5.0)])
    (stacked,) = longer.stack("run", "x")
    np.testing.assert_array_equal(stacked, [[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])


@pytest.mark.parametrize(
    "columns",
    [
        {"x": np.zeros(2), "y": np.zeros(3)},
        {"x": np.zeros((2, 2))},
        {"x": np.array([object()])},
        {"x": np.array([1j])},
    ],
)
def test_what_is_no_table_is_refused(columns):
    with pytest.raises(DataError):
        Table(columns)


def test_headings_come_back_from_their_table():
    W = np.random.default_rng(3).normal(size=(2, 4, 3))
    h = heading(W, np.ones(3))
    back = Heading.of(h.table(run=np.array([[0], [1]]), step=np.arange(4)))
    for name in ("norm", "cosine", "gap", "residual"):
        np.testing.assert_array_equal(getattr(back, name), getattr(h, name))


# pictures


def curve(line):
    return np.stack(line.get_data())


def labelled(axes, label):
    (line,) = [line for line in axes.get_lines() if line.get_label() == label]
    return line


def test_paths_take_the_colour_of_the_ray_that_they_run_to():
    east, north = np.array([[2.0, 0.0]]), np.array([[0.0, 3.0]])
    paths = np.array([[[0.0, 1.0], [4.0, 1.0]], [[1.0, 0.0], [1.0, 5.0]]])
    tokens = np.array([[[0.5, 0.25], [-1.0, 0.75]]])
    figure = trajectories({"p": paths}, {"east": east, "north": north}, tokens)
    (axes,) = figure.axes
    for name, ray in (("east", east[0]), ("north", north[0])):
        start, end = curve(labelled(axes, name)).T
        assert start.tolist() == [0.0, 0.0]
        assert heading(end[None], ray).gap[0] < 1e-15
    colours = {}
    for line in axes.get_lines():
        for b, path in enumerate(paths):
            if line.get_linestyle() == "-" and np.array_equal(curve(line), path.T):
                colours[b] = colors.to_hex(line.get_color())
    assert colours == {0: PALETTE[0].lower(), 1: PALETTE[1].lower()}
    (dots,) = axes.collections
    np.testing.assert_array_equal(dots.get_offsets(), tokens[0])
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["1", "2"]
    turned = trajectories({"p": paths}, {"east": east, "north": north}, towards=[1, 0])
    drawn = [line for line in turned.axes[0].get_lines() if len(line.get_xdata()) == 2]
    first = [line for line in drawn if np.array_equal(curve(line), paths[0].T)]
    assert colors.to_hex(first[0].get_color()) == PALETTE[1].lower()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_all_points_and_the_origin_lie_within_the_limits_and_rays_run_out_of_them(sign):
    paths = sign * np.random.default_rng(4).normal(loc=[5.0, 9.0], size=(3, 6, 2))
    (axes,) = trajectories({"p": paths}, {"r": sign * np.ones((1, 2))}).axes
    ends = curve(labelled(axes, "r"))[:, 1]
    for k, low_high in enumerate((axes.get_xlim(), axes.get_ylim())):
        assert low_high[0] < min(paths[..., k].min(), 0.0)
        assert max(paths[..., k].max(), 0.0) < low_high[1]
        assert not low_high[0] <= ends[k] <= low_high[1]
    assert axes.get_aspect() == 1.0


def test_a_margin_is_short_only_below_1(monkeypatch, tmp_path):
    drawn, true = {}, axes.Axes.scatter

    def noting(axes, x, y, *, label, **look):
        drawn[label] = sorted(x)
        return true(axes, x, y, label=label, **look)

    monkeypatch.setattr(axes.Axes, "scatter", noting)
    plot_margins(np.array([[np.inf, 1.0, 0.5, 2.0, 1.0]]), [[1]], "t", tmp_path / "m.svg")
    labels = ["other tokens", "support tokens", "short of the margin"]
    assert drawn == dict(zip(labels, [[1.0, 2.0], [1.0], [0.5]], strict=True))


def test_counts_are_shown_from_the_first_to_the_last():
    panel = figure.Figure().add_subplot()
    count_axis(panel, np.array([100.0, np.nan, 1.0, 10.0]))
    assert panel.get_xlim() == (1.0, 100.0)


def test_groups_of_paths_need_a_ray_each():
    paths = {"Wz_1": np.zeros((1, 2, 2)), "Wz_2": np.ones((1, 2, 2))}
    figure = trajectories(paths, {"r": np.eye(2)})
    assert {"r, Wz_1", "r, Wz_2"} <= {line.get_label() for line in figure.axes[0].get_lines()}
    with pytest.raises(DataError, match="each group"):
        trajectories(paths, {"r": np.ones((1, 2))})


def test_progress_plots_the_headings_and_dashes_the_decoys():
    data = gaussian_protocol(np.random.default_rng(5), 2, 3, 3)
    target = att_svm(data).W
    run = follow_w(data, np.eye(3), LOSSES["log-loss"], np.geomspace(4.0, 400.0, 9).tolist())
    wrong = target + 0.1 * np.eye(3)
    directions = {"right": heading(run.W, target), "wrong": heading(run.W, wrong)}
    figure = progress(run.steps, directions, ["wrong"])
    norm, cosine, gap, residual = figure.axes
    np.testing.assert_array_equal(
        curve(norm.get_lines()[0]), [run.steps, np.linalg.norm(run.W[0], axis=(1, 2))]
    )
    assert len(norm.get_lines()) == 1
    for name, matrix in (("right", target), ("wrong", wrong)):
        line = labelled(residual, name)
        assert (line.get_linestyle() == "--") == (name == "wrong")
        flat, u = run.W[0].reshape(-1, 9), matrix.ravel() / np.linalg.norm(matrix)
        distance = np.linalg.norm(flat - np.outer(np.maximum(flat @ u, 0.0), u), axis=1)
        np.testing.assert_allclose(curve(line)[1], distance, rtol=1e-9)
        cosines = flat @ u / np.linalg.norm(flat, axis=1)
        np.testing.assert_allclose(curve(labelled(cosine, name))[1], cosines, rtol=1e-12)
        np.testing.assert_allclose(curve(labelled(gap, name))[1], 1.0 - cosines, atol=1e-12)
    # the picture does its work: level and falling for the right one, not for the other
    right, wrong = (curve(labelled(residual, name))[1] for name in ("right", "wrong"))
    assert right[-1] / right[-3] < 1.5
    assert wrong[-1] / wrong[-3] > 2.5
    assert [a.get_yscale() for a in figure.axes] == ["log", "linear", "log", "log"]


def test_progress_takes_a_clock_for_each_run():
    W = np.random.default_rng(6).normal(size=(2, 4, 3))
    clock = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 4.0, 8.0]])
    norm = progress(clock, {"a": heading(W, np.ones(3))}).axes[0]
    for b, line in enumerate(norm.get_lines()):
        np.testing.assert_array_equal(curve(line), [clock[b], np.linalg.norm(W[b], axis=1)])
    with pytest.raises(ValueError, match="broadcast"):
        progress(clock[:, :3], {"a": heading(W, np.ones(3)), "b": heading(W[:1], np.ones(3))})


def test_shares_draw_the_optimal_solid_and_the_largest_dotted():
    steps = np.array([0, 1, 10, 100])
    optimal, largest = np.linspace(0.1, 0.9, 8).reshape(4, 2), np.full((4, 2), 0.95)
    (axes,) = shares(steps, optimal, largest).axes
    for i in range(2):
        np.testing.assert_array_equal(
            curve(labelled(axes, f"input {i + 1}")), [steps, optimal[:, i]]
        )
    shown = [line for line in axes.get_lines() if len(line.get_xdata())]
    dotted = [line for line in shown if line.get_linestyle() != "-"]
    assert len(dotted) == 2
    for i, line in enumerate(dotted):
        np.testing.assert_array_equal(curve(line), [steps, largest[:, i]])
    assert axes.get_xscale() == "symlog"
    assert shares(steps, optimal, largest, log=False).axes[0].get_xscale() == "linear"


def test_histograms_draw_their_counts():
    edges, filled = np.array([-1.0, 0.0, 2.0]), np.array([[3, 4], [0, 7]])
    figure = histograms(edges, filled, ["k = 0", "k = 1"])
    for axes, row, label in zip(figure.axes, filled, ["k = 0", "k = 1"], strict=True):
        (stairs,) = axes.patches
        values, drawn, _ = stairs.get_data()
        np.testing.assert_array_equal(values, row)
        np.testing.assert_array_equal(drawn, edges)
        assert axes.get_title(loc="left") == label
        assert axes.get_lines()[0].get_xdata()[0] == 0.0


def test_bands_reach_one_error_either_way():
    mean, error = np.arange(4.0), np.array([0.5, 1.0, 2.0, 0.25])
    axes = sheet().add_subplot()
    band(axes, np.arange(4), mean, error, "a", 0)
    np.testing.assert_array_equal(curve(labelled(axes, "a"))[1], mean)
    corners = axes.collections[0].get_paths()[0].vertices
    for k in range(4):
        heights = corners[corners[:, 0] == k, 1]
        assert (heights.min(), heights.max()) == (mean[k] - error[k], mean[k] + error[k])


def test_a_panel_can_be_given_and_pyplot_keeps_out(monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    figure = sheet(1, 2)
    left, right = figure.subplots(1, 2)
    assert shares(np.arange(2), np.ones((2, 1)), np.ones((2, 1)), axes=left) is figure
    assert shares(np.arange(2), np.ones((2, 1)), np.ones((2, 1)), axes=right) is figure
    part = sheet(2, 2).subfigures(1, 1)
    drawn = progress(np.arange(2), {"a": heading(np.eye(3)[:2], np.ones(3))}, figure=part)
    assert drawn is part.figure
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_a_picture_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with pytest.raises(UsageError, match=r"attsvm\[plot\]"):
        shares(np.arange(2), np.ones((2, 1)), np.ones((2, 1)))
