"""Gallery: what is this good for, told in five stories to people who are in a hurry?"""

from __future__ import annotations

from dashboard.common.widgets import heading, mistakes
from dashboard.gallery import presentation, story_view
from dashboard.session.shelf import project
from prism_core.reproduction import STORIES

state = project().gallery
if state.presenting:
    with mistakes():
        presentation.screen(STORIES[state.place])
else:
    heading(
        "Gallery",
        "Five stories that say when a table made for one prediction is worth it. Every row is "
        "generated: nothing is charged, and your own table is not opened.",
        about_project=False,
    )
    presentation.choice(STORIES)
    with mistakes():
        story_view.section(STORIES[state.place])
