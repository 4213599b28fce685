"""One choice for the whole analysis: its steps as recommended, or as the paper prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import streamlit as st

from dashboard.session import control_key, keep, kept, put, the_analysis
from smdp.settings import Settings, as_in_the_paper, settings_of
from smdp.steps import PlanSection, Step, steps

KEPT = "as in the paper"
RECOMMENDED, PAPER = "Recommended", "As in the paper"


def asked_for_the_paper() -> bool:
    return bool(kept(KEPT, False))


def choose_paper_or_default() -> None:
    """The control, and what it changes in which step."""
    now = PAPER if asked_for_the_paper() else RECOMMENDED
    chosen = st.segmented_control(
        "How the steps of the method are done",
        [RECOMMENDED, PAPER],
        default=now,
        required=True,
        key=control_key("paper or default"),
        help="As in the paper: every step as Wang, Laber and Witkiewitz print it, to compare with. "
        "Results made before stay, and are out of date until their step is run again.",
    )
    st.caption(" ".join(_differences(chosen == PAPER)))
    if chosen != now:
        _change_to(chosen == PAPER)
        st.rerun()


def _sections() -> Iterator[tuple[Step, PlanSection, Any, Any]]:
    """Of each step that the paper does otherwise: the section as recommended and as printed."""
    for step in steps():
        for section in step.sections:
            if isinstance(section.kind, type) and issubclass(section.kind, Settings):
                default = as_in_the_paper(section.kind(), asked=False)
                printed = as_in_the_paper(section.kind())
                if default != printed:
                    yield step, section, default, printed


def _differences(paper: bool) -> Iterator[str]:
    for step, _, default, printed in _sections():
        for each, other in _nested(default, printed):
            for name, known in settings_of(type(each)).items():
                before, after = getattr(each, name), getattr(other, name)
                if before != after and not isinstance(before, Settings):
                    value = after if paper else before
                    words = (known.choices or {}).get(value, str(value))
                    yield f"{step.title}, {known.label[:1].lower()}{known.label[1:]}: {words}."


def _nested(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """Two settings of one kind, and those within them."""
    yield one, other
    for each in fields(one):
        if isinstance(getattr(one, each.name), Settings):
            yield from _nested(getattr(one, each.name), getattr(other, each.name))


def _change_to(paper: bool) -> None:
    """In the plan as far as it goes, and in what the pages show."""
    keep(KEPT, paper)
    changes = {}
    for step, section, default, printed in _sections():
        for each, other in _nested(default, printed):
            for field in fields(each):
                if getattr(each, field.name) != getattr(other, field.name):
                    keep(f"{step.name}.{field.name}", getattr(other if paper else each, field.name))
        planned = the_analysis().plan.section(section.name)
        if planned is not None:
            changes[section.name] = as_in_the_paper(planned, paper)
    if changes:
        put(the_analysis().with_plan(**changes))
