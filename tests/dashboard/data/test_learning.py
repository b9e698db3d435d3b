"""Learning columns with budget on the pages: asked for, priced, charged, deducted."""

from __future__ import annotations

import stat
import time

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.jobs import folders, worker
from dashboard.session.data_entries import DataEntries, People
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from prism_core.data.engines.engine import run_redacted
from prism_core.data.engines.out_of_core import open_table
from prism_core.data.schema import column_form
from prism_core.data.schema.looks import UNCHECKED
from prism_core.data.tables import address
from prism_core.data.tables.raw_table import read_table
from prism_core.learning.domain.learned_domain import learn_domain
from prism_core.learning.domain.outline_io import dumps_outline, loads_outline
from prism_core.planning.wishes.config import AssetConfig
from prism_core.privacy.accountants.accountant import Spent
from prism_core.privacy.accountants.conversions import epsilon_to_rho
from prism_core.privacy.ledger import Ledger
from prism_core.privacy.noise import SeededNoise
from prism_core.text.numbers import eps_text, left_text
from tests.support.pages import open_page, texts, turned

pytestmark = pytest.mark.app
N = 2_000


def table(canary: str = ""):
    rng = np.random.default_rng(4)
    ages, wards = rng.integers(18, 90, N), rng.choice(["north", "south"], N)
    lines = [f"{a},{w},{int(a > 60)}" for a, w in zip(ages, wards, strict=True)]
    if canary:
        lines[0] = f"149,{canary},1"
    return read_table(("age,ward,y\n" + "\n".join(lines) + "\n").encode(), name="stays.csv")


@pytest.fixture
def project() -> Project:
    """An uploaded private table; two of three columns are ticked Learn, nothing is declared yet."""
    rows = column_form.blank_rows(["age", "ward", "y"])
    rows[0] |= {"kind": "numeric", "learn": True, "lower": "0", "upper": "150", "decimals": 0}
    rows[1] |= {"kind": "categorical", "learn": True}
    rows[2] |= {"kind": "boolean"}
    return Project(
        data=DataEntries(
            name="stays.csv",
            raw=table(),
            form=[dict(row) for row in rows],
            draft_people=People(one_row_per_person=True),
        ),
        account=AccountEntries(asset="stays 2024"),
    )


def metrics(test: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in test.metric}


def learn(test: AppTest, project: Project) -> None:
    """Confirm, press the button, wait for the child, and show the page again."""
    if not project.data.public:
        test.checkbox(key=f"learn_confirm_{project.data.learning.attempt}").check().run()
    test.button(key="learn_run").click().run()
    job = project.data.learning.job
    assert job is not None
    end = time.monotonic() + 120
    while job.outcome().state == "running":
        assert time.monotonic() < end, "learning did not end"
        time.sleep(0.05)
    test.run()
    assert not test.exception


# --- before anything is spent ------------------------------------------------------------------


def test_what_it_costs_is_shown_before(project):
    test = open_page("data", project)
    plan = project.domain_plan("declared")
    shown = metrics(test)
    assert shown["Learning spends, ε"] == eps_text(plan.spent.epsilon)
    assert shown["Left for the release, ε"] == left_text(plan.left_epsilon)
    assert "Learn the columns that are ticked" in texts(test)  # to go on
    assert f"{UNCHECKED[1:]}: " in texts(test)
    assert test.button(key="apply_columns").disabled
    (cost,) = (f.value for f in test.dataframe if "what comes out" in f.value)
    assert list(cost["column"]) == ["age", "ward"]
    assert f"{plan.events[1].threshold:,}" in cost["what comes out"][1]
    test.slider(key="learn_share").set_value(30).run()
    assert project.data.learning.share == 0.3
    assert float(metrics(test)["Learning spends, ε"]) > plan.spent.epsilon * 1.5


def test_a_share_of_delta_is_asked_for_only_where_names_are_learned(project):
    assert open_page("data", project).slider(key="learn_delta_share").value == 10
    project.data.form[1] |= {"learn": False, "levels": "north | south"}
    project.data.form_edited = None
    test = open_page("data", project)
    assert "learn_delta_share" not in [slider.key for slider in test.slider]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"lower": ""}, "nobody's value could leave"),
        ({"bins": "20 | 40"}, "not their edges"),
        ({"kind": "ordinal"}, "columns can be learned"),
    ],
)
def test_an_unusable_wish_is_a_sentence(project, row, words):
    if row.get("kind") == "ordinal":
        row |= {"lower": "", "upper": "", "levels": "1 | 2", "decimals": None}
    project.data.form[0] |= row
    test = open_page("data", project)
    assert words in texts(test)
    assert "learn_run" not in [button.key for button in test.button]


