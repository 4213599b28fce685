"""The little that the theme cannot say."""

from __future__ import annotations

import streamlit as st

CSS = """
.block-container { max-width: 1240px; }
@media (768px < width < 1500px) { .block-container { padding-inline: 2.5rem; } }
.question { font-size: 1.06rem; opacity: .75; margin: -.6rem 0 1rem 0; max-width: 50rem; }
.brand { font-size: 1.35rem; font-weight: 650; margin: -.4rem 0 .6rem .1rem; }
[data-testid="stSidebar"] [data-testid="stCaptionContainer"] {
  margin: -.85rem 0 -.6rem 2.1rem; font-size: .8rem; line-height: 1.25; }
[data-testid="stSidebar"] hr ~ [data-testid="stCaptionContainer"] { margin-left: 0; }
[data-testid="stCaptionContainer"] { opacity: .75 !important; color: inherit !important; }
abbr[title] { text-decoration: underline dotted; text-underline-offset: .2em; cursor: help; }
.st-key-guide { background: rgba(0, 114, 178, .12); }
.st-key-jobs { min-height: 3.1rem; margin: -1.1rem 0 -.9rem 0; justify-content: center; }
:is([class*="st-key-shape-step"], .st-key-brand) button p {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[data-testid="stSidebar"] hr { margin: .8rem 0 0 0; }
[class*="st-key-passport-row"] {
  border-bottom: 1px solid rgba(128, 128, 128, .25); padding-bottom: .55rem; }
[class*="st-key-passport-row"] p { font-size: .92rem; line-height: 1.4; }
[class*="st-key-passport-row"] [data-testid="stPageLink"] a { padding: 0; margin: .3rem 0 0 0; }
[class*="st-key-passport-row"] [data-testid="stPageLink"] p {
  white-space: normal; text-decoration: underline; text-underline-offset: .2em; }
.js-plotly-plot .modebar-container { top: auto !important; bottom: 24px; height: 0; }
"""

# The primary colour carries white text on buttons, so in the dark it is too dim to be text itself.
# Streamlit writes a light page's figures in a grey of 3.6:1.
# The ring is one colour for both themes, at 3:1 or more on either, also where menus float.
CONTRAST = """
[data-variant="segmented_control"][data-selected]:not([data-disabled]),
[data-testid="stSliderThumbValue"], [role="tab"][aria-selected="true"],
button[kind="tertiary"]:is(:hover, :focus-visible, :active) {
  color: light-dark(#0067A3, #6CB8F0) !important; }
:is(a, abbr, button, main, pre, summary, [role="tab"]):focus-visible,
label:has(:focus-visible), [role="group"]:has(:focus-visible),
:is([data-testid$="RootElement"], [data-testid="stNumberInputContainer"]):has(:focus-visible) {
  outline: 2px solid #1E88D0 !important; outline-offset: 2px; box-shadow: none !important; }
:is(main, [role="tab"]):focus-visible { outline-offset: -2px; }
.js-plotly-plot text[style*="rgb(128, 132, 149)"] { fill: #59636F !important; }
.modebar:focus-within > * { opacity: 1 !important; }
"""

# The button that closes the sidebar came with the mouse only; links of a closed one took the focus.
SIDEBAR = """
[data-testid="stSidebarCollapseButton"] { visibility: visible !important; }
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }
"""


def apply_style() -> None:
    st.html(f"<style>{CSS}{CONTRAST}{SIDEBAR}</style>")
