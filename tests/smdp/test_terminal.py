"""The progress bar: one line where somebody watches, nothing elsewhere."""

from __future__ import annotations

import io

from smdp.commands.terminal import ProgressBar


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_draws_one_line_with_the_time_left():
    stream, clock = io.StringIO(), Clock()
    bar = ProgressBar(stream, shown=True, clock=clock)
    bar(0.0, "Reading")
    clock.now = 60.0
    bar(0.25, "Screening: Round 1")
    clock.now = 60.01
    bar(0.26, "too soon to be drawn")
    bar(1.0, "done")
    bar.end()
    lines = stream.getvalue().split("\r")[1:]
    assert [line.rstrip() for line in lines] == [
        "[------------------------]   0 %  Reading",
        "[######------------------]  25 %  3:00 left  Screening: Round 1",
        "[########################] 100 %  done",
    ]
    assert stream.getvalue().count("\n") == 1


def test_a_long_message_stays_on_its_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    stream = io.StringIO()
    ProgressBar(stream, shown=True)(0.5, "x" * 100)
    assert len(stream.getvalue()) == 40


def test_without_a_terminal_it_says_nothing():
    stream = io.StringIO()
    bar = ProgressBar(stream)
    bar(0.5, "Reading")
    bar.end()
    assert stream.getvalue() == ""