def test_people_are_asked_for_before_there_is_a_schema(project):
    project.data.draft_people = People()
    test = open_page("data", project)
    assert "Declare that every person has one row" in texts(test)
    test.radio(key="people_way").set_value("row").run()
    assert project.data.draft_people.one_row_per_person
    assert "Learning spends, ε" in metrics(test)


def test_an_asset_must_be_named_and_cover_it(project):
    project.account.asset = ""
    test = open_page("data", project)
    test.checkbox(key="learn_confirm_0").check().run()
    assert test.button(key="learn_run").disabled
    test.text_input(key="asset_name").set_value("stays 2024").run()
    test.button(key="learn_run").click().run()  # confirmed was another asset
    assert "Tick the box above" in texts(test)
    assert project.data.learning.job is None
    test.checkbox(key="learn_confirm_0").check().run()
    assert not test.button(key="learn_run").disabled
    test.text_input(key="asset_lifetime").set_value("0.05").run()
    assert test.button(key="learn_run").disabled
    assert "Learning needs epsilon" in texts(test)


def test_entries_survive_a_page_switch(project):
    test = open_page("data", project)
    test.slider(key="learn_share").set_value(25).run()
    test.slider(key="learn_delta_share").set_value(40).run()
    test.text_input(key="learn_epsilon").set_value("2,5").run()
    test.text_input(key="asset_why").set_value("a benchmark").run()
    test.text_input(key="asset_lifetime").set_value("7").run()
    project.data.learning.details["age"]["cells"] = 75
    turned(test, "budget").run()
    turned(test, "data").run()
    assert test.slider(key="learn_share").value == 25
    assert test.slider(key="learn_delta_share").value == 40
    assert test.text_input(key="learn_epsilon").value == "2,5"
    assert project.designs.plan.budget.epsilon == 2.5
    assert test.text_input(key="asset_why").value == "a benchmark"
    assert test.text_input(key="asset_lifetime").value == "7"
    assert project.data.learning.details["age"]["cells"] == 75
    assert project.domain_plan("declared").outline.requests[0].cells == 75
    assert project.data.to_learn == ("age", "ward")


@pytest.mark.privacy
def test_a_second_step_takes_its_share_of_what_is_left(project):
    plan = project.domain_plan("declared")
    age, ward = plan.outline.requests
    learned = (age.column(18, 90, (50,)), ward.column(("north",)))
    project.data.schema = plan.schema(learned, plan.prior(1))
    test = open_page("data", project)  # the ticks are still there: learn both again
    second = project.domain_plan("dp")
    assert second.prior().events == (*plan.events, *second.events)
    assert metrics(test)["Left for the release, ε"] == left_text(second.left_epsilon)
    assert second.left_epsilon < plan.left_epsilon


@pytest.mark.privacy
def test_nothing_shown_before_learning_depends_on_the_rows(project):
    seen = []
    for raw in (table(), table("CANARY-7391")):
        project.data.raw = raw
        test = open_page("data", project)
        shown = texts(test) + str(metrics(test))
        shown += str([frame.value.to_csv() for frame in test.dataframe])
        assert "CANARY" not in shown
        seen.append(shown)
    assert seen[0] == seen[1]


def _download(test):
    """The button that gives what is declared as a file."""
    (found,) = (
        button.proto
        for button in test.get("download_button")
        if button.proto.label.startswith("Download what is declared")
    )
    return found


def test_what_is_typed_can_be_downloaded_without_paying(project):
    test = open_page("data", project)
    assert not _download(test).disabled
    project.data.form[2]["kind"] = None
    project.data.form_edited, project.data.form_rev = None, project.data.form_rev + 1
    test.run()
    assert _download(test).disabled
    assert "Without a kind: y." in texts(test)
    project.data.form[2]["kind"] = "boolean"
    project.data.form_edited = None
    outline = project.data.outline("declared")
    assert loads_outline(dumps_outline(outline)) == outline


def test_what_is_typed_stays_on_screen_while_it_is_learned(project, monkeypatch):
    test = open_page("data", project)
    assert "Read-only" not in texts(test)
    monkeypatch.setattr(DataEntries, "learns", True)
    test.run()
    assert "Read-only while the columns are being learned" in texts(test)
    frames = [f.value for f in test.dataframe if "kind" in f.value.columns]
    assert any(list(frame["name"]) == ["age", "ward", "y"] for frame in frames)


