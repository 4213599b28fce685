"""The tab Rule card of the page Policy: a rule to say aloud, and rules of one's own."""

from __future__ import annotations

import streamlit as st

from dashboard import controls
from dashboard.form import Form
from dashboard.gate import changed_notice
from dashboard.page import section_now
from dashboard.policy_choice import named_policies, short_name
from dashboard.policy_widgets import of_these_policies
from dashboard.running import job_box, run_or_start
from dashboard.session import State, done, keep, kept, result, state, the_analysis
from dashboard.shape_form import formula_help
from dashboard.show import check, figure, says, table
from smdp.data.variables import Variable
from smdp.errors import SettingError
from smdp.figures.rule_card import card_figure, rule_value_figure, tree_figure
from smdp.policy.as_measured import AsMeasured, as_measured
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.own_rule import clicked_condition, own_rule_text, read_own_rule
from smdp.steps import FOLDS, POLICY, RESCALING, RULE
from smdp.steps.rule import used_by_policy
from smdp.steps.step_plans import EvaluationPlan
from smdp.words.rule_card import (
    check_rule,
    depth_words,
    first_words,
    question_words,
    value_words_of_rules,
)

WHAT_IT_IS = (
    "The rule of few questions, about variables in their own units, that comes closest to the "
    "best. It is found by looking at every such rule, by a model of what each treatment is worth, "
    "and judged by people who had no part in "
    "finding it."
)
OWN = "rule.own"
EXAMPLE = "stress < 4 and weekend = 'yes' -> message; else none"
COMPARISONS = {"<": "<", "<=": "≤", "=": "=", "!=": "≠", ">=": "≥", ">": ">"}


def rule_tab(policy: LearnedPolicy, evaluation: EvaluationPlan) -> None:
    st.caption(WHAT_IT_IS)
    prepared = result(RESCALING)
    form = Form(RULE.name, section_now(RULE))
    left, middle, right = st.columns(3, vertical_alignment="top")
    askable = [
        name
        for name, places in prepared.trajectories.wholes.items()
        if prepared.trajectories.about[places[0]].whole_kind not in ("vector", "text")
    ]
    with left:
        form.draw("depth")
    with middle:
        form.draw("among")
    with right:
        form.draw("variables", options={"variables": askable})
    form.more(skip=("seed",))
    with st.expander("My own rules", icon=":material/edit:"):
        own = _own_rules(as_measured(prepared))
    name = short_name(policy)
    place = list(named_policies()).index(name) + 1
    form.set(policy=place, own=own, evaluation=evaluation.settings, seed=evaluation.seed)
    sections = {"rule": form.value()}
    start = st.button(
        "Make the rule card",
        icon=":material/style:",
        disabled=State.RUNNING in (state(RULE), state(FOLDS)) or state(POLICY) != State.DONE,
        help="Runs in the background; you may leave the page. What it is worth is judged as the "
        "policy is, with the card found anew without each fold of people.",
    )
    if start:
        first = (FOLDS,) if evaluation.whole else ()
        run_or_start(*first, RULE, evaluation=evaluation, **sections)
    job_box(RULE)
    record = done(RULE)
    mine = record is not None and record.asked.policy == place
    if not mine or not of_these_policies(RULE):
        st.markdown(f"No card has been made of the {name} policy yet.")
        return
    changed_notice(RULE, **sections)
    _card()


def _card() -> None:
    report, outcome = result(RULE), the_analysis().outcome_name
    figure(card_figure(report.card), "rule-card")
    if report.card.questions:
        with st.expander("As a tree"):
            figure(tree_figure(report.card), "rule-tree")
    figure(rule_value_figure(report, outcome), "rule-value")
    says(RULE.says(the_analysis()), "What the card says, and what it is worth")
    check(check_rule(report, used_by_policy(the_analysis())))
    with st.expander("Tables"):
        table(value_words_of_rules(report), "rule-values", report.values)
        if len(report.questions):
            table(question_words(report), "rule-questions", report.questions)
        table(first_words(report), "rule-asked-first", report.first)
        table(depth_words(report), "rule-depths", report.depths)
        table(report.folds, "rule-folds", report.folds)


