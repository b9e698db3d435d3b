"""Table entry: a file of one's own or an address, read and put where the project needs it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.common import binding_view, public_claim, uploads
from dashboard.common.open_project import open_project
from dashboard.common.widgets import mistakes
from dashboard.key import access, identity
from dashboard.session import offered_sources
from dashboard.session.data_entries import DataEntries, bind
from dashboard.session.designs import Designs, Entries
from dashboard.session.memory import take_back
from dashboard.session.project import Project
from dashboard.session.release_entries import AccountEntries
from dashboard.session.shelf import project
from prism_core.data.codebooks import Codebook, read_codebook
from prism_core.data.table_identity import check_test, marks
from prism_core.data.tables.address import URL_FORMS
from prism_core.data.tables.delimited import LATIN1, SEPARATORS
from prism_core.data.tables.header import check_columns
from prism_core.data.tables.raw_table import RawTable, read_table
from prism_core.data.tables.statistical_file import program_of
from prism_core.errors import KnownPrivateError, PrismError, TableError
from prism_core.planning.wishes.task import Synthesis
from prism_core.runs.inputs import address, open_rows
from prism_core.text.markdown import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamlit.runtime.uploaded_file_manager import UploadedFile

    from prism_core.data.engines.out_of_core import BigTable
    from prism_core.hosting.sources import Source

_UPLOAD = "upload_table"
_HOW = "say so below and load them again"  # how a refusal is overruled
_ENCODINGS = {"utf-8": "UTF-8", LATIN1: "latin-1 (Western European)"}


def upload_section() -> None:
    """A file from this machine's browser."""
    file = uploads.table(
        "File with the table",
        _UPLOAD,
        "Read into this session's memory on this machine, and let go of some minutes after no tab "
        "has the project open. No cell is shown or examined until you run a release.",
        larger="For a larger table ask who runs this server for a source."
        if identity.hosted()
        else "A larger file stays where it is, and is counted there: give its path under *A path "
        "or database* above.",
    )
    separator, encoding = _text_style(file)
    if file is None:
        return
    # Of this file alone: a tick that outlived it would call the next one public, too.
    public = st.checkbox(
        "These rows are public (a benchmark or generated data): runs are rehearsals and are not "
        "charged",
        key=f"upload_public_{file.file_id}",
    )
    with mistakes():
        sheet = uploads.sheet(file, _UPLOAD)
        _load(file, _Style(separator, encoding, sheet), public=public)


def _text_style(file: UploadedFile | None) -> tuple[str, str]:
    """Separator and encoding, asked for a text alone: a workbook has neither."""
    if file is not None and uploads.kind(file) != "csv":
        return next(iter(SEPARATORS)), next(iter(_ENCODINGS))
    left, right = st.columns(2)
    separator = left.selectbox(
        "Separator of a text file",
        list(SEPARATORS),
        format_func=lambda mark: SEPARATORS[mark],
        key="upload_separator",
    )
    encoding = right.selectbox(
        "Text encoding",
        list(_ENCODINGS),
        format_func=lambda code: _ENCODINGS[code],
        key="upload_encoding",
    )
    return separator, encoding


@dataclass(frozen=True)
class _Style:
    """How an upload is read; a sheet is "" where there is none to choose."""

    separator: str
    encoding: str
    sheet: str

    def read(self, file: UploadedFile) -> RawTable:
        # An upload may have been read before, in this run of the page or an earlier one.
        file.seek(0)
        return read_table(
            file,
            name=file.name,
            separator=self.separator,
            encoding=self.encoding,
            sheet=self.sheet,
        )


