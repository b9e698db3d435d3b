"""The hosted form in browsers, with a real provider: login, roles, and what is refused."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import Watch, free_port, opened, serving, wait_until
from tests.support.hosting import PEOPLE, claims, cookie, hosting_file, provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.privacy]


@pytest.fixture(scope="module")
def hosted(tmp_path_factory) -> Iterator[str]:
    """`prism-dashboard --hosting` beside a provider; gives the app's address."""
    port, folder = free_port(), tmp_path_factory.mktemp("hosted")
    with provider(free_port()) as identities:
        path = hosting_file(folder / "hosting.toml", f"http://127.0.0.1:{port}", identities)
        command = ["-m", "dashboard.launch", "--port", str(port), "--hosting", str(path)]
        terminal = folder / "terminal"
        environment = {"PRISM_WORKSPACE": str(folder / "workspace")}
        with serving(command, port, environment, terminal) as address:
            assert terminal.read_text() == ""  # there is no key to be shown
            yield address


@pytest.fixture
def browser_of(hosted: str, chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browsers of their own."""
    made = []

    def make(**options: object) -> BrowserContext:
        made.append(opened(chromium, viewport={"width": 1280, "height": 1000}, **options))
        return made[-1]

    yield make
    for context in made:
        context.close()


def log_in(context: BrowserContext, address: str, subject: str) -> Page:
    """Log in by the provider's page, as people do."""
    page = context.new_page()
    page.goto(address)
    page.locator(".st-key-log_in button").click()
    page.get_by_role("button", name=subject, exact=True).click()
    page.get_by_role("button", name=PEOPLE[subject][0]).wait_for()
    return page


def logged_in(context: BrowserContext, address: str, subject: str) -> Page:
    """A tab that has logged in before."""
    value = cookie(claims(subject, time.time()), address)
    context.add_cookies([{"name": "_streamlit_user", "value": value, "url": address}])
    return context.new_page()


def test_a_curator_logs_in_and_out(hosted: str, browser_of):
    context = browser_of()
    watch = Watch()
    page = context.new_page()
    watch.on(page)
    for path in ("", "data", "release", "gallery"):
        page.goto(f"{hosted}/{path}")
        page.locator(".st-key-log_in button").wait_for()
        assert page.locator(".st-key-sample_scm_spurious").count() == 0
        assert page.locator("[data-testid=stTopNavLink]").count() == 0
    page.close()
    page = log_in(context, hosted, "u-ada")
    page.get_by_role("heading", name="Start", exact=True).wait_for()
    page.locator(".st-key-start_saved button").wait_for()
    page.get_by_role("button", name="Ada Curator").click()
    page.get_by_text("Subject u-ada, with the role curator.").wait_for()
    # A tab of the same browser is logged in; an address with a key is of no use to anybody.
    tab = context.new_page()
    tab.goto(f"{hosted}/release")
    tab.get_by_role("heading", name="Release", exact=True).wait_for()
    stranger = browser_of().new_page()
    stranger.goto(f"{hosted}/?key=anything")
    stranger.locator(".st-key-log_in button").wait_for()
    page.locator(".st-key-log_out button").click()
    page.wait_for_url("**/end_session**")
    page.goto(hosted)
    page.locator(".st-key-log_in button").wait_for()
    watch.check()


def test_a_login_leads_back_to_the_address_that_was_asked_for(hosted: str, browser_of):
    page = browser_of().new_page()
    for asked, opens in (("structure?project=x", "Structure"), ("release", "Release")):
        page.goto(f"{hosted}/{asked}")
        page.locator(".st-key-log_in button").click()
        page.get_by_role("button", name="u-ada", exact=True).click()
        page.get_by_role("heading", name=opens, exact=True).wait_for()
        page.locator(".st-key-log_out, [data-testid=stPopoverButton]").first.wait_for()
        page.context.clear_cookies()
    # What somebody else put there leads nowhere.
    page.goto(hosted)
    kept = "JSON.stringify({here: '//elsewhere.example/', at: Date.now()})"
    page.locator(".st-key-log_in button").wait_for()
    page.evaluate(f"sessionStorage.setItem('prism-studio-way-back', {kept})")
    page.locator(".st-key-log_in button").click()
    page.get_by_role("button", name="u-ada", exact=True).click()
    page.get_by_role("heading", name="Start", exact=True).wait_for()
    assert page.url.startswith(hosted)


def test_without_the_role_no_page_opens(hosted: str, browser_of):
    page = log_in(browser_of(), hosted, "u-none")
    for path in ("", "data", "release", "inspect"):
        page.goto(f"{hosted}/{path}")
        page.get_by_text("This page needs the role").wait_for()
        assert page.locator("input[type=file]").count() == 0


@pytest.mark.parametrize(
    ("said", "secret", "words"),
    [
        ({}, None, "Subject u-ada"),
        ({"iat": int(time.time()) - 11 * 3600}, None, "Your login has ended"),
        ({}, "another-secret-that-nobody-has-given-us", "Log in"),
    ],
    ids=["good", "expired", "forged"],
)
def test_a_cookie_counts_while_its_login_holds(hosted: str, browser_of, said, secret, words):
    """The first case shows that the others could be let in."""
    context = browser_of()
    told = claims("u-ada", time.time(), **said)
    value = cookie(told, hosted, *([secret] if secret else []))
    context.add_cookies([{"name": "_streamlit_user", "value": value, "url": hosted}])
    page = context.new_page()
    page.goto(hosted)
    if words.startswith("Subject"):
        page.get_by_role("button", name="Ada Curator").click()
    page.get_by_text(words).first.wait_for()
    wait_until(lambda: (page.locator(".st-key-log_in").count() == 0) is (said == {} and not secret))


def test_the_address_of_a_project_is_of_no_use_to_another(hosted: str, browser_of):
    ada, ben = (logged_in(browser_of(), hosted, subject) for subject in ("u-ada", "u-ben"))
    ada.goto(f"{hosted}/data")
    ada.locator(".st-key-sample_scm_spurious button").click()
    ada.get_by_text("In use: the sample").wait_for()
    ada.wait_for_url("**project=**")
    ben.goto(ada.url)
    ben.get_by_text("This project belongs to somebody else").wait_for()
    assert ben.get_by_text("In use: the sample").count() == 0
    ada.reload()
    ada.get_by_text("In use: the sample").wait_for()


def test_no_secret_is_shown_or_written(hosted: str, tmp_path_factory):
    from tests.support.hosting import CLIENT_SECRET, SECRET

    for path in tmp_path_factory.getbasetemp().glob("**/workspace/**/*"):
        if path.is_file():
            content = path.read_bytes()
            assert SECRET.encode() not in content, path
            assert CLIENT_SECRET.encode() not in content, path