def test_what_the_bounds_may_leave_outside_is_said_before_and_after(project):
    test = open_page("data", project)
    plan = project.domain_plan("declared")
    (cost,) = (f.value for f in test.dataframe if "what comes out" in f.value)
    share = f"{100 * plan.outside['age']:.2g}%"
    assert (
        f"at each end up to about {share} of the values may be clipped"
        in (cost["what comes out"][0])
    )
    age, ward = plan.outline.requests
    learned = (age.column(18, 90, (50,)), ward.column(("north",)))
    project.data.schema = plan.schema(learned, plan.prior(1))
    project.data.learning.clipped = plan.outside
    test = open_page("data", project)
    assert f"age up to about {share}" in texts(test)
    assert "They are clipped to the ends. To widen the bounds" in texts(test)


# --- learned ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.privacy
def test_learned_charged_shown_and_deducted(project):
    project.data.raw = table("CANARY-7391")
    test = open_page("data", project)
    plan = project.domain_plan("declared")
    test.text_input(key="asset_why").set_value("bounds of age").run()
    learn(test, project)
    (charge,) = Ledger().charges()
    assert (charge.state, charge.asset, charge.why) == ("done", "stays 2024", "bounds of age")
    assert charge.epsilon == plan.spent.epsilon
    # The learned domain stands in the form, with its provenance and price.
    schema = project.data.schema
    assert schema.provenance == "dp"
    assert schema.prior.charge == charge.id
    assert schema["ward"].levels == ("north", "south", "other")
    assert project.data.form[1]["levels"] == "north | south | other"
    assert project.data.to_learn == ()
    assert "schema: learned with budget" in texts(test)
    assert "These columns are in use" in texts(test)
    assert f"Learned with epsilon = {eps_text(plan.spent.epsilon)}" in texts(test)
    assert "learn_run" not in [button.key for button in test.button]
    assert "CANARY" not in texts(test) + str(project.data.form)
    # Budget says what is gone and what is left; the plan does with the rest.
    project.structure.target, project.designs.plan.regime, project.designs.plan.k = (
        "y",
        "predictive",
        2,
    )
    test = open_page("budget", project)
    later = project.plan()
    assert f"has spent **{eps_text(plan.spent.epsilon)}**" in texts(test)
    assert f"epsilon **{eps_text(later.spent.epsilon)}**" in texts(test)
    assert later.spent.epsilon < 0.99
    assert later.guarantee.epsilon <= 1.0
    assert "accountant" not in [box.key for box in test.selectbox]  # deducted as zCDP
    # The same asset is named on Release, and what is asked for is the rest.
    test = open_page("release", project)
    assert test.text_input(key="asset_name").value == "stays 2024"
    assert f"Epsilon {eps_text(later.spent.epsilon)} of “stays 2024”" in texts(test)


@pytest.mark.slow
@pytest.mark.privacy
def test_a_refused_charge_loses_nothing_and_leaves_no_private_file(project):
    ledger = Ledger()
    ledger.register("stays 2024", epsilon=1.0, delta=1e-6)
    test = open_page("data", project)
    test.slider(key="learn_share").set_value(40).run()
    test.checkbox(key="learn_confirm_0").check().run()
    # Somebody else spends the asset between the look at its balance and the button.
    rho = epsilon_to_rho(1.0, 1e-6)
    spent = Spent(epsilon=1.0, delta=1e-6, rho=rho)
    begun = project.domain_plan("declared")
    ledger.charge("stays 2024", step="release", spent=spent, events=(), plan="x", accountant="zcdp")
    asset = AssetConfig(name="stays 2024", lifetime_epsilon=1.0)
    project.data.learning.job = job = worker.learn(
        begun, project.data.raw, asset, 1, delta_share=0.1, public=False
    )
    job.process.wait(timeout=120)
    assert not (job.folder / folders.ROWS).exists()
    before = [dict(row) for row in project.data.rows_of_form]
    test.run()
    assert "lifetime epsilon of 1" in texts(test)
    assert len(ledger.charges()) == 1
    assert project.data.schema is None
    assert project.data.rows_of_form == before
    assert project.data.learning.share == 0.4
    assert test.button(key="learn_run").disabled  # and the balance says so now


