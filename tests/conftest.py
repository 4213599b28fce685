"""What all tests share."""

from hypothesis import settings

# The same examples on every run and machine, however busy: a red test is then a change in the code.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
