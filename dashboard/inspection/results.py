"""Results of an inspection, worked out in a thread beside the page; and its start."""

from __future__ import annotations

from concurrent.futures import TimeoutError
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard.common.widgets import mistakes
from dashboard.session.inspection import Inspection
from dashboard.session.shelf import project
from prism_core.bundle import manifest
from prism_core.bundle.write import bundle_folder
from prism_core.errors import PrismError
from prism_core.runs.finished_run import subject
from prism_core.runs.inputs import fresh_rng, in_memory
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from dashboard.session.inspection import Progress


_SOON = 0.4  # seconds a page waits for a result before it shows how far it is


def inspection() -> Inspection:
    """The session's inspection; there is one where this is called."""
    found = project().inspection.shown
    assert isinstance(found, Inspection)
    return found


def ask(name: str, make: Callable[[Progress], Any]) -> Any:  # noqa: ANN401  (any result)
    """The result of that name, or None while it is worked out; then a bar is shown."""
    work = inspection().start(name, make)
    try:
        return work.future.result(timeout=_SOON)
    except TimeoutError:
        _watch(name)
    except PrismError as error:
        _failed(name, str(error))
    except Exception as error:  # noqa: BLE001  (its text could hold a value; its type cannot)
        _failed(name, f"This could not be worked out ({type(error).__name__}).")
    return None


def _failed(name: str, text: str) -> None:
    st.error(plain(text), icon=":material/error:")
    # By hand: a failure is kept like a result, or every run of the page would begin the work again.
    if st.button("Try again", key=f"retry_{name}", icon=":material/refresh:"):
        inspection().works.pop(name, None)
        st.rerun()


@st.fragment(run_every=0.7)
def _watch(name: str) -> None:
    found = project().inspection.shown
    work = found.works.get(name) if isinstance(found, Inspection) else None
    if work is None or work.future.done():
        st.rerun()
        return
    words = f"{work.text.capitalize()} …" if work.text else "Waiting for its turn …"
    # Streamlit raises for a share outside 0 to 1, be it by a last digit.
    st.progress(min(1.0, max(0.0, work.share)), text=plain(words))
    if st.button("Stop", key=f"stop_{name}", icon=":material/stop_circle:"):
        # Before it is cancelled: what has begun cannot be, and ends when it next tells how far it
        # is.
        work.stop = True
        if work.future.cancel():  # not begun yet
            assert isinstance(found, Inspection)
            found.works.pop(name, None)
        st.rerun()


def choose_target() -> None:
    """Of several targets, which one is looked at; another one is worked out anew."""
    state = project()
    now = inspection()
    names = [each["name"] for each in now.certificate["task"].get("targets", [])]
    # Another target is scored on the rows kept aside, which have gone from memory then.
    if not names or state.release.holdout is None:
        return
    chosen = st.selectbox(
        "Target", names, index=names.index(now.subject.target), key="inspect_target"
    )
    if chosen == now.subject.target:
        return
    with mistakes():
        found = subject(
            bundle_folder.read(now.folder), now.subject.holdout, now.subject.train, target=chosen
        )
        # Results are kept by names that do not say the target, so none goes along; what was paid
        # for does.
        state.inspection.shown = Inspection(
            folder=now.folder,
            certificate=now.certificate,
            subject=found,
            section=now.section,
            private=now.private,
        )
        st.rerun()


def section() -> None:
    """What the comparison means, and the button that starts it."""
    st.warning(
        "This reads the real rows without noise. What it shows is not covered by epsilon and is "
        "meant for the data curator only. Making several releases and keeping the one with the "
        "best numbers is itself a leak.",
        icon=":material/visibility_lock:",
    )
    state = project()
    if state.release.holdout is None:
        gone = state.data.rows_let_go or state.data.test_let_go
        way = (
            f"Load “{plain(gone.name)}” again on the page Data: the same rows are kept aside again."
            if gone is not None and state.release.parted is not None
            else "Run the synthesis again in this session, or use `prism evaluate` on its folder."
        )
        st.info(
            f"The rows kept aside for evaluation are no longer in memory. {way}",
            icon=":material/info:",
        )
        return
    st.caption(
        "Each section is worked out when you open it, beside the page: you can go on meanwhile. "
        "Results stay in this session; nothing is stored or logged."
    )
    if not st.button(
        "Compare with the real rows", type="primary", key="inspect_run", icon=":material/compare:"
    ):
        return
    assert state.release.folder is not None
    with mistakes(), st.spinner("Reading the synthetic and the real rows …"):
        folder, rng = bundle_folder.read(state.release.folder), fresh_rng()
        # Numbers about changed rows would be taken for numbers about the release.
        manifest.check_manifest(folder.path, signed=folder.certificate.get("stamp") == "release")
        found = subject(
            folder,
            in_memory(state.release.holdout, rng),
            None if state.release.train is None else in_memory(state.release.train, rng),
        )
        state.inspection.shown = Inspection(
            folder=state.release.folder,
            certificate=folder.certificate,
            subject=found,
            private=list(state.inspection.bought),
        )
        st.rerun()