@pytest.mark.slow
@pytest.mark.privacy
def test_cancelling_loses_nothing_and_leaves_no_private_file(project):
    plan = project.domain_plan("declared")
    asset = AssetConfig(name="stays 2024", lifetime_epsilon=1.0)
    job = worker.learn(plan, project.data.raw, asset, 1, delta_share=0.1, public=False)
    assert stat.S_IMODE(job.folder.stat().st_mode) == 0o700
    job.cancel()
    assert not (job.folder / folders.ROWS).exists()
    project.data.learning.job = job
    test = open_page("data", project)
    assert "Learning was cancelled" in texts(test)
    assert not job.folder.exists()
    assert project.data.to_learn == ("age", "ward")
    assert project.data.schema is None


@pytest.mark.slow
def test_public_rows_are_learned_with_known_noise_and_not_charged(project):
    project.data.public, project.account.seed = True, 8
    test = open_page("data", project)
    assert "asset_name" not in [entry.key for entry in test.text_input]
    plan, rng = project.domain_plan("declared"), np.random.default_rng(8)
    learn(test, project)
    same = learn_domain(
        plan, project.data.raw, ledger=None, noise=SeededNoise(rng), rng=rng, public=True
    )
    assert project.data.schema == same.schema
    assert project.data.schema.prior.charge is None
    assert Ledger().charges() == ()


@pytest.mark.slow
@pytest.mark.privacy
def test_a_table_that_stays_where_it_is_is_counted_there(project, tmp_path, monkeypatch):
    project.data.public, project.account.seed = True, 8
    wanted, rng = project.data.raw, np.random.default_rng(8)
    wanted.frame.to_parquet(tmp_path / "t.parquet", index=False)
    table = open_table(address.parse(str(tmp_path / "t.parquet")), tmp_path / "ws")
    project.data.raw = table
    plan = project.domain_plan("declared")
    with monkeypatch.context() as gone:
        gone.setattr(type(table.engine), "tallied", failing)
        test = open_page("data", project)
        test.button(key="learn_run").click().run()
        assert not test.exception
        assert "could not read" in texts(test)
        assert "canary" not in texts(test)
        assert project.data.learning.job is None
    learn(open_page("data", project), project)
    same = learn_domain(plan, wanted, ledger=None, noise=SeededNoise(rng), rng=rng, public=True)
    assert project.data.schema == same.schema
    assert not list(tmp_path.rglob("counts.json"))
    table.close()


def failing(*_: object):
    yield from run_redacted(lambda: next(iter(["canary"].index("canary cell"))), "t.parquet")


def test_a_learned_column_may_be_corrected_and_its_price_stays(project):
    plan = project.domain_plan("declared")
    age, ward = plan.outline.requests
    prior = plan.prior(1)
    project.data.schema = plan.schema((age.column(18, 90, (50,)), ward.column(("north",))), prior)
    rows = column_form.to_rows(project.data.schema.columns)
    rows[1]["levels"] = "north | west | other"
    project.data.show_form(rows)
    test = open_page("data", project)
    test.button(key="apply_columns").click().run()
    assert project.data.schema["ward"].levels == ("north", "west", "other")
    assert (project.data.schema.provenance, project.data.schema.prior) == ("dp", prior)
    # After counts of the private rows were seen, a change comes from them; the price still stays.
    project.look("counted cells outside")
    rows[1]["levels"] = "north | south | other"
    project.data.show_form(rows)
    test = open_page("data", project)
    test.button(key="apply_columns").click().run()
    assert (project.data.schema.provenance, project.data.schema.prior) == ("private rows", prior)


def test_an_uploaded_outline_fills_the_form(project):
    outline = loads_outline(
        "one_row_per_person: true\ncolumns:\n"
        "  - {name: age, kind: numeric, lower: 0, upper: 150, learn: {bins: 4, cells: 75}}\n"
        "  - {name: y, kind: boolean}\n"
    )
    project.data.form = None

    def app():
        import streamlit as st

        from dashboard.data.declaration_sources import _take_outline

        if not st.session_state.get("taken"):
            st.session_state["taken"] = True
            _take_outline(st.session_state["outline"])

    test = AppTest.from_function(app)
    test.session_state["project"], test.session_state["outline"] = project, outline
    assert not test.run().exception
    assert project.data.to_learn == ("age",)
    assert project.data.learning.details["age"]["cells"] == 75
    assert project.data.people == People(one_row_per_person=True)
    assert project.domain_plan("declared").outline == outline
