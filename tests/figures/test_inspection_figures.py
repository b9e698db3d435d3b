"""Figures of an inspection: what is drawn, what is marked, and that names stay text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prism_core.data.encoding import EncodedTable
from prism_core.data.schema.schema import Schema
from prism_core.evaluation import (
    Measured,
    joint_shares,
    pair_statistics,
    predict,
    sentences,
    task_marginal,
)
from prism_core.evaluation.fidelity.task_error import error_split
from prism_core.evaluation.tstr.model_agreement import agreement
from prism_core.evaluation.tstr.subgroup_scores import subgroups
from prism_core.figures import (
    agreement_figure,
    association_figure,
    calibration_figure,
    confusion_figure,
    curves_figure,
    error_split_figure,
    joint_figure,
    learners_figure,
    subgroup_figure,
    task_marginal_figure,
    theme,
)
from prism_core.figures.fidelity_panels import MOST_ROWS
from prism_core.figures.predictions import MOST_CLASSES
from tests.support.inspected import rows, subject


@pytest.fixture(scope="module")
def found():
    return predict(subject())


def names(figure) -> list[str]:
    return [trace.name or "" for trace in figure.data]


def test_both_sides_are_drawn_with_two_signs_each(found):
    for figure in (calibration_figure(found.calibration), curves_figure(found.roc)):
        dashes = {trace.line.dash for trace in figure.data if trace.line.dash != "dot"}
        assert dashes == {"solid", "dash"}
        assert any("synthetic" in name for name in names(figure))
    (matrix,) = [table for table in found.confusion if table.trained_on == "real"]
    drawn = confusion_figure(matrix).data[0]
    assert drawn.text[1][1] == f"{matrix.counts[1][1]:,}"
    assert np.allclose(np.array(drawn.z).sum(axis=1), 1.0)
    assert names(learners_figure([found.row("auc")]))[-1] == "Trained on synthetic rows"


def test_many_classes_are_cut_to_the_frequent_ones():
    found = predict(subject(20))
    drawn = confusion_figure(found.confusion[0]).data[0]
    assert len(drawn.z) == MOST_CLASSES
    assert "taken for what they are" in sentences.confusion(found.confusion[0])


def test_nothing_to_draw_is_a_sentence():
    for figure in (
        calibration_figure(()),
        curves_figure((), "no rows"),
        error_split_figure((), "Y"),
        subgroup_figure((), "a"),
        learners_figure(()),
    ):
        assert not figure.data
        assert figure.layout.annotations[0].text


def test_noise_and_structure_add_up_and_unmeasured_pairs_have_no_mark():
    errors = error_split(subject())
    figure = error_split_figure(errors, "Y")
    noise, rest, limit = figure.data
    assert [a + b for a, b in zip(noise.x, rest.x, strict=True)] == pytest.approx(
        [error.total for error in errors]
    )
    assert len(limit.x) == 1
    many = [replace(errors[0], name=f"c{i}") for i in range(200)]
    assert len(error_split_figure(many, "Y").data[0].x) == MOST_ROWS


def test_the_noise_band_is_drawn_where_there_is_one():
    measured = task_marginal_figure(task_marginal(subject(), "a"), 1)
    assert measured.data[0].error_y.array is not None
    assert "noise band" in names(measured)[0]
    # Shares do not go below 0, and neither does their band.
    down = np.array(measured.data[0].error_y.arrayminus)
    assert (down <= np.array(measured.data[0].y) + 1e-12).all()
    other = task_marginal_figure(task_marginal(subject(), "c"), 1)
    assert other.data[0].error_y.array is None


def test_three_heatmaps_share_their_scale_and_the_difference_has_zero_in_the_middle():
    statistics = pair_statistics(subject())
    for figure in (association_figure(statistics), joint_figure(joint_shares(subject(), "a", "Y"))):
        real, made, gap = figure.data[:3]
        assert (real.zmin, real.zmax) == (made.zmin, made.zmax)
        assert gap.zmin == -gap.zmax
    real, made, gap = association_figure(statistics).data[:3]
    assert real.z[0][0] is None
    for i, j in np.argwhere(~np.eye(len(statistics.names), dtype=bool)):
        # What chance alone gives has no colour.
        assert (gap.z[i][j] is None) == bool(statistics.alike[i, j])
        if gap.z[i][j] is not None:
            wanted = statistics.synthetic.v[i, j] - statistics.real.v[i, j]
            assert gap.z[i][j] == pytest.approx(wanted)
    assert any(cell is not None for row in gap.z for cell in row)
    assert not association_figure(statistics.take(())).data
    assert sentences.associations(statistics.take(("a",))) == "Choose at least two columns."


def test_suppressed_groups_have_a_place_and_no_mark(found):
    groups = subgroups(found, "flat")
    figure = subgroup_figure(groups, "flat")
    assert len(figure.layout.yaxis.ticktext) == 2
    assert all(len(trace.x) == 1 for trace in figure.data)


def test_agreement_is_drawn_term_by_term(found):
    result = agreement(subject(), found, np.random.default_rng(0))
    figure = agreement_figure(result)
    assert len(figure.data[1].x) == len(result.weights)
    assert not agreement_figure(replace(result, weights=(), note="nothing")).data


def test_hostile_names_stay_text():
    hostile = "<b>x</b> $y$"
    names_of = (hostile, "b", "c", "flat", "Y")
    plain = rows(seed=3)
    schema = Schema(
        columns=tuple(
            replace(column, name=name)
            for column, name in zip(plain.schema.columns, names_of, strict=True)
        ),
        one_row_per_person=True,
    )

    def renamed(table: EncodedTable) -> EncodedTable:
        return EncodedTable(schema=schema, codes=table.codes)

    found = replace(
        subject(),
        synthetic=renamed(rows(seed=1)),
        holdout=renamed(rows(300, seed=2)),
        train=renamed(plain),
        s=(hostile,),
        measured=(Measured(clique=(hostile, "Y"), sigma=4.0),),
    )
    scored = predict(found)
    drawn = [
        error_split_figure(error_split(found), "Y"),
        task_marginal_figure(task_marginal(found, hostile), 1),
        association_figure(pair_statistics(found)),
        joint_figure(joint_shares(found, hostile, "Y")),
        subgroup_figure(subgroups(scored, hostile), hostile),
        agreement_figure(agreement(found, scored, np.random.default_rng(0))),
    ]
    for figure in drawn:
        text = repr(figure.to_dict())
        assert "<b>x" not in text
        assert theme.safe(hostile) in text