def _own_rules(measured: AsMeasured) -> tuple[str, ...]:
    """Typed, a line each, or put together by clicks; each that cannot be read says why."""
    _by_clicks(measured)
    version = kept("rule.added", 0)
    typed = controls.lines(
        "A rule on each line",
        f"{OWN} {version}",
        f"A condition, what is done where it holds, and what else, such as: {EXAMPLE}. Several "
        "conditions are separated by semicolons; the first that holds decides.",
        kept(OWN, list(section_now(RULE).own)),
    )
    keep(OWN, list(typed))
    formula_help()
    good = []
    for text in typed:
        try:
            read_own_rule(text, measured)
            good.append(text)
        except SettingError as error:
            st.error(f"{error.problem} {error.remedy}")
    return tuple(good)


def _by_clicks(measured: AsMeasured) -> None:
    """Conditions joined one after the other, then what to do."""
    about = _choosable(measured)
    labels = measured.trajectories.action_labels
    columns = st.columns((3, 1, 2), vertical_alignment="bottom")
    with columns[0]:
        name = st.selectbox("Variable", list(about), key="rule.click variable")
    variable = about[name]
    levels = _values(variable, measured)
    with columns[1]:
        signs = ["=", "!="] if levels else list(COMPARISONS)
        sign = st.selectbox(
            "is", signs, format_func=COMPARISONS.__getitem__, key=f"rule.click sign {bool(levels)}"
        )
    with columns[2]:
        value: float | str
        if levels:
            value = st.selectbox("Value", levels, key=f"rule.click level {name}")
        else:
            middle = float(variable.low or 0.0)
            value = st.number_input("Value", value=middle, key=f"rule.click value {name}")
    condition = clicked_condition(variable, sign, value)
    draft = kept("rule.draft", "")
    with st.container(horizontal=True):
        for joint in ("and", "or") if draft else ("begin",):
            words = f"{joint} {condition}" if draft else f"If {condition}"
            st.button(
                words, key=f"rule.click {joint}", on_click=_join, args=(draft, joint, condition)
            )
    if not draft:
        return
    st.markdown("If")
    st.code(draft, language=None)
    then, otherwise, add, again = st.columns((2, 2, 1, 1), vertical_alignment="bottom")
    with then:
        action = st.selectbox("then", labels, index=len(labels) - 1, key="rule.click action")
    with otherwise:
        other = st.selectbox("else", labels, key="rule.click other")
    with add:
        st.button("Add", on_click=_add, args=(own_rule_text(draft, action, other),))
    with again:
        st.button("Discard", on_click=keep, args=("rule.draft", ""))


def _choosable(measured: AsMeasured) -> dict[str, Variable]:
    found = {}
    for name, places in measured.trajectories.wholes.items():
        first = measured.trajectories.about[places[0]]
        if first.whole_kind not in ("vector", "text"):
            found[name] = first
    return found


def _values(variable: Variable, measured: AsMeasured) -> list[str]:
    """Of a variable whose values have names, these."""
    if variable.whole_kind != "nominal":
        return [name for _, name in variable.levels]
    trajectories = measured.trajectories
    parts = [trajectories.about[j].part for j in trajectories.wholes[variable.whole]]
    first = measured.first_levels.get(variable.whole, "")
    return [first, *parts] if first else parts


def _join(draft: str, joint: str, condition: str) -> None:
    keep("rule.draft", f"{draft} {joint} {condition}" if draft else condition)


def _add(text: str) -> None:
    keep(OWN, [*kept(OWN, list(section_now(RULE).own)), text])
    keep("rule.added", kept("rule.added", 0) + 1)
    keep("rule.draft", "")
