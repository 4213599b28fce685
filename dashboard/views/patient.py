"""9 Patient: one recommendation with its reasons."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dashboard import controls
from dashboard.gate import needs_result, stale_notice
from dashboard.policy_choice import observational_banner, policy_control, short_name
from dashboard.policy_widgets import beside_other_pages, values_of_policies
from dashboard.session import done, keep, kept, memo, the_analysis
from dashboard.show import (
    check,
    errors_as_messages,
    figure,
    heading,
    literal,
    next_step,
    says,
    table,
)
from dashboard.work import learned_from
from smdp.data.variables import Variable
from smdp.explanation.person import (
    PersonNow,
    explain_person,
    people,
    person_now,
    person_over_time,
    q_intervals,
    similar_decisions,
    words_for,
)
from smdp.explanation.standing import deciding_values, standing_of
from smdp.figures.patient import (
    contributions_figure,
    features_figure,
    over_time_figure,
    q_values_figure,
)
from smdp.steps import POLICY
from smdp.words.explanation import action_name, describe_patient
from smdp.words.patient import describe_similar, headline, margin_note, value_table
from smdp.words.standing import footing, reserve

#: By how firmly the recommendation stands.
BOXES = {
    "firm": (st.success, "check_circle"),
    "weak": (st.warning, "help"),
    "none": (st.info, "do_not_disturb_on"),
}
MOST_BOXES, MOST_BOXES_HEIGHT = 12, 640  # more boxes than that are scrolled through

heading("Patient", "What is recommended for one person at one time, and why?")
if not needs_result(POLICY):
    st.stop()
stale_notice(POLICY)
prepared = learned_from()
finished = done(POLICY)
if prepared is None or finished is None:
    st.info(
        "The data that the policy was learned from are gone. Learn it again on the page "
        "Q-functions.",
        icon=":material/history:",
    )
    st.stop()
observational_banner(prepared.trajectories)


def level_box(name: str, variable: Variable, row: Any) -> float:
    """The levels of a nominal variable, to choose one."""
    called = dict(variable.levels)
    filled = " This person's level was missing and is filled in." if row.filled else ""
    return float(
        keep(
            name,
            st.selectbox(
                literal(variable.name),
                list(called),
                index=list(called).index(kept(name, float(row.value))),
                format_func=lambda code: literal(called[code]),
                key=name,
                help=f"The levels seen in the study.{filled}",
            ),
        )
    )


def text_box(name: str, now: PersonNow, whole: str) -> str:
    """Other words instead of those that the person wrote; empty keeps hers."""
    rows = [v for v in now.about if v.whole == whole]
    own = now.values.set_index("variable")["value"]
    said = words_for(rows, [float(own[v.name]) for v in rows])
    return str(
        keep(
            name,
            st.text_area(
                literal(whole),
                value=kept(name, ""),
                key=name,
                placeholder=f"As it was ({said}). Other words here.",
                height=80,
                help="What the policy sees of a text are its words. Empty: as the person wrote it.",
            ),
        )
    )


def typed_values(now: PersonNow) -> dict[str, float | str]:
    """A box for each variable that the policy uses, filled with the person's own values."""
    found: dict[str, float | str] = {}
    about = dict(zip(now.values["variable"], now.about, strict=True))
    for row in now.values.itertuples():
        name = f"patient.value.{now.subject}.{now.decision}.{row.variable}"
        variable = about[row.variable]
        if variable.kind == "nominal":
            found[row.variable] = level_box(name, variable, row)
            continue
        if variable.whole_kind == "text":
            own = found.get(variable.whole)
            if own is None:
                found[variable.whole] = text_box(name, now, variable.whole)
            found[row.variable] = row.value
            continue
        seen = f"Seen in the study: {row.low:.4g} to {row.high:.4g}."
        if row.filled:
            seen += " This person's value was missing and is filled in."
        found[row.variable] = keep(
            name,
            st.number_input(
                literal(row.variable),
                value=kept(name, float(row.value)),
                step=1.0 if row.whole else None,
                format="%g",
                key=name,
                help=literal(seen),
            ),
        )
    return {key: value for key, value in found.items() if value != ""}


