"""Messages fit on a page."""

from smdp.data.problem import Problem
from smdp.errors import LONGEST_MESSAGE, SmdpError


def test_long_names_are_cut():
    error = SmdpError(f"The column '{'n' * 10_000}' is empty.", "Leave it out.")
    assert error.problem == f"The column '{'n' * 59}…' is empty."
    assert str(error).endswith("is empty. Leave it out.")


def test_what_stands_between_two_names_is_kept():
    message = f"'weather' is compared with 'sun', {'and so on ' * 20} as 'other'."
    assert SmdpError(message).problem == message


def test_no_message_is_endless():
    assert len(SmdpError("'" * 5_000).problem) == LONGEST_MESSAGE
    found = Problem("note", "x", "It's " * 2_000, "n" * 10_000)
    assert len(found.message) == len(found.remedy) == LONGEST_MESSAGE
    assert Problem("note", "x", found.message, found.remedy) == found
