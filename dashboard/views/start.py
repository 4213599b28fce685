"""Start: what this does, and the ways in."""

import streamlit as st

from dashboard.address import go_to
from dashboard.guide import start_guide
from dashboard.loading import load_sample, upload_box
from dashboard.navigation import ICONS, page_label, page_path, page_steps, step_line
from dashboard.opening import open_box
from dashboard.paper_or_default import choose_paper_or_default
from dashboard.returning import offer
from dashboard.session import state
from dashboard.show import errors_as_messages, heading, part
from dashboard.table import loaded

heading(
    "From a mobile-health trial to a policy you can read",
    "Load a table of people, repeated decision points, treatments and outcomes.",
)
st.markdown(
    "This workbench turns a micro-randomised trial or a diary study into a small summary of each "
    "patient's state that still holds what matters for choosing treatment. "
    "It shows at every step what was understood, what was done and how sure it is. "
    "Everything runs on this computer: no data leaves it."
)

offer()
left, right = st.columns(2, gap="large")
with left, st.container(border=True):
    part("Your own file")
    upload_box()
with left, st.container(border=True):
    part("A saved analysis")
    open_box()

with right, st.container(border=True):
    from smdp.simulation.samples import SAMPLE_STUDIES, sample_file

    part("A sample study")
    st.caption("Synthetic data: made by a program, about nobody.")
    if st.button(
        "Guided example",
        type="primary",
        icon=":material/school:",
        help="Loads the first study below; on each page a box says what to press and what to look "
        "at.",
    ):
        with errors_as_messages():
            load_sample(sample_file(SAMPLE_STUDIES[0].file))
            start_guide()
            go_to("views/data.py")
    for sample in SAMPLE_STUDIES:
        if st.button(sample.title, key=f"sample-{sample.file}", icon=":material/science:"):
            with errors_as_messages():
                load_sample(sample_file(sample.file))
                go_to("views/data.py")
        st.caption(sample.description)

part("The steps")
if loaded():
    choose_paper_or_default()
for step in page_steps():
    assert step.page is not None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.page_link(
            page_path(step), label=page_label(step.page), icon=ICONS[state(step)], width=220
        )
        st.caption(step_line(step) if loaded() else step.page.purpose)
