"""Glossary: what the words on the pages mean."""

from __future__ import annotations

import streamlit as st

from dashboard.literal_text import literal
from dashboard.session import keep, kept
from dashboard.show import heading, part
from smdp.words.glossary import TERMS, matching

heading("Glossary", "What do the words on these pages mean?")
wanted = keep(
    "glossary.words",
    st.text_input(
        "Look for",
        kept("glossary.words", ""),
        key="glossary.words",
        placeholder="discount, say, or p-value",
        help="Words of the name or of its meaning. Empty: everything.",
    ),
)
found = matching(wanted)
if not found:
    st.markdown(f"Nothing here speaks of “{literal(wanted)}”. There are {len(TERMS)} entries.")
for topic in dict.fromkeys(term.topic for term in found):
    part(topic)
    lines = []
    for term in found:
        if term.topic == topic:
            symbol = f" ({literal(term.symbol)})" if term.symbol else ""
            lines.append(f"- **{literal(term.name)}**{symbol}: {literal(term.meaning)}")
    st.markdown("\n".join(lines))
