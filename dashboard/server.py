"""The server of the dashboard: its script behind the guard."""

import streamlit as st
from starlette.middleware import Middleware

from dashboard.guard import Guard
from dashboard.lasting_files import lasting_files

app = st.App("app.py", middleware=[Middleware(Guard)], lifespan=lasting_files)
