"""A whole analysis: its plan, its run, its file, its script, and where each result came from."""
