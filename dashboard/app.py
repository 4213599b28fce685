"""The dashboard's entry: navigation only."""

import streamlit as st

st.title("smdp")