def _load(file: UploadedFile, style: _Style, *, public: bool) -> None:
    wanted = st.button("Load this file", type="primary", key="upload_load")
    # The offer below counts as a click on the button: its callback has set the fields already.
    pressed = wanted or st.session_state.pop("upload_offered", False)
    asked = _key("upload", file.file_id, style, public)
    anyway = public_claim.overruled(asked)
    try:
        # First: as a project of its own the same file would lose everything that was made for it.
        if pressed and _taken_back(file, style, public=public):
            uploads.let_go(file, _UPLOAD)
            st.rerun()
        if _open(
            asked,
            lambda: (style.read(file), "#".join(filter(None, (file.name, style.sheet)))),
            public=public,
            anyway=anyway,
            pressed=pressed,
        ):
            public_claim.settled()
            # Before its bytes are let go.
            project().data.carried = _carried(file.getvalue(), file.name)
            uploads.let_go(file, _UPLOAD)
            st.rerun()
    except KnownPrivateError as error:
        public_claim.refused(asked, error)
    except TableError as error:
        st.error(plain(str(error)), icon=":material/error:")
        _offer(error)


def _carried(content: bytes, name: str) -> Codebook | None:
    """What the file says of its own columns, where it is one of SPSS, Stata or SAS; no row."""
    if program_of(content[:64]) is None:
        return None
    try:
        return read_codebook(content, name=name)
    except PrismError:  # it is said where somebody uploads it as a codebook
        return None


def _key(*parts: object) -> str:
    """Of a question: another file or another way to read it is not what was asked about."""
    return f"{parts[0]}_{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


def _open(
    asked: str,
    read: Callable[[], tuple[RawTable | BigTable, str]],
    *,
    public: bool,
    anyway: bool,
    pressed: bool,
    source: Source | None = None,
) -> bool:
    """Put a table under the design that waits for one; else open it as a project of its own.

    Args:
        asked: key of the question.
        read: gives the table and its name; called only when it is needed.
        public: whether the rows are said to be public.
        anyway: whether it was said although they are known as private.
        pressed: whether the button was pressed in this run.
        source: that it comes from, if any.

    Returns:
        Whether it is open now.
    """
    state = project()
    # A table that does not fit is no reason to give the design up: the next one takes its place.
    unfit = not all(check.fits for check in binding_view.checks(state))
    if not (state.data.awaits_table or unfit):
        return open_project(
            asked,
            lambda: offered_sources.bind(_of_table(*read(), public=public, anyway=anyway), source),
            pressed=pressed,
        )
    if pressed:
        _bind(*read(), public=public, anyway=anyway)
        offered_sources.bind(state, source)
    return pressed


def _bind(raw: RawTable | BigTable, name: str, *, public: bool, anyway: bool) -> None:
    state = project()
    # Every check comes first: rows that are refused leave the design as it was.
    # Every check comes first: rows that are refused leave the design as it was.
    if state.data.schema is not None:
        check_columns(state.data.schema.header, raw.header, raw.name)
    if state.data.test is not None:
        check_test(state.data.test, raw, state.data.people.person_id)
    if public and not anyway:
        public_claim.check(raw, how=_HOW)
    # So that she is not asked again about the same rows.
    if public and anyway:
        state.data.public_marks |= marks(raw)
    bind(state, raw, name, public=public, marks=frozenset() if public else marks(raw))


def _taken_back(file: UploadedFile, style: _Style, *, public: bool) -> bool:
    """Whether it is the file whose rows have gone from memory; then they are back."""
    state = project()
    return state.data.rows_let_go is not None and take_back(state, style.read(file), public=public)


def _of_table(
    raw: RawTable | BigTable, name: str, *, public: bool, anyway: bool = False
) -> Project:
    """A project of a table.

    Raises:
        KnownPrivateError: for rows that are called public and known as private, unless `anyway`.
    """
    if public and not anyway:
        public_claim.check(raw, how=_HOW)
    return Project(
        data=DataEntries(
            name=name,
            raw=raw,
            public=public,
            private_marks=frozenset() if public else marks(raw),
            public_marks=marks(raw) if public and anyway else frozenset(),
            file_sha256=raw.sha256 if isinstance(raw, RawTable) else "",
        ),
        # Only a suggestion: the form that charges asks for the people's name instead of the file's.
        account=AccountEntries(asset="" if public else name),
        designs=Designs(
            plan=Entries(
                # The budget that was typed goes along; a lock names columns of the table before.
                synthesis=Synthesis(),
                budget=replace(project().designs.plan.budget, locks={}),
            )
        ),
    )


def place_tab() -> str:
    """The title of the tab with `address_section`."""
    return f":material/database: {'A source' if identity.hosted() else 'A path or database'}"


