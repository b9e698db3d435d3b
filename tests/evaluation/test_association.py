"""What few rows and many levels show where there is nothing: told as chance, not as association."""

from __future__ import annotations

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.column import Column
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import Subject, evaluate, lost_pairs, pair_statistics, sentences
from prism_core.evaluation.score_text import score_lines
from prism_core.figures import association_figure


def table(codes, sizes) -> EncodedTable:
    columns = tuple(
        Column(name=f"c{i}", kind="categorical", levels=tuple(range(size)))
        for i, size in enumerate(sizes)
    )
    return EncodedTable(schema=Schema(columns=columns, one_row_per_person=True), codes=codes)


def independent(seed: int, n: int = 400, sizes=(20, 20, 2)) -> EncodedTable:
    rng = np.random.default_rng(seed)
    return table(np.stack([rng.integers(0, size, n) for size in sizes], axis=1), sizes)


def subject(synthetic: EncodedTable, train: EncodedTable) -> Subject:
    return Subject(
        synthetic=synthetic,
        holdout=train,
        train=train,
        target="c2",
        s=("c0",),
        n=train.n,
        measured=(),
    )


def test_independent_columns_of_twenty_levels_do_not_go_together():
    """The plain V is .22 on average here."""
    means = []
    for seed in range(20):
        found = pair_statistics(subject(independent(seed), independent(100 + seed)))
        means += [found.real.v[0, 1], found.synthetic.v[0, 1]]
        assert found.real.low[0, 1] <= 0.01
        assert 0.03 < found.real.chance[0, 1] < 0.12
    assert np.mean(means) < 0.05
    assert np.mean(means) > 0.0


def test_v_keeps_what_is_there():
    """Each level of c1 follows c0 in 3 of 10 rows: V is .3 whatever the number of rows."""
    for n in (1_000, 4_000):
        rng = np.random.default_rng(n)
        codes = rng.integers(0, 20, (n, 3)) % [20, 20, 2]
        follows = rng.random(n) < 0.3
        codes[follows, 1] = codes[follows, 0]
        real = table(codes, (20, 20, 2))
        found = pair_statistics(subject(real, real))
        assert found.real.low[0, 1] < 0.3 < found.real.high[0, 1]
        assert found.real.v[0, 1] == pytest.approx(0.3, abs=0.05)
        assert not found.real.within_chance[0, 1]
        assert found.alike.all()


def test_the_figure_and_the_words_say_what_chance_gives():
    found = pair_statistics(subject(independent(0), independent(1)))
    figure = association_figure(found)
    dots = [trace for trace in figure.data if trace.type == "scatter"]
    assert [len(trace.x) for trace in dots][2] == 6  # no difference says anything
    assert "chance" in dots[0].name
    assert "by chance up to" in figure.data[0].text[0][1]
    words = sentences.associations(found)
    assert "without the bias of few rows" in words
    assert "beyond chance" in words
    assert "The rows tell no pair apart" in words


def test_the_pair_that_is_named_is_not_the_one_with_most_cells():
    """c0 x c1 has 400 cells and is .4 apart by chance; c2 was changed."""
    train, made = independent(0), independent(1)
    codes = made.codes.copy()
    codes[:, 2] = codes[:, 0] < 10
    made = table(codes, (20, 20, 2))
    whole = subject(made, train)
    found = pair_statistics(whole)
    assert found.distance[0, 1] > found.distance[0, 2]
    assert lost_pairs(whole, found)[0].clique == ("c0", "c2")
    rows = evaluate(made, train, target="c2", train=train, learners=()).find("tv_2way")
    assert rows[1].subject == "pair c0 × c2"


def test_every_distance_stands_beside_what_chance_gives():
    """On average over pairs of samples the floor is what two samples of one population are."""
    apart, floors = [], []
    for seed in range(30):
        made, real = independent(seed, 400), independent(1_000 + seed, 300)
        found = evaluate(made, real, target="c2", learners=())
        rows = [row for row in found.rows if row.value is not None and row.name != "l1_1way"]
        rows = [row for row in rows if not row.name.startswith("correlation")]
        apart.append([row.value for row in rows if row.name == "task_tv"])
        floors.append([row.floor for row in rows if row.name == "task_tv"])
        assert all(row.floor is not None for row in rows)
    assert np.mean(apart, axis=0) == pytest.approx(np.mean(floors, axis=0), rel=0.1)
    line = next(one for one in score_lines([row.to_dict() for row in found.rows]) if "l1_" in one)
    assert f"{found.rows[0].floor:9.4f}" in line


def lost_correlation(columns: int) -> tuple[EncodedTable, EncodedTable]:
    """Real rows where c1 follows c0, and synthetic ones where it does not; the rest is noise."""
    rng = np.random.default_rng(columns)
    real, made = rng.integers(0, 4, (2, 2_000, columns))
    real[:, 1] = real[:, 0]
    sizes = (4,) * columns
    return table(real, sizes), table(made, sizes)


@pytest.mark.parametrize("columns", [2, 3, 30])
def test_a_lost_correlation_is_not_diluted_by_pairs_with_nothing_to_say(columns):
    real, made = lost_correlation(columns)
    found = evaluate(made, real, target="c0", learners=())
    (mean,) = found.find("correlation_difference")
    assert mean.value == pytest.approx(1.0, abs=0.1)
    assert f"1 of {columns * (columns - 1) // 2:,} pairs" in mean.note
    (largest,) = found.find("correlation_difference_max")
    assert largest.subject == "pair c0 × c1"
    assert largest.value == mean.value


def test_a_correlation_that_only_the_synthetic_rows_have_is_the_largest_difference():
    made, real = lost_correlation(10)
    found = evaluate(made, real, target="c0", learners=())
    (mean,) = found.find("correlation_difference")
    assert mean.value is None
    assert "0 of 45 pairs have a correlation beyond chance" in mean.note
    assert found.find("correlation_difference_max")[0].subject == "pair c0 × c1"
