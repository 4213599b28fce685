"""The dashboard's entry: navigation only."""

from pathlib import Path

import streamlit as st

from dashboard.navigation import PAGES, START, VIEWS, sidebar
from dashboard.running import collect
from dashboard.session import begin_visit
from dashboard.style import apply_style

st.set_page_config(
    page_title="smdp", page_icon=str(Path(__file__).parent / "static" / "icon.svg"), layout="wide"
)
apply_style()
page = st.navigation(
    [st.Page(f"views/{p.view}.py", title=p.title) for p in (START, *PAGES.values(), *VIEWS)],
    position="hidden",
)
begin_visit(page.title)
collect()
sidebar()
page.run()
