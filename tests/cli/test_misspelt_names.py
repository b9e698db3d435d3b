"""A name that is not there is refused at the door, with the one that was probably meant."""

from __future__ import annotations

import pytest

from prism_core.data.schema import schema_file
from prism_core.errors import BudgetError, PrismError
from prism_core.planning.brief import Brief
from prism_core.planning.design import design
from prism_core.planning.wishes.locks import Lock
from prism_core.planning.wishes.task import Budget, Synthesis, Task
from prism_core.privacy.ledger import Ledger
from prism_core.structure.dag import Dag


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ('target = "readmitted"', 'target = "readmited"', "readmitted"),
        ('target = "readmitted"', 'target = "Readmitted"', "readmitted"),
        ('regime = "causal"', 'regime = "casual"', "causal"),
        ('model = "naive_bayes"', 'model = "naive_bayess"', "naive_bayes"),
        ("rows = 200", "row = 200", "rows"),
        ("[synthesis]", "[sythesis]", "synthesis"),
        ("[task]", "[task]\nselecton = 'greedy'", "selection"),
        ("[task]", "[task]\nselection = 'greedi'", "greedy"),
        ("[task]", "[task]\nthree_way = 'adaptiv'", "adaptive"),
        ("[task]", "[task]\nnumeric_queries = 'moment'", "moments"),
        ("[task]", "[task]\nweights = {smokr = 2.0}", "smoker"),
        ("[task]", "[task]\nnumeric_columns = {agee = 'moments'}", "age"),
        ("[synthesis]", "[budget]\nacountant = 'zcdp'\n[synthesis]", "accountant"),
        ("[synthesis]", "[budget]\naccountant = 'zcpd'\n[synthesis]", "zcdp"),
        ("[synthesis]", "[budget]\nallocation = 'closedform'\n[synthesis]", "closed_form"),
        ("[synthesis]", "[[budget.locks]]\ncolumns = ['agee']\nshare = 0.1\n[synthesis]", "age"),
        ("[synthesis]", "[synthesis]\nengine = 'fats'", "fast"),
        ("[synthesis]", "[synthesis]\nsampling = 'round'", "rounded"),
        ("[synthesis]", "[synthesis]\npairs = 'shrink'", "shrunk"),
    ],
    ids=lambda text: str(text)[:40],
)
def test_a_configuration(prism, make_run, tmp_path, old, new, meant):
    config = make_run(public=False, asset=9.0)
    text = config.read_text()
    assert text.count(old) == 1
    config.write_text(text.replace(old, new))
    status, _, err = prism("release", config, "--out", tmp_path / "out")
    assert status == 2
    assert f"Did you mean {meant!r}?" in err
    assert not (tmp_path / "workspace" / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("old", "new", "meant"),
    [
        ("  kind:", "  type:", "kind"),
        ("  kind:", "  kindd:", "kind"),
        ("  kind: categorical", "  kind: categoric", "categorical"),
        ("one_row_per_person:", "one_row_per_persn:", "one_row_per_person"),
    ],
)
def test_a_schema(prism, make_run, old, new, meant):
    config = make_run()
    schema = config.parent / "schema.yaml"
    text = schema.read_text()
    assert old in text
    schema.write_text(text.replace(old, new, 1))
    status, _, err = prism("plan", config)
    assert status == 2
    assert f"Did you mean {meant!r}?" in err


def test_the_words_after_a_command(prism, make_run, tmp_path):
    config = make_run(public=False, asset=9.0)
    out = tmp_path / "out"
    assert prism("release", config, "--out", out)[0] == 0
    held = config.parent / "holdout.csv"
    opened = ("holdout", "open", out, "--holdout", held, "--epsilon", "1")
    assert prism(*opened)[0] == 0
    for words, meant in (
        (("sample-data", "readmision", "--out", tmp_path / "x"), "readmission"),
        (("comparator", config, "--method", "idependent", "--out", tmp_path / "y"), "independent"),
        (("plan", config, "--most-bins", "0.5", "--column", "agee"), "age"),
        ((*opened, "--asset", "wrd 7"), "ward 7"),
        (("ledger", "list", "--asset", "wrd 7"), "ward 7"),
        (("holdout", "ask", "1", "--feature", "smokr"), "smoker"),
        (("holdout", "ask", "1", "--learner", "logistic_onehott"), "logistic_onehot"),
    ):
        if words[:2] == ("ledger", "list"):
            continue  # has no such option
        status, _, err = prism(*words)
        assert status == 2, words
        assert f"Did you mean {meant!r}?" in err, (words, err)


def test_a_lock_on_an_unknown_name_is_refused_and_an_idle_one_is_not(schema):
    dag = Dag(nodes=schema.names, edges=(("age", "readmitted"),))

    def plan(*columns):
        locks = (Lock(columns=columns, share=0.1),)
        return design(
            Brief(
                schema,
                Task(target="readmitted"),
                Budget(locks=locks),
                300,
                dag=dag,
                synthesis=Synthesis(model="naive_bayes"),
            )
        )

    assert any("holds nothing" in text for text in plan("ward", "readmitted").warnings)
    with pytest.raises(BudgetError, match=r"'warde', which is no column.* Did you mean 'ward'\?"):
        plan("warde", "readmitted")
    with pytest.raises(BudgetError) as caught:
        plan("zzzzzz")
    assert "Did you mean" not in str(caught.value)


def test_nothing_is_suggested_where_nothing_is_close(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.register("ward 7", epsilon=1.0, delta=1e-6)
    for name, said in (
        ("ward7", "Did you mean 'ward 7'?"),
        ("xyz", "with a lifetime budget first"),
    ):
        with pytest.raises(PrismError) as caught:
            ledger.balance(name)
        assert str(caught.value).rstrip(".").endswith(said) or said in str(caught.value)
    with pytest.raises(PrismError, match=r"There is no column 'agee' in the schema\. Did you mean"):
        schema_file.from_dict(
            {
                "columns": [
                    {"name": "age", "kind": "ordinal", "levels": [1, 2]},
                    {"name": "y", "kind": "boolean"},
                ]
            }
        )["agee"]
