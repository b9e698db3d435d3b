"""A confirmation holds for the amount that stood beside it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.privacy


def page():
    import streamlit as st

    from dashboard.common import confirmation

    amount = st.text_input("Amount", "0.2", key="amount")
    word = confirmation.typed_word(
        "word", f"Spend {amount}", amount, lambda typed: typed == "ward 7"
    )
    box = confirmation.ticked("box", f"Spend {amount}", amount)
    for name, given in (("word", word), ("box", box)):
        if st.button(f"Spend by {name}", key=f"spend_{name}", disabled=not given) and given:
            st.markdown(f"spent {amount} by {name}")


def give(test: AppTest, kind: str) -> AppTest:
    if kind == "word":
        return test.text_input(key="word").set_value("ward 7")
    return test.checkbox(key="box").check()


@pytest.mark.parametrize("kind", ["word", "box"])
def test_what_was_confirmed_is_what_is_spent(kind):
    test = AppTest.from_function(page).run()
    assert test.button(key=f"spend_{kind}").disabled
    give(test, kind).run()
    test.button(key=f"spend_{kind}").click().run()
    assert [line.value for line in test.markdown] == [f"spent 0.2 by {kind}"]


@pytest.mark.parametrize("kind", ["word", "box"])
def test_another_amount_that_comes_with_the_click_is_not_spent(kind):
    test = AppTest.from_function(page).run()
    give(test, kind).run()
    test.text_input(key="amount").set_value("2.5")  # the click takes it along
    test.button(key=f"spend_{kind}").click().run()
    assert not test.markdown
    assert "What you confirmed has changed" in test.warning[0].value
    assert test.text_input(key="word").value == ""
    assert test.checkbox(key="box").value is False
    assert test.button(key=f"spend_{kind}").disabled
    give(test, kind).run()
    assert not test.warning
    test.button(key=f"spend_{kind}").click().run()
    assert [line.value for line in test.markdown] == [f"spent 2.5 by {kind}"]


@pytest.mark.parametrize("kind", ["word", "box"])
def test_an_amount_that_comes_with_the_confirmation_is_not_confirmed(kind):
    test = AppTest.from_function(page).run()
    test.text_input(key="amount").set_value("2.5")
    give(test, kind)  # beside it still stood 0.2
    test.run()
    assert test.button(key=f"spend_{kind}").disabled


@pytest.mark.parametrize("kind", ["word", "box"])
def test_a_change_and_back_has_to_be_confirmed_again(kind):
    test = AppTest.from_function(page).run()
    give(test, kind).run()
    for amount in ("2.5", "0.2"):
        test.text_input(key="amount").set_value(amount).run()
    assert test.button(key=f"spend_{kind}").disabled