settings_column, main = st.columns([1, 2.6], gap="large")
with settings_column:
    policy = policy_control()
    if policy is None:
        st.stop()
    called = short_name(policy)
    subjects = people(prepared)
    subject = controls.select(
        "Person", "patient.subject", subjects, subjects[0], "Whose values to start from."
    )
    person = memo(
        "patient.person",
        (finished.output, called, subject),
        partial(person_over_time, policy, prepared, subject),
    )
    places = [int(d) for d in person.decision]
    times = dict(zip(places, person.time, strict=True))
    decision = controls.select(
        "Decision",
        f"patient.decision.{subject}",
        places,
        person.last_with_a_choice,
        "Decisions that have a row in the table, with the table's own time. At first the last one "
        "at which a treatment could be chosen.",
        lambda d: f"{d + 1}" if times[d] in ("", f"{d + 1}") else f"{d + 1} (time {times[d]})",
    )
    now = person_now(policy, prepared, subject, decision)
    possible = keep(
        f"patient.possible.{subject}.{decision}",
        st.pills(
            "Can be chosen now",
            policy.action_labels,
            selection_mode="multi",
            default=kept(f"patient.possible.{subject}.{decision}", list(now.possible)),
            format_func=lambda label: literal(action_name(label)),
            key=f"patient.possible.{subject}.{decision}",
            help="As it was at this decision. Click a treatment that cannot be given, to take it "
            "out; with none left there is no recommendation.",
        ),
    )
    values = dict(zip(now.values["variable"], now.values["value"], strict=True))
    typed = controls.checkbox(
        "Try other values",
        "patient.typed",
        False,
        "Type in a state, starting from this person's values: what would be recommended then?",
    )
    if typed:
        with st.container(height=MOST_BOXES_HEIGHT if len(values) > MOST_BOXES else "content"):
            values = typed_values(now)

own = {row.variable: row.value for row in now.values.itertuples()}
changed = [name for name, value in values.items() if value != own.get(name)]
with main, errors_as_messages():
    patient = memo(
        "patient.explained",
        (finished.output, called, tuple(values.items()), tuple(possible)),
        partial(explain_person, policy, prepared, values, available=possible),
    )
    what, how = headline(patient)
    filled = memo(
        "patient.deciding",
        (finished.output, called, subject, decision, tuple(values.items()), tuple(possible)),
        partial(deciding_values, policy, prepared, now, values, possible),
    )
    standing = standing_of(
        patient,
        values_of_policies().get(called),
        the_analysis().plan.roles,
        prepared.trajectories,
        filled,
    )
    box, icon = BOXES[standing.firmness]
    who = f"person {literal(subject)} at decision {decision + 1}"
    if changed:
        who += ", with other values of " + literal(", ".join(changed))
    why = reserve(standing, called) or footing(standing, called)
    box(f"**{literal(what)}** for {who}. {literal(f'{how} {why}')}", icon=f":material/{icon}:")
    left, right = st.columns([1.35, 1], gap="medium")
    with left:
        st.markdown(f"**What speaks for {literal(action_name(patient.best))}**")
        figure(contributions_figure(patient), "contributions")
    with right:
        st.markdown("**What each treatment is worth**")
        q = q_intervals(policy, prepared, values)
        figure(q_values_figure(q, tuple(possible), the_analysis().outcome_name), "patient-q")
        st.caption(literal(margin_note(patient, policy.settings.abstain_level)))
    tabs = st.tabs(["Over time", "Values", "Features"], key="patient.tabs")
    with tabs[0]:
        parts = patient.variables.set_index("variable")["contribution"].abs()
        part_of = {v.name: float(parts[v.belongs_to]) for v in person.about}
        moving = [name for name in part_of if person.values[name].nunique() > 1]
        ranked = sorted(moving or list(part_of), key=lambda name: -part_of[name])
        figure(over_time_figure(person, policy.action_labels, ranked, decision), "patient-time")
    with tabs[1]:
        table(value_table(patient, None if changed else now), "patient-values", patient.variables)
    with tabs[2]:
        figure(features_figure(patient, policy), "patient-features")
    similar = similar_decisions(policy, prepared, values)
    says(
        [
            *describe_patient(patient),
            *filter(None, [describe_similar(similar, policy.settings.least_share)]),
        ]
    )
    beside_other_pages(policy)
    check(patient.warnings)
    next_step("Next: report", "views/report.py")
