"""Findings, counted for people."""

from smdp.data.problem import Problem, counted


def test_findings_are_counted_but_for_notes():
    error, warning, note = (Problem(s, "", "x") for s in ("error", "warning", "note"))
    assert counted([note]) == ""
    assert counted([warning, note, warning]) == "2 warnings"
    assert counted([warning, error]) == "1 error and 1 warning"
