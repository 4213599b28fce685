"""The server of the dashboard: its script behind the guard."""

import streamlit as st
from starlette.middleware import Middleware

from dashboard.guard import Guard

app = st.App("app.py", middleware=[Middleware(Guard)])
