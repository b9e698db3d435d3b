"""Layout and routes: what is drawn must be what is in the graph, and nothing else."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from prism_core.samples import readmission
from prism_core.structure.routing.layered_layout import arrange, extent
from prism_core.structure.routing.node_boxes import box_size, lines_of, plain
from prism_core.structure.routing.routes import route, svg_path
from prism_core.structure.routing.strips import Box, keep_apart
from tests.support.drawings import Seen, points

Edges = list[tuple[str, str]]
TINY: Edges = [("a", "b"), ("b", "y"), ("a", "y")]


def laid_out(names: list[str], edges: Edges, breadth: float = 880.0) -> dict[str, Box]:
    causes, effects = Counter(b for _, b in edges), Counter(a for a, _ in edges)
    sizes = {n: box_size(lines_of(n), max(causes[n], effects[n])) for n in names}
    return arrange(sizes, edges, breadth)


def seen(boxes: dict[str, Box], edges: Edges) -> Seen:
    return Seen(
        {
            name: (box.x - box.w / 2, box.y - box.h / 2, box.x + box.w / 2, box.y + box.h / 2)
            for name, box in boxes.items()
        },
        {edge: points(svg_path(way)) for edge, way in route(boxes, edges).items()},
    )


def random_graph(seed: int, most: int = 40) -> tuple[list[str], Edges]:
    """A DAG of up to 40 nodes, sparse or dense, with names of one to four lines."""
    rng = random.Random(seed)
    count, density = rng.randint(1, most), rng.choice([0.03, 0.05, 0.08, 0.15, 0.3])
    names = [f"column_{n}" + "_and_more" * rng.choice([0, 0, 1, 3, 8]) for n in range(count)]
    order = rng.sample(names, count)
    pairs = [(a, b) for number, a in enumerate(order) for b in order[number + 1 :]]
    return names, [pair for pair in pairs if rng.random() < density]


def assert_reads_as_drawn(drawing: Seen) -> None:
    assert drawing.behind_boxes() == []
    assert drawing.inside_ends() == []
    assert drawing.under_heads() == []
    assert drawing.along(length=12.0) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [*range(10), *(pytest.param(block, marks=pytest.mark.long) for block in range(10, 25))],
)
def test_no_edge_of_five_hundred_graphs_runs_behind_a_box_or_under_a_head(block: int):
    for seed in range(20 * block, 20 * block + 20):
        names, edges = random_graph(seed)
        boxes = laid_out(names, edges)
        assert_reads_as_drawn(seen(boxes, edges))
        assert all(boxes[cause].y < boxes[effect].y for cause, effect in edges), seed


@pytest.mark.parametrize("graph", ["readmission", "tiny", "star", "chain"])
def test_known_graphs_read_as_they_are(graph: str):
    star = [(f"x{n}", "y") for n in range(30)]
    chain = [(f"x{n}", f"x{n + 1}") for n in range(12)] + [("x0", "x12"), ("x0", "x6")]
    edges = {"tiny": TINY, "star": star, "chain": chain}.get(graph, list(readmission.edges()))
    boxes = laid_out(list(dict.fromkeys(end for edge in edges for end in edge)), edges)
    assert_reads_as_drawn(seen(boxes, edges))


def test_the_edge_that_passes_a_column_goes_round_it():
    """a -> y behind b reads as a -> b."""
    boxes = {name: Box(0.0, 100.0 * n, 80.0, 34.0) for n, name in enumerate("aby")}
    ways = route(boxes, TINY)
    assert len(ways["a", "b"]) == 2  # straight, as before
    beside = [x for x, y in ways["a", "y"] if 83.0 < y < 117.0 or abs(x) > 40.0]
    assert beside
    assert_reads_as_drawn(seen(boxes, TINY))


def test_boxes_do_not_overlap_and_the_same_graph_gets_the_same_drawing():
    for seed in range(40):
        names, edges = random_graph(seed)
        boxes = laid_out(names, edges)
        assert list(boxes) == names
        left, top, *_ = extent(boxes)
        assert (left, top) == pytest.approx((0.0, 0.0), abs=0.1)
        for number, one in enumerate(names):
            for other in names[number + 1 :]:
                a, b = boxes[one], boxes[other]
                apart = (abs(a.x - b.x) - (a.w + b.w) / 2, abs(a.y - b.y) - (a.h + b.h) / 2)
                assert max(apart) >= 15.0, (seed, one, other)
        assert laid_out(names, edges) == boxes
        assert route(boxes, edges) == route(boxes, edges)


def test_columns_without_an_edge_stand_in_a_grid_beneath():
    names = [f"x{number}" for number in range(45)]
    edges = [("x0", "x1"), ("x1", "x2")]
    boxes = laid_out(names, edges, breadth=900.0)
    _, _, right, bottom = extent(boxes)
    rows = Counter(boxes[name].y for name in names[3:])
    assert right <= 900.0
    assert min(rows) > boxes["x2"].y
    assert len(rows) == 5
    assert bottom < 600.0
    assert extent(laid_out(["a"], [])) == (0.0, 0.0, 80.0, 34.0)


def test_rows_keep_to_the_breadth():
    names = [f"x{number}" for number in range(14)]
    boxes = laid_out([*names, "y"], [(name, "y") for name in names], breadth=500.0)
    rows = Counter(boxes[name].y for name in names)
    assert max(rows.values()) == 4


@pytest.mark.parametrize("seed", range(40))
def test_edges_go_round_boxes_that_a_person_has_moved(seed: int):
    rng = random.Random(seed)
    names, edges = random_graph(seed, most=24)
    boxes = laid_out(names, edges)
    left, top, right, bottom = extent(boxes)
    for name in rng.sample(names, min(len(names), 3)):
        moved = boxes[name]._replace(x=rng.uniform(left, right), y=rng.uniform(top, bottom + 80.0))
        others = [box for other, box in boxes.items() if other != name]
        if all(
            abs(moved.x - box.x) > (moved.w + box.w) / 2 + 20.0
            or abs(moved.y - box.y) > (moved.h + box.h) / 2 + 20.0
            for box in others
        ):
            boxes[name] = moved
    drawing = seen(boxes, edges)
    assert drawing.behind_boxes() == []
    assert drawing.inside_ends() == []


def test_boxes_side_by_side_are_joined_from_side_to_side():
    boxes = {name: Box(200.0 * n, 0.0, 100.0, 34.0) for n, name in enumerate("aby")}
    ways = route(boxes, TINY)
    (x, y), (to_x, to_y) = ways["a", "b"]
    assert (x, to_x) == (50.0, 150.0)
    assert y == to_y
    assert_reads_as_drawn(seen(boxes, TINY))


def test_where_there_is_no_room_an_edge_is_straight():
    boxes = {"a": Box(0.0, 0.0, 80.0, 34.0), "b": Box(0.0, 40.0, 80.0, 34.0)}
    assert route(boxes, [("a", "b")]) == {("a", "b"): ((0.0, 17.0), (0.0, 23.0))}
    assert route(boxes, [("b", "a")]) == {("b", "a"): ((0.0, 23.0), (0.0, 17.0))}
    assert route({"a": boxes["a"]}, []) == {}


def test_an_arrow_may_point_upwards():
    boxes = {"a": Box(0.0, 200.0, 80.0, 34.0), "b": Box(0.0, 0.0, 80.0, 34.0)}
    (_, start), (_, end) = route(boxes, [("a", "b")])["a", "b"]
    assert (start, end) == (183.0, 17.0)


def test_points_are_kept_apart_in_least_squares():
    assert keep_apart([], []) == []
    assert keep_apart([5.0, 5.0], [2.0]) == [4.0, 6.0]
    assert keep_apart([5.0, 5.0], [2.0], weights=[3.0, 1.0]) == [4.5, 6.5]
    assert keep_apart([0.0, 1.0, 9.0], [3.0, 3.0], 0.0, 8.0) == [0.0, 3.0, 8.0]
    places = keep_apart([3.0, 1.0, 2.0], [1.0, 1.0])
    assert all(b - a >= 1.0 - 1e-9 for a, b in pairwise(places))


def test_long_names_are_broken_and_cut():
    assert lines_of("prior_admissions_12m") == ("prior_admissions_", "12m")
    assert lines_of("x" * 100) == ("x" * 17, "x" * 17, "…", "x" * 15)
    assert lines_of("a\u202eb\n") == ("a\ufffdb\ufffd",)
    assert plain("") == "(no name)"
    assert lines_of(" ") == (" ",)
    wide, narrow = box_size(("体" * 10,)), box_size(("i" * 10,))
    assert wide[0] > 2 * narrow[0]
    assert box_size(("y",), arrows=30)[0] >= 300.0
