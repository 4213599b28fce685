"""The little that the theme cannot say."""

from __future__ import annotations

import streamlit as st

CSS = """
.block-container { max-width: 1240px; }
.question { font-size: 1.06rem; opacity: .75; margin: -.6rem 0 1rem 0; max-width: 50rem; }
.brand { font-size: 1.35rem; font-weight: 650; margin: -.4rem 0 .6rem .1rem; }
[data-testid="stSidebar"] [data-testid="stCaptionContainer"] {
  margin: -.85rem 0 -.6rem 2.1rem; font-size: .8rem; line-height: 1.25; }
[data-testid="stSidebar"] hr ~ [data-testid="stCaptionContainer"] { margin-left: 0; }
[data-testid="stCaptionContainer"] { opacity: .75 !important; color: inherit !important; }
abbr[title] { text-decoration: underline dotted; text-underline-offset: .2em; cursor: help; }
.st-key-guide { background: rgba(0, 114, 178, .12); }
[data-testid="stSidebar"] hr { margin: .8rem 0 0 0; }
.js-plotly-plot .modebar-container { top: auto !important; bottom: 24px; height: 0; }
"""


def apply_style() -> None:
    st.html(f"<style>{CSS}</style>")
