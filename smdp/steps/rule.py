"""The step Rule card: the policy as a rule that a person can say aloud, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from smdp.blocks import Paragraph, bullets, table
from smdp.data.problem import Problem
from smdp.errors import SettingError
from smdp.progress import Progress
from smdp.steps.code import code
from smdp.steps.evaluation import also_takes, needs
from smdp.steps.step import PlanSection, ReportSection, Step, StepState
from smdp.steps.step_plans import RulePlan
from smdp.text import listing, percent, plural

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from smdp.analysis.analysis import Analysis
    from smdp.analysis.plan import AnalysisPlan
    from smdp.blocks import Block, Draw
    from smdp.evaluation.rule_settings import RuleSettings
    from smdp.evaluation.rule_value import RuleReport


def check_plan(plan: AnalysisPlan) -> None:
    if plan.rule is not None and plan.rule.policy > len(plan.policies):
        raise SettingError(
            f"The plan's 'rule' is for policy {plan.rule.policy}, but there are only "
            f"{len(plan.policies)}.",
            "Set 'policy' of 'rule' to one of them.",
        )


def run(analysis: Analysis, progress: Progress) -> RuleReport:
    from smdp.evaluation.rule_value import make_rule_card
    from smdp.policy.as_measured import as_measured

    prepared, plan = analysis.prepared, analysis.plan.rule
    assert prepared is not None
    return make_rule_card(
        prepared.trajectories,
        analysis.policies[plan.policy - 1],
        plan.settings,
        own=plan.own,
        measured=as_measured(prepared.trajectories, analysis.completed),
        evaluation=plan.evaluation,
        analyses=analysis.fold_analyses if "folds" in needs(analysis.plan) else None,
        number=plan.policy - 1,
        seed=plan.seed,
        progress=progress,
    )


def summary(result: RuleReport, analysis: Analysis) -> str:
    from smdp.words.rule_card import rule_summary

    return rule_summary(result)


def says(analysis: Analysis) -> list[str]:
    from smdp.words.rule_card import describe_rule

    assert analysis.rule is not None
    return [*describe_rule(analysis.rule, analysis.outcome_name), *beside_policies(analysis)]


def beside_policies(analysis: Analysis) -> list[str]:
    """Why numbers of the card differ from those of the policies, where both are up to date."""
    from smdp.words.rule_card import beside_the_values

    states, record = analysis.states(), analysis.records["rule"]
    fresh = all(states.get(step) == StepState.DONE for step in ("rule", "evaluation"))
    if analysis.rule is None or not fresh or record.asked.policy > len(analysis.values):
        return []
    text = beside_the_values(analysis.rule, analysis.values[record.asked.policy - 1])
    return [text] if text else []


def warns(result: RuleReport, analysis: Analysis) -> Sequence[Problem]:
    from smdp.words.rule_card import check_rule

    return check_rule(result, used_by_policy(analysis))


def used_by_policy(analysis: Analysis) -> tuple[str, ...] | None:
    """The variables that the full policy looks at, by the names under which they are asked for."""
    record = analysis.records.get("rule")
    if record is None or record.asked.policy > len(analysis.policies):
        return None
    fitted = analysis.policies[record.asked.policy - 1].feature_map
    return tuple(fitted.variable(name).belongs_to for name in fitted.variables_used)


def tables(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame]]:
    report = analysis.rule
    assert report is not None
    yield "rule-values", report.values
    yield "rule-differences", report.differences
    yield "rule-folds", report.folds
    yield "rule-depths", report.depths
    if len(report.questions):
        yield "rule-questions", report.questions
    yield "rule-asked-first", report.first
    yield "rule-own", report.own


def figures(result: RuleReport) -> Mapping[str, go.Figure]:
    from smdp.figures.rule_card import card_figure, rule_value_figure, tree_figure

    return {
        "card": card_figure(result.card),
        "tree": tree_figure(result.card),
        "value": rule_value_figure(result),
    }


def methods(analysis: Analysis, asked: RulePlan) -> str:
    own = asked.settings
    anew = "the whole analysis" if "folds" in needs(analysis.plan) else "policy"
    scores = {
        "model": "fitted values of the actions at the decisions",
        "doubly robust": "doubly robust scores of the decisions",
    }
    text = (
        f"The policy was distilled to a rule of at most {plural(own.depth, 'question')} in a row "
        f"{_among(own)} in their own units, by exhaustive search over trees for the largest sum of "
        f"{scores[own.scores]} (Athey & Wager, 2021; Sverdrup et al., 2020), at "
        "first with the full policy followed afterwards, then with the rule itself; cut points lay "
        "between observed values, at round numbers, and each end had at least "
        f"{percent(own.least_share)} of the decisions. Its value, and what it "
        "costs against the full policy, were estimated doubly robustly over "
        f"{asked.evaluation.folds} folds of subjects, with {anew} and rule found anew without each"
    )
    again = {
        "model": "with the values fitted anew",
        "doubly robust": "with the scores as they were",
    }
    if own.resamples:
        text += (
            f"; the search was repeated on {plural(own.resamples, 'bootstrap sample')} of subjects "
            f"{again[own.scores]}"
        )
    if asked.own:
        text += f". {plural(len(asked.own), 'rule')} given beforehand was judged in the same way"
    return text + "."


def _among(own: RuleSettings) -> str:
    if own.variables:
        return f"among {listing(own.variables, 8)}"
    everything = own.among == "all"
    return "among all variables" if everything else "among the variables that the policy uses"


def script(plan: AnalysisPlan) -> str:
    own = plan.rule
    folds = f"    analyses=analyses,\n    number={own.policy - 1},\n" * ("folds" in needs(plan))
    return (
        "rule = smdp.make_rule_card(\n"
        "    prepared,\n"
        f"    policies[{own.policy - 1}],\n"
        f"    {code(own.settings, 1)},\n"
        f"    own={code(own.own, 1)},\n"
        f"    evaluation={code(own.evaluation, 1)},\n"
        f"{folds}"
        f"    seed={own.seed},\n"
        ")"
    )


def rule_section(analysis: Analysis, draw: Draw) -> list[Block]:
    from smdp.figures.rule_card import card_figure, rule_value_figure, tree_figure
    from smdp.words.rule_card import (
        depth_words,
        first_words,
        question_words,
        value_words_of_rules,
    )

    report = analysis.rule
    assert report is not None
    found: list[Block] = [
        draw(
            "card",
            "The rule card",
            card_figure(report.card),
            "Each line is what has to hold, the share of the study's decisions at which it does, "
            "and what to do.",
        )
    ]
    if report.card.questions:
        found.append(draw("tree", "The rule as a tree", tree_figure(report.card)))
    first, *others = says(analysis)
    found.append(Paragraph(first, strong=True))
    found += bullets(others)
    found.append(
        draw(
            "value",
            "What the rule would earn",
            rule_value_figure(report, analysis.outcome_name),
            "Doubly robust estimates with their intervals. Dotted: what was observed.",
        )
    )
    found += table("Values of the rules", value_words_of_rules(report))
    found += table("How often each question came back", question_words(report))
    found += table("What other samples of people were asked first", first_words(report), most=8)
    found += table("How many questions", depth_words(report))
    found += table("The card without each fold of people", report.folds)
    return found


RULE = Step(
    name="rule",
    title="Rule card",
    question="Which rule that fits on a card comes close to the policy, and what does it cost?",
    sections=(PlanSection("rule", RulePlan),),
    result="smdp.evaluation.rule_value:RuleReport",
    needs=needs,
    takes={"trajectories": "rescaling", "policies": "policy", "completed study": "missing"},
    also_takes=also_takes,
    check_plan=check_plan,
    run=run,
    summary=summary,
    says=says,
    warns=warns,
    tables=tables,
    figures=figures,
    methods=methods,
    report=(ReportSection("rule", "Rule card", ("rule",), rule_section),),
    script=script,
    script_end="print(rule.card.in_words())",
    shown_with="evaluation",
    effort=40,
    of_effects=True,
)
