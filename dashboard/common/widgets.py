"""Widgets of every page: heading, badges, charts, the way onward, mistakes as sentences."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from dashboard.common import uploads
from dashboard.common.glossary import terms_popover
from dashboard.common.steps import STEPS, first_gap
from dashboard.session import memory
from dashboard.session.shelf import project, refusal
from prism_core.data.schema.looks import sentences
from prism_core.errors import PrismError
from prism_core.figures.theme import html_page
from prism_core.text.markdown import plain
from prism_core.text.numbers import delta_text, eps_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import plotly.graph_objects as go

    from prism_core.data.schema.schema import Schema
    from prism_core.hosting.configuration import Role
    from prism_core.privacy.learning_charge import LearningCharge

_PLOTLY: dict[str, Any] = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


def chart(
    figure: go.Figure, *, key: str, alt: str, name: str = "", saved: go.Figure | None = None
) -> None:
    """A figure; the camera in its corner saves it as an image, the button beneath as a page.

    Args:
        figure: what is drawn.
        key: of the widget.
        alt: what it shows, for those who do not see it.
        name: of the saved files; by default the key.
        saved: what is saved in its place, as with a mark; then there is no camera.
    """
    name = name or key.replace("_", "-")
    config: dict[str, Any] = _PLOTLY | {"toImageButtonOptions": {"filename": name, "scale": 2}}
    if saved is not None:
        config["modeBarButtonsToRemove"] = [*_PLOTLY["modeBarButtonsToRemove"], "toImage"]
    st.plotly_chart(figure, config=config, key=key, alt=alt)
    # For touch and the keyboard, which reach no toolbar that comes up under the mouse; one that is
    # always there would cover legends.
    st.download_button(
        "Save this figure",
        lambda: html_page(figure if saved is None else saved, alt, name),
        f"{name}.html",
        "text/html",
        key=f"{key}_file",
        icon=":material/download:",
        type="tertiary",
        # A download must not run the page again.
        on_click="ignore",
        help="One file with the figure and its words. It saves SVG and PNG, too.",
    )


def enter(title: str, *roles: Role) -> None:
    """Ask for the key, and note that somebody is on this page now; every page begins with it.

    Args:
        title: of the page.
        roles: that may see it in the hosted form; a curator's where none is named.
    """
    from dashboard.common import key_entry  # it shows the samples, whose parts use what is below

    key_entry.admit(title, *roles)
    uploads.enter(title)
    refused = refusal()
    if refused:
        st.error(plain(refused), icon=":material/lock:")
    # After the key: who may not see the page does not keep its rows in memory.
    memory.touch(project())


def heading(
    title: str, question: str | Callable[[], str], *roles: Role, about_project: bool = True
) -> None:
    """What a page begins with: title, the question it answers, and where the project stands.

    Args:
        title: of the page.
        question: that it answers; or what gives it, once it is known who asks.
        roles: as for `enter`.
        about_project: whether the open project's table is named; not before a room.
    """
    from dashboard.common import key_entry

    enter(title, *roles)
    asked = question() if callable(question) else question
    with st.container(horizontal=True, vertical_alignment="center", key="page_heading"):
        st.title(title, width="content")
        st.markdown(_standing() if about_project else "", width="stretch")
        terms_popover(title)
        key_entry.account()
    st.markdown(asked)


def _standing() -> str:
    """Where the project stands: its rows and where its schema comes from."""
    data = project().data
    if data.raw is None and not data.awaits_table:
        return ""
    # The name is a file's and may hold anything; `plain` keeps it from being read as Markdown.
    marks: list[str] = [f":material/database: {plain(data.name)}"]
    counted = "training rows" if data.schema is None else data.schema.counted
    marks.append(f"{data.n:,} {counted}")
    if data.awaits_table:
        marks.append(":violet-badge[no table yet: no row can be read]")
    elif data.public:
        marks.append(":blue-badge[public rows: rehearsals only]")
    else:
        marks.append(":orange-badge[private rows]")
    if data.schema is not None:
        marks.append(provenance_badge(data.schema))
    if project().unsaved:
        marks.append(f":orange-badge[not saved: {plain(project().unsaved)}]")
    return " · ".join(marks)


def provenance_badge(schema: Schema) -> str:
    """A badge that says where the schema comes from."""
    colour = "red" if schema.provenance == "private rows" else "gray"
    return f":{colour}-badge[schema: {provenance_words(schema)}]"


def provenance_words(schema: Schema) -> str:
    """Where the schema comes from, in a word or three."""
    return "learned with budget" if schema.provenance == "dp" else schema.provenance


def provenance_notice(schema: Schema) -> None:
    """Say it in full where it matters."""
    if schema.provenance == "private rows":
        st.warning(
            f"The schema was {schema.provenance_text}. Declare the columns from the codebook "
            "instead where you can.",
            icon=":material/warning:",
        )
    if schema.looks:
        said = "\n".join(f"- {plain(each)}" for each in sentences(schema.looks))
        st.info(
            f"**On record, and in everything that is handed over:**\n\n{said}",
            icon=":material/visibility:",
        )
    if schema.prior is not None:
        st.success(plain(learned_text(schema.prior)), icon=":material/school:")


def learned_text(prior: LearningCharge) -> str:
    """What learning columns cost, in a sentence."""
    charge = "" if prior.charge is None else f", charge number {prior.charge} in the ledger"
    return (
        f"Learned with epsilon = {eps_text(prior.spent.epsilon)}, delta = {delta_text(prior.delta)}"
        f"{charge}: {', '.join(prior.subjects)}. The release uses what is left of the budget."
    )


def unused_learning_notice() -> None:
    """What learning cost whose graph was put away again: no part of this release, and spent."""
    unused = project().structure.graph.unused
    if not unused:
        return
    parts = " and ".join(eps_text(prior.spent.epsilon) for prior in unused)
    st.warning(
        f"Besides this plan, epsilon **{parts}** was spent on learning a graph that is no longer "
        "used. It is in the ledger and in the asset's lifetime, and not in the epsilon of this "
        "release. Whoever saw that graph has learned from both: the ledger's total holds for the "
        "two together.",
        icon=":material/receipt_long:",
    )


def require_earlier_steps(title: str) -> None:
    """Stop the page with a link to the first step that is not done.

    A finished release stands by itself: what is entered anew beside it does not hide it.
    """
    gap = first_gap(project(), title)
    if gap is None:
        return
    step, missing = gap
    if project().release.folder is not None and title in ("Inspect", "Report"):
        st.info(
            "This is the finished release, as it ran; what is entered now is not in it. For "
            f"another one something is missing on **{step.title}**: {plain(missing)}",
            icon=":material/history:",
        )
        return
    st.info(f"Not yet: **{step.title}** is not finished. {plain(missing)}", icon=":material/info:")
    st.page_link(step.page, label=f"Go to {step.title}", icon=step.icon)
    if project().release.finished is not None and title in ("Inspect", "Report"):
        st.markdown("Your finished release is kept. Show it again, at no cost:")
        st.button(
            "Show the finished release again",
            key="release_back",
            icon=":material/undo:",
            on_click=project().show_finished,
        )
    st.stop()


def onward(title: str) -> None:
    """What is missing here, or the way to the next page; a page that is optional comes second."""
    titles = [step.title for step in STEPS]
    position = titles.index(title)
    missing = "" if STEPS[position].optional else STEPS[position].missing(project())
    later = STEPS[position + 1 :]
    following = next((step for step in later if not step.optional), None)
    if missing:
        st.markdown(f":material/radio_button_unchecked: **To go on:** {plain(missing)}")
    elif following is not None:
        with st.container(horizontal=True):
            if st.button(
                f"Continue to {following.title}",
                type="primary",
                icon=":material/arrow_forward:",
                key=f"onward_{title}",
            ):
                st.switch_page(following.page)
            if later[0].optional and st.button(
                f"{later[0].title} first", icon=later[0].icon, key=f"optional_{title}"
            ):
                st.switch_page(later[0].page)


@contextmanager
def mistakes() -> Iterator[None]:
    """Show a mistake as a sentence instead of stopping the page."""
    try:
        yield
    # No other exception: only the words of these are known to hold no private value.
    except PrismError as error:
        st.error(plain(str(error)), icon=":material/error:")


T = TypeVar("T")


def cached(key: str, inputs: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What `make` gives, kept under `key` until the inputs are others.

    For figures of a plan: a page runs for every click, and most clicks change nothing here.
    """
    kept = st.session_state.get(key)
    if kept is None or kept[0] != inputs:
        kept = (inputs, make())
        # One entry a key: else a session would keep the figures of every plan that it ever had.
        st.session_state[key] = kept
    return kept[1]
