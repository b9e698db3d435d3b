"""What is remembered of rows counts once the charge it was written for stands, and not before."""

from __future__ import annotations

import pytest

from prism_core.data.table_identity import check_public
from prism_core.data.tables.raw_table import read_table
from prism_core.errors import KnownPrivateError, PrismError
from prism_core.privacy.ledger import Ledger

pytestmark = pytest.mark.privacy
NOTICE = "already charged under"


def renamed(config, name):
    """The same run under another asset's name, with a lifetime that carries it."""
    text = config.read_text().replace('"ward 7"', f'"{name}"')
    other = config.with_name(f"{name}.toml")
    other.write_text(text.replace("lifetime_epsilon = 0.2", "lifetime_epsilon = 9.0"))
    return other


def test_a_refused_release_leaves_no_notice(prism, make_run, tmp_path):
    config = make_run(public=False, asset=0.2)  # less than the plan's epsilon of 1
    status, _, err = prism("release", config, "--out", tmp_path / "no")
    assert status == 2
    assert "lifetime epsilon" in err
    other = renamed(config, "clinic")
    status, _, err = prism("release", other, "--out", tmp_path / "first")
    assert status == 0
    assert NOTICE not in err
    third = renamed(config, "lab")
    status, _, err = prism("release", third, "--out", tmp_path / "second")
    assert status == 0
    assert f"{NOTICE} “clinic”." in err  # the one that stands, and only that
    assert "ward 7" not in err


@pytest.mark.parametrize(
    "step", [("release",), ("comparator", "--method", "independent")], ids=lambda step: step[0]
)
def test_nor_are_its_rows_known_as_private(prism, make_run, tmp_path, step):
    config = make_run(public=False, asset=0.2)
    assert prism(*step, config, "--out", tmp_path / "no")[0] == 2
    raw = read_table(config.parent / "train.csv")
    assert check_public(raw)
    other = renamed(config, "clinic")
    assert prism(*step, other, "--out", tmp_path / "made")[0] == 0
    with pytest.raises(KnownPrivateError, match="under “clinic”\\."):
        check_public(raw)


def test_a_charge_that_is_void_is_none(tmp_path, frame):
    """No mechanism ran, so nothing was spent: the rows were not charged."""
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1.0, delta=1e-6)
    raw = read_table(frame.to_csv(index=False).encode(), name="a.csv")
    for state in ("void", "failed"):
        ledger.remember("ward", _marks(raw), "f" * 64)
        number = _charge(ledger, "f" * 64)
        ledger.mark(number, state)
        if state == "void":
            assert check_public(raw, workspace=tmp_path)
    with pytest.raises(KnownPrivateError, match="“ward”"):
        check_public(raw, workspace=tmp_path)


def test_an_earlier_charge_of_the_same_plan_is_not_this_run(tmp_path, frame):
    ledger = Ledger(tmp_path)
    ledger.register("ward", epsilon=1.0, delta=1e-6)
    ledger.mark(_charge(ledger, "f" * 64), "done")
    raw = read_table(frame.to_csv(index=False).encode(), name="a.csv")
    ledger.remember("ward", _marks(raw), "f" * 64)
    assert check_public(raw, workspace=tmp_path)
    _charge(ledger, "e" * 64)  # another plan's
    assert check_public(raw, workspace=tmp_path)
    _charge(ledger, "f" * 64)  # this one's; started, so it counts
    with pytest.raises(KnownPrivateError):
        check_public(raw, workspace=tmp_path)


def test_without_the_ledger_everything_that_is_remembered_counts(tmp_path, frame):
    ledger = Ledger(tmp_path)
    raw = read_table(frame.to_csv(index=False).encode(), name="a.csv")
    ledger.remember("ward", _marks(raw), "f" * 64)
    assert check_public(raw, workspace=tmp_path)
    for path in tmp_path.glob("ledger.sqlite*"):
        path.unlink()
    with pytest.raises(PrismError):
        check_public(raw, workspace=tmp_path)


def _marks(raw):
    from prism_core.data.table_identity import marks

    return marks(raw)


def _charge(ledger, plan):
    from prism_core.privacy.accountants.accountant import accountant

    spender = accountant("zcdp")
    events = (spender.gaussian(1e-4, 0.0, "a × b"),)
    return ledger.charge(
        "ward",
        step="release",
        spent=spender.spent(events, 1e-6),
        events=events,
        plan=plan,
        accountant="zcdp",
    )
