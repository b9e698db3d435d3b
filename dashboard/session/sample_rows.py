"""Rows of the packaged samples, which are public and the same for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from prism_core.errors import ConfigError
from prism_core.samples import catalogue

if TYPE_CHECKING:
    from dashboard.session.project import Project
    from prism_core.samples.catalogue import Sample


@st.cache_resource(show_spinner="Generating the sample …")  # public rows, the same for everybody
def sample_of(name: str) -> Sample:
    """A packaged sample by its name."""
    return catalogue.load(name)


def with_sample(state: Project, name: str) -> Project:
    """A project with the rows of its packaged sample, which are public; as it is without one.

    Raises:
        ConfigError: when there is no such sample.
    """
    if not name:
        return state
    if name not in catalogue.SAMPLES:
        raise ConfigError(
            f"sample must be one of {', '.join(catalogue.SAMPLES)}, or empty.", field="sample"
        )
    sample = sample_of(name)
    state.data.sample, state.data.name, state.data.public = sample.name, sample.title, True
    state.data.raw, state.data.test = sample.train, sample.test
    # The rows are here: their own number holds, and no file is waited for.
    state.data.announced, state.data.test_file = None, False
    return state
