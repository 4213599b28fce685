"""Could this trial have found it? What a study of this size finds, and what it makes up."""

from __future__ import annotations

import streamlit as st

from dashboard.page import next_page, step_heading
from dashboard.show import part
from dashboard.twin_widgets import imputation_part, twin_part
from smdp.steps import IMPUTATIONS, TWIN

step_heading(TWIN)
twin_part()
st.divider()
part(IMPUTATIONS.question)
imputation_part()
next_page(TWIN, even_if_open=True)
