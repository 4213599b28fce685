"""The dashboard's entry: navigation only."""

from pathlib import Path

import streamlit as st

from dashboard import autosaving, history
from dashboard.address import name_in_address
from dashboard.faults import without_unfit_choices
from dashboard.navigation import pages, sidebar, step_of_page
from dashboard.page import skeleton
from dashboard.page_style import apply_style
from dashboard.returning import remember_browser
from dashboard.running import collect
from dashboard.session import Key, begin_visit
from smdp.plugins import load_plugins

load_plugins()
page = st.navigation(pages(skeleton), position="hidden")
st.set_page_config(
    page_title=f"{page.title} · smdp",
    page_icon=str(Path(__file__).parent / "static" / "icon.svg"),
    layout="wide",
)
apply_style()
autosaving.begin()
begin_visit(page.title)
st.session_state[Key.PAGE_STEP] = step_of_page(page.title)
collect()
history.note()
name_in_address()
try:
    with without_unfit_choices():
        sidebar()
        page.run()
finally:  # also where the page stopped early or starts anew
    history.note()
    autosaving.keep_work()
    remember_browser()