def address_section() -> None:
    """A table that stays where it is: it may be larger than memory. In the hosted form a source."""
    if identity.hosted():
        with mistakes():
            _sources_section()
        return
    st.caption(
        "Large files are counted where they stand, and are not loaded: a file on this machine, a "
        "pattern such as `/data/stays-*.parquet`, a sheet (`/data/stays.xlsx#Ward 1`), or a "
        "database table: "
        + ", ".join(f"`{form}`" for form in URL_FORMS.values())
        + ". Name a password by a variable of the environment (`${PGPASSWORD}`): it is not stored."
    )
    text = st.text_input("Path, pattern or address", key="place_text")
    # Of this place alone, for the same reason.
    public = st.checkbox(
        "These rows are public: runs are rehearsals and are not charged",
        key=f"place_public_{text.strip()}",
    )
    wanted = st.button("Open this table", type="primary", key="place_open")
    asked = _key("place", text.strip(), public)
    anyway = public_claim.overruled(asked)
    with mistakes():
        try:
            if _open(
                asked,
                lambda: _from_place(text),
                public=public,
                anyway=anyway,
                pressed=wanted and bool(text.strip()),
            ):
                public_claim.settled()
                st.rerun()
        except KnownPrivateError as error:
            public_claim.refused(asked, error)


def _sources_section() -> None:
    """The sources that an administrator offers: chosen by name, with the asset that is charged."""
    found = {one.name: one for one in offered_sources.offered()}
    if not found:
        st.info(
            "No source is offered to you. Ask who runs this server, or upload a file.",
            icon=":material/database:",
        )
        return
    name = st.selectbox(
        "Source",
        list(found),
        key="source_name",
        help="Tables that who runs this server offers. They are counted where they stand.",
    )
    source = found[name]
    st.caption(
        f"Releases are charged to the data asset **{plain(source.asset)}**, with a lifetime "
        f"epsilon of {source.lifetime_epsilon:g}. Other sources of the same people share it."
    )
    pressed = st.button("Open this source", type="primary", key="source_open")
    if pressed and _source_taken_back(source):
        st.rerun()
    if _open(
        _key("source", name),
        lambda: _from_source(name),
        public=False,
        anyway=False,
        pressed=pressed,
        source=source,
    ):
        st.rerun()


def _source_taken_back(source: Source) -> bool:
    """Whether its rows had gone from memory; then they are back."""
    state = project()
    if state.data.rows_let_go is None or state.data.from_source != source.name:
        return False
    raw, _ = _from_source(source.name)
    # A table behind files has no rows in memory that could have gone.
    return isinstance(raw, RawTable) and take_back(state, raw, public=False)


def _from_source(name: str) -> tuple[RawTable | BigTable, str]:
    # Asked again: it may have been taken away since the list was drawn.
    source = offered_sources.chosen(name)
    access.note("source opened", name)
    with st.spinner("Counting the rows …"):
        return open_rows(source.place), name


def _from_place(text: str) -> tuple[RawTable | BigTable, str]:
    # It is read with the rights of whoever started the app.
    access.require_own_machine()
    # These fields stand in the tab of uploads, and hold for a text file here, too.
    style = {key: st.session_state.get(f"upload_{key}") for key in ("separator", "encoding")}
    with st.spinner("Counting the rows …"):
        raw = open_rows(address(text), **{key: mark for key, mark in style.items() if mark})
        assert raw.rows > 0, "a table without rows is refused when it is read"
    return raw, raw.name


def _offer(error: TableError) -> None:
    """One click that does what the message suggests."""
    if error.separator is not None:
        st.button(
            f"Read it as {SEPARATORS[error.separator]}-separated",
            key="offer_separator",
            on_click=_set,
            args=("upload_separator", error.separator),
        )
    if error.encoding is not None:
        st.button(
            f"Read it as {_ENCODINGS[error.encoding]}",
            key="offer_encoding",
            on_click=_set,
            args=("upload_encoding", error.encoding),
        )


def _set(key: str, value: str) -> None:
    st.session_state[key] = value
    st.session_state["upload_offered"] = True
