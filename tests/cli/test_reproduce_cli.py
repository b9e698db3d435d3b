"""`prism reproduce`: tables, CSV, JSON, figures, the file of results and the short table."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from prism_core import reproduction
from prism_core.cli.main import main
from prism_core.errors import ConfigError, EvaluationError
from prism_core.figures import paper_figures
from prism_core.reproduction import result_tables
from prism_core.reproduction import results as books
from prism_core.reproduction.verdicts import PAPER, agrees

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results.json"
GOLDEN = ROOT / "tests" / "golden" / "results.md"
QUICK = ("--seeds", "1", "--epsilon", "4", "--jobs", "1")


def row(**changes) -> reproduction.ResultRow:
    aucs = changes.pop("aucs", (0.70, 0.72, 0.74))
    ceiling = changes.pop("ceiling", 0.73)
    found = [
        reproduction.RunOutcome(
            benchmark="scm-spurious",
            method="causal-opt",
            setting="ours",
            epsilon=1.0,
            rows=5_000,
            seed=seed,
            l1=0.0312,
            seconds=0.5,
            onehot=scored(auc, ceiling),
            standardised=scored(auc, ceiling),
        )
        for seed, auc in enumerate(aucs)
    ]
    return replace(reproduction.rows(found)[0], **changes)


def scored(auc: float, ceiling: float) -> reproduction.Scored:
    return reproduction.Scored(auc=auc, accuracy=0.66, ceiling=ceiling, ceiling_all=0.52)


def made(command: str = "prism reproduce all") -> books.ResultCommand:
    return books.ResultCommand(command=command, date="2031-01-02", versions=(("python", "3.12.1"),))


def example() -> reproduction.Results:
    some = (
        row(),
        row(epsilon=0.2, aucs=(0.71, 0.70, 0.72), ceiling=0.73),
        row(method="mst", aucs=(0.52, 0.53, 0.51)),
        row(setting="paper", aucs=(0.731, 0.733, 0.732)),
        row(setting="paper", method="graphical-opt", aucs=(0.60, 0.61, 0.62)),
    )
    return reproduction.Results().merged(some, made())


def test_the_page_is_the_golden_one():
    assert result_tables.document(example()) == GOLDEN.read_text(encoding="utf-8")


def test_both_pages_agree_with_the_file_of_results():
    """`prism reproduce table docs/results.json --readme docs/reproduce.md` makes both anew."""
    book = reproduction.load_results(RESULTS)
    page = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    assert result_tables.with_headline(page, book) == page
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == result_tables.document(
        book
    )


def test_the_file_of_results_says_nothing_of_the_machine():
    text = RESULTS.read_text(encoding="utf-8")
    assert reproduction.Results.from_text(text).to_text() == text
    assert reproduction.load_results(RESULTS).rows
    assert not re.search(r"/(home|root|tmp|work|usr|opt|Users)\b|https?:|localhost|\\", text)


def test_a_text_without_the_marks_is_refused():
    for text in (
        "",
        result_tables.BEGIN,
        f"{result_tables.END}{result_tables.BEGIN}",
        f"{result_tables.BEGIN}{result_tables.END}{result_tables.BEGIN}",
    ):
        with pytest.raises(ConfigError, match="once each"):
            result_tables.with_headline(text, example())


def test_what_is_new_takes_the_place_of_what_has_no_more_seeds():
    old = reproduction.Results().merged([row(), row(epsilon=2.0)], made("first"))
    fewer = old.merged([row(aucs=(0.9,))], made("second"))
    assert fewer == old
    again = row(aucs=(0.8, 0.8, 0.8, 0.8))
    more = old.merged([again], made("third"))
    assert dict(zip(more.rows, more.origin, strict=True))[again] == 1
    assert [one.command for one in more.made] == ["first", "third"]
    whole = more.merged([row(epsilon=2.0)], made("fourth"))
    assert [one.command for one in whole.made] == ["third", "fourth"]
    for text in ("{}", "[]", '{"format": 2}', "no json", '{"format": 1, "rows": [{}], "made": []}'):
        with pytest.raises(EvaluationError):
            reproduction.Results.from_text(text)
    with pytest.raises(EvaluationError, match="twice"):
        reproduction.Results(rows=(row(), row()), made=(made(),), origin=(0, 0))


def test_verdicts_are_computed():
    known = {v.target.key: v for v in reproduction.verdicts(example().rows)}
    near = known["scm-spurious", "causal-opt", "ours", 1.0, 5_000]
    assert (near.word, near.target.words) == ("NOT MET", "within .004 of its ceiling")
    within = reproduction.verdicts([row(ceiling=0.7239)])
    assert next(v for v in within if v.row).word == "met"
    high = reproduction.verdicts([row(method="graphical-opt", aucs=(0.57,))])
    assert next(v for v in high if v.row).word == "NOT MET"
    assert known["scm-marginal", "graphical-opt", "ours", 1.0, 5_000].word == "not run"
    assert len(known) + 1 == len(reproduction.GOALS)  # two learners of one line


def test_comparators_are_compared_seed_by_seed():
    (duel,) = reproduction.duels(example().rows)
    assert duel.by == pytest.approx(0.2)
    assert duel.met
    (lost,) = reproduction.duels([row(), row(method="aim", aucs=(0.80, 0.82, 0.84))])
    assert lost.by == pytest.approx(-0.1)
    assert not lost.met
    (level,) = reproduction.duels([row(), row(method="aim", aucs=(0.74, 0.72, 0.73))])
    assert level.by < 0.0
    assert level.met
    others = [row(method=name) for name in ("mst", "aim", "privbayes", "all-features")]
    rivals = {duel.theirs.method for duel in reproduction.duels([row(aucs=(0.9,) * 3), *others])}
    assert rivals == {"mst", "aim", "privbayes"}


def test_what_is_lost_without_the_graph_is_said():
    """The champion of a network is given its graph; whoever has none sees the other table, too."""

    def network(**changes):
        return row(benchmark="bn:child", **changes)

    rival = network(method="aim", aucs=(0.80, 0.81, 0.82))
    ahead = network(method="graphical-opt", aucs=(0.83, 0.84, 0.85))
    behind = network(method="predictive-opt", aucs=(0.70, 0.71, 0.72))

    def page(*rows):
        return result_tables.document(reproduction.Results().merged(rows, made()))

    lost = page(rival, ahead, behind)
    assert "It loses on 1 of 1 lines: bn:child at 1 (aim)." in lost
    assert "the price of not knowing them" in lost
    also = page(rival, network(method="graphical-opt", aucs=(0.7, 0.71, 0.72)), behind)
    assert "It loses on 1 of 1 lines" in also
    assert "the price of not knowing them" not in also  # the graph would not help
    level = network(method="predictive-opt", aucs=(0.81, 0.81, 0.82))
    assert "It loses on none." in page(rival, ahead, level)
    assert "Networks without the graph" not in page(rival, ahead)
    assert "Networks without the graph" not in result_tables.document(example())


def test_the_paper_is_met_where_intervals_meet():
    assert agrees(row(setting="paper", aucs=(0.731, 0.733, 0.732))) is True
    assert agrees(row(setting="paper", aucs=(0.60, 0.601, 0.602))) is False
    assert agrees(row(setting="ours")) is None
    assert set(result_tables.WHY) == {name for name, _ in PAPER}


def test_figures_have_words_and_the_same_axis():
    drawn = paper_figures(example().rows, "SCM", result_tables.title)
    assert [one.title for one in drawn] == [
        "SCM: AUC, setting ours",
        "SCM: AUC, setting paper",
        "SCM: 1-way l1 distance",
    ]
    assert "PRISM-Causal (Opt): AUC 0.710" in drawn[0].words
    assert len({one.figure.layout.yaxis.range for one in drawn[:2]}) == 1
    assert "0.0312 at epsilon 1" in drawn[2].words
    assert paper_figures([], "SCM") == ()


def test_json_csv_text_and_figure(capsys, tmp_path):
    line = ["reproduce", "allocation-wins", *QUICK, "--setting", "paper", "--rows", "200"]
    assert main([*line, "--json", "--figure", str(tmp_path / "f.html")]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [one["method"] for one in document["rows"]] == ["graphical-opt", "graphical-unif"]
    wanted = {"method", "setting", "epsilon", "auc_mean", "auc_ci", "ceiling", "seconds"}
    assert wanted <= set(document["rows"][0])
    assert "allocation-wins 2/2" in err
    page = (tmp_path / "f.html").read_text(encoding="utf-8")
    assert page.count("<h2>") == 2
    assert main([*line, "--csv", "--methods", "graphical-opt"]) == 0
    (found,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert found["auc_mean"] == str(document["rows"][0]["auc_mean"])
    short = ["-n_syn", "100", "--methods", "graphical-opt"]
    assert main(["reproduce", "allocation-wins", *QUICK, "--setting", "paper", *short]) == 0
    assert re.search(r"PRISM-Graphical \(Opt\) +paper +4 +100 ", capsys.readouterr().out)


def test_all_goes_into_one_file_and_the_tables_follow(capsys, tmp_path):
    out, readme = tmp_path / "results.json", tmp_path / "README.md"
    readme.write_text(f"# A\n\n{result_tables.BEGIN}\n{result_tables.END}\n\nb\n", encoding="utf-8")
    line = ["reproduce", "all", "--out", str(out), *QUICK, "--setting", "paper", "--rows", "200"]
    assert main([*line, "--benchmarks", "allocation-wins", "--readme", str(readme)]) == 0
    assert main([*line, "--benchmarks", "scm-spurious", "--methods", "causal-opt"]) == 0
    book = reproduction.load_results(out)
    assert len(book.rows) == 3
    assert [one.command for one in book.made] == [
        "prism reproduce all --out docs/results.json --benchmarks allocation-wins --epsilon 4 "
        "--seeds 1 --setting paper --rows 200",
        "prism reproduce all --out docs/results.json --benchmarks scm-spurious --epsilon 4 "
        "--seeds 1 --methods causal-opt --setting paper --rows 200",
    ]
    assert str(tmp_path) not in out.read_text(encoding="utf-8")
    assert main(["reproduce", "table", str(out), "--readme", str(readme)]) == 0
    assert "3 lines" in capsys.readouterr().out
    assert readme.read_text(encoding="utf-8").endswith(f"{result_tables.END}\n\nb\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "README.md",
        "results.json",
        "results.md",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["scm-spurious", "--methods", "magic"], "unknown"),
        (["scm-spurious", "--rows", "-3"], "--rows"),
        (["scm-spurious", "--seeds", "0"], "seeds"),
        (["bn", "--network", "titanic"], "network"),
        (["table", "nothing.json"], "no such file"),
        (["all", "--out", "no/such/folder.json"], "folder"),
        (["all", "--out", "r.json", "--adult", "none.csv", "--benchmarks", "adult"], "none.csv"),
    ],
)
def test_what_cannot_be_done_says_so(line, said, capsys):
    assert main(["reproduce", *line]) == 2
    assert said in capsys.readouterr().err
