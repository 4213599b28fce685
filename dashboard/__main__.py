"""`python -m dashboard`: Streamlit's own command, ended by Ctrl+C or the system without complaint.

The server stops in order, and then raises the signal again.
"""

import signal
import sys

from streamlit.web.cli import main

for told_to_stop in (signal.SIGINT, signal.SIGTERM):
    signal.signal(told_to_stop, lambda *_: sys.exit(0))
main(prog_name="streamlit")
