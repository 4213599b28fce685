"""What the analysis itself answers, for several checklists; numbers are those of the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from smdp.data.compliance import describe_compliance
from smdp.data.describe import describe_completed, describe_study
from smdp.report.checklists.checklist import Answer, Answering, answered, not_done
from smdp.report.results_text import results_text
from smdp.steps import step_named
from smdp.steps.data import flow_of
from smdp.steps.policies import policy_names
from smdp.text import action_name, first_sentences, listing, moment, percent, plural

if TYPE_CHECKING:
    from smdp.analysis.analysis import Analysis

NOT_READ = "Arrange the data first (page Data)."
METHODS = 540  # letters of a methods paragraph


def with_study(tell: Callable[[Analysis], Answer]) -> Answering:
    """Only where there is a study."""
    return lambda analysis: not_done(NOT_READ) if analysis.study is None else tell(analysis)


def of_step(name: str, section: str, *, methods: bool = False, missing: str = "") -> Answering:
    """What a step says of itself, or its paragraph of the methods section."""

    def tell(analysis: Analysis) -> Answer:
        step = step_named(name)
        if name not in analysis.records or name not in analysis.results:
            return not_done(f"The step '{step.title}'.")
        record = analysis.records[name]
        how = step.methods(analysis, record.asked) if methods else ""
        if how:
            text = f"{first_sentences(how, METHODS)} All of it: in the methods section."
        else:
            text = f"{step.title}: {record.summary}."
        return answered(text, section, missing=missing)

    return tell


def adding(missing: str, answering: Answering) -> Answering:
    """The same answer where it is only a part of what an item asks for."""

    def tell(analysis: Analysis) -> Answer:
        own = answering(analysis)
        if not own.text:
            return own
        owed = " ".join(filter(None, (missing, own.missing)))
        return answered(own.text, own.section, missing=owed)

    return tell


@with_study
def flow(analysis: Analysis) -> Answer:
    """How many people and decisions were read, left out, treated and analysed."""
    found = flow_of(analysis)
    text = f"Read: {found.people:,} people, {found.decisions:,} decisions. "
    if found.left_out:
        why = ", ".join(f"{count:,}: {cause}" for cause, count in found.left_out)
        text += f"Left out: {found.people_left_out:,} ({why}). "
    text += f"Kept: {found.kept_people:,} people, {found.kept_decisions:,} decisions"
    treated = ", ".join(
        f"{action_name(each.action)}: {each.decisions:,}" for each in found.treated[:12]
    )
    text += f"; with a choice and a known treatment {found.with_choice:,} ({treated})."
    if found.analysed is not None:
        text += f" Analysed: {found.analysed:,} transitions of {found.analysed_people:,} people."
    missing = "How many were screened, invited and enrolled, and why others were not."
    return answered(text, "study", missing=missing)


@with_study
def analysed(analysis: Analysis) -> Answer:
    """Effects and policy are of different decisions, and say so."""
    found, parts = flow_of(analysis), []
    if analysis.trial is not None:
        parts.append(
            f"Effects: {analysis.trial.decisions:,} decisions of {analysis.trial.subjects:,} "
            "people, those with a choice, a known treatment and an outcome."
        )
    if found.analysed is not None:
        parts.append(
            f"Screening, features and policy: {found.analysed:,} transitions of "
            f"{found.analysed_people:,} people, those with an outcome and a next row."
        )
    if not parts:
        return not_done("The step 'Rescaling'.")
    parts.append("Each decision counts under the treatment that was recorded for it.")
    return answered(" ".join(parts), "study")


@with_study
def dose(analysis: Analysis) -> Answer:
    """How often each treatment was given, to whom there was a choice."""
    found = flow_of(analysis)
    given = ", ".join(
        f"{action_name(each.action)}: {each.decisions:,} "
        f"({each.decisions / max(found.kept_people, 1):.1f} a person)"
        for each in found.treated[:12]
    )
    text = f"At decisions with a choice and a known treatment, {given}."
    return answered(text, "study", missing="How often, over what time, was planned.")


@with_study
def losses(analysis: Analysis) -> Answer:
    found = flow_of(analysis)
    why = ", ".join(f"{count:,}: {cause}" for cause, count in found.left_out) or "nobody"
    text = (
        f"Left out of the analysis: {why}. Of {found.kept_decisions:,} decisions of those kept, "
        f"{found.without_row:,} have no row, at {found.without_choice:,} nothing could be chosen, "
        f"and at {found.unknown_action:,} the treatment is not known."
    )
    return answered(text, "study", missing="Why people left the study.")


@with_study
def participants(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    text = f"{describe_study(analysis.study)[0]} The table of participants and variables has all."
    missing = "Characteristics of the people that are not in the table."
    return answered(text, "study", missing=missing)


@with_study
def compliance(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    missing = "Which of these rows are answers to a prompt."
    return answered(describe_compliance(analysis.study), "study", missing=missing)


@with_study
def treatment(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    missing = "What the treatment consists of, in enough detail to be done again."
    return answered(describe_study(analysis.study)[2], "study", missing=missing)


@with_study
def outcome(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    missing = "Why this outcome, how it is measured, and which outcomes were planned."
    return answered(describe_study(analysis.study)[4], "study", missing=missing)


@with_study
def predictors(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    names = dict.fromkeys(v.belongs_to for v in analysis.study.variables)
    text = f"{describe_study(analysis.study)[3]} They are: {listing(names, 40)}."
    return answered(text, "study", missing="How and when each is measured.")


@with_study
def prompts(analysis: Analysis) -> Answer:
    text = f"{flow_of(analysis).decisions:,} decisions lie on the grid of the people in the table."
    missing = "How many prompts were delivered, and why others were not."
    return answered(text, "study", missing=missing)


@with_study
def decision_points(analysis: Analysis) -> Answer:
    assert analysis.study is not None
    found = analysis.study
    text = " ".join(found.notes)
    lengths = found.lengths
    text += f" {int(lengths.min())} to {int(lengths.max())} decisions a person."
    return answered(text.strip(), "study", missing="How many a day, and at which times.")


def _at_each(analysis: Analysis) -> str:
    """Where something could be chosen, if that was not so throughout."""
    each = "at each decision"
    return each if analysis.plan.roles.available is None else f"{each} that had a choice"


def _chances(probability: str | float | Mapping[str, str | float]) -> str:
    given = probability.values() if isinstance(probability, Mapping) else [probability]
    columns = [each for each in given if isinstance(each, str)]
    if columns:
        word = "column" if len(columns) == 1 else "columns"
        return f"with the probabilities in the {word} {listing(map(repr, columns), 12)}"
    return "with constant, known probabilities"


def randomisation(analysis: Analysis) -> Answer:
    """Only what was said of the chances; how the sequence came to be nobody told the program."""
    roles = analysis.plan.roles
    if roles.assignment == "observed":
        return answered("Treatment was observed, not randomised.", "methods")
    missing = "Who made the random sequence, by which program, and any restriction."
    if roles.probability is not None:
        how = _chances(roles.probability)
        text = f"Randomised {_at_each(analysis)} {how}."
        return answered(text, "methods", missing=missing)
    said = "Randomised, by the author's account; probabilities were estimated."
    return answered(said if roles.randomised else "", "methods", missing=missing)


def design(analysis: Analysis) -> Answer:
    roles = analysis.plan.roles
    if roles.assignment == "observed":
        return answered("Observational, with repeated decisions.", "methods")
    missing = "The kind of trial in the terms of its protocol, and its framework."
    if analysis.study is None:
        return answered("", missing=missing)
    text = "Repeated decisions of the same people"
    if roles.randomised:
        text += f", treatment randomised {_at_each(analysis)}"
    return answered(f"{text}.", "methods", missing=missing)


def missing_data(analysis: Analysis) -> Answer:
    if analysis.completed is None:
        return not_done("The step 'Missing values'.")
    return answered(" ".join(describe_completed(analysis.completed)[1:2]), "missing")


@with_study
def why_missing(analysis: Analysis) -> Answer:
    """Whether gaps go with what was measured: only where that was tested."""
    from smdp.words.passport import evidence

    found = analysis.passport
    told = [] if found is None else [row for row in found.rows if row.thing == "missingness"]
    missing = "Whether missing reports go with kinds of people or with time."
    if told and told[0].verdict != "not checked":
        return answered(evidence(told[0], analysis.outcome_name), "passport", missing=missing)
    share = missing_data(analysis)
    if not share.text:
        return share
    return answered(share.text, share.section, missing=missing)


def estimation(analysis: Analysis) -> Answer:
    """Effects and values with their intervals, in the sentences for a paper."""
    found = results_text(analysis)
    if not found:
        return not_done("The steps 'Effects' and 'Value of the policy'.")
    return answered(" ".join(found), "effects" if analysis.trial is not None else "policy")


def performance(analysis: Analysis) -> Answer:
    from smdp.words.apa import apa_value

    names = policy_names(analysis.policies)
    if not analysis.values or len(analysis.values) != len(names):
        return not_done("The step 'Value of the policy'.")
    pairs = zip(names, analysis.values, strict=True)
    told = (next(iter(apa_value(v, name, analysis.outcome_name))) for name, v in pairs)
    return answered(" ".join(told), "policy")


def subgroups(analysis: Analysis) -> Answer:
    trial = analysis.trial
    if trial is None or trial.by_variable is None:
        return not_done("The step 'Effects', which looks at each variable as a moderator.")
    count = trial.by_variable["variable"].nunique()
    text = (
        f"The effect by one variable at a time was looked at for {count} variables, with p-values "
        "for the family of all (Holm)."
    )
    missing = "Which of these analyses were planned, and which were not."
    return answered(text, "effects", missing=missing)


def model(analysis: Analysis) -> Answer:
    fitted = analysis.feature_map
    if fitted is None:
        return not_done("The step 'Feature dimension'.")
    text = (
        f"{plural(fitted.dimension, 'feature')} made of {listing(fitted.variables_used, 20)}; the "
        "table of weights has every number."
    )
    if analysis.policies:
        text += f" Policies: {listing(policy_names(analysis.policies))}. "
        text += "The file policy.json has all parameters, with a program that reads it."
    return answered(text, "weights")


def tailoring(analysis: Analysis) -> Answer:
    """By the policy that was learned; in the study itself the choice depended on no state."""
    fitted = analysis.feature_map
    if not analysis.policies or fitted is None:
        return not_done("The step 'Q-functions': without a policy nothing is tailored.")
    text = (
        f"The learned policy chooses by {listing(fitted.variables_used, 20)}, in "
        f"{plural(fitted.dimension, 'feature')}. In the study itself "
    )
    roles = analysis.plan.roles
    chance = "chance decided." if roles.randomised else "the program does not know what decided."
    return answered(text + chance, "weights")


def decision_rules(analysis: Analysis) -> Answer:
    """The card where there is one, and what the full policy does."""
    if not analysis.policies:
        return not_done("The step 'Q-functions'.")
    names = listing(policy_names(analysis.policies))
    text = (
        f"Learned policies: {names}. Of the treatments that can be given, the one with the largest "
        "Q-value is recommended, none where its margin is not clear. "
    )
    if analysis.rule is None:
        return answered(text.strip(), "q_functions")
    return answered(f"{text}As a card: {analysis.rule.card.in_words()}.", "rule")


def output(analysis: Analysis) -> Answer:
    """What a policy gives, and when it gives nothing."""
    if not analysis.policies:
        return not_done("The step 'Q-functions'.")
    own = analysis.policies[0].settings
    text = (
        "For each treatment the mean discounted utility that is expected of it; recommended is the "
        "largest. Nothing is recommended where its margin over the next is not above 0 at a "
        f"one-sided level of {own.abstain_level:g}"
    )
    if own.least_share > 0:
        text += (
            f", or where fewer than {percent(own.least_share)} of the {own.neighbours} nearest "
            "decisions of the study had one of the treatments"
        )
    return answered(f"{text}.", "methods")


def judged_on(analysis: Analysis) -> Answer:
    """Whether others than those it was learned from have judged the policy."""
    if not analysis.values:
        return not_done("The step 'Value of the policy'.")
    first = analysis.values[0]
    text = "Learned and judged in the same study"
    if first.whole_analysis:
        text += ": the whole analysis was done anew without each fold of people, who judged it."
    elif first.cross_fitted:
        text += (
            ": nobody judged what was learned from her own data, but variables and number of "
            "features were chosen with everybody."
        )
    else:
        text += ", by the same people."
    found = analysis.new_data
    if found is None:
        return answered(text, "policy", missing="How other people and settings would differ.")
    text += f" New data: {analysis.records['new_data'].summary}."
    return answered(text, "new_data", missing="How their setting differed.")


def updating(analysis: Analysis) -> Answer:
    """Whether the analysis was refitted with more data."""
    if not analysis.policies:
        return not_done("The step 'Q-functions'.")
    count = len(analysis.versions)
    if not count:
        return answered("It was not refitted with more data.")
    text = f"It was refitted with more data; {plural(count, 'version')} came before this one."
    return answered(text, missing="What changed by it.")


def fairness(analysis: Analysis) -> Answer:
    """Subgroups were looked at; whether that is fair, only its authors can say."""
    missing = "Which groups were looked at for fairness, why these, and what was done."
    if not analysis.values or analysis.values[0].judged is None or analysis.feature_map is None:
        return answered("", missing=missing)
    used = listing(dict.fromkeys(
        analysis.feature_map.variable(name).belongs_to
        for name in analysis.feature_map.variables_used
    ), 12)  # fmt: skip
    text = f"The policy's gain was estimated in groups of people by the values of {used}."
    return answered(text, "policy", missing=missing)


def what_the_trial_says(analysis: Analysis) -> Answer:
    """Of a later use of the policy an earlier trial says only what it would be worth."""
    found = performance(analysis)
    if not found.text:
        return found
    missing = "What the first use itself says; this is an estimate from an earlier trial."
    return answered(f"Before the first use: {found.text}", found.section, missing=missing)


def positivity(analysis: Analysis) -> Answer:
    if not analysis.values:
        return not_done("The step 'Value of the policy'.")
    least = float(analysis.values[0].positivity["smallest"].min())
    text = f"The smallest probability of a treatment was {percent(least, 1)}."
    return answered(text, "policy", missing="Whether rare treatments were dealt with, and how.")


def missing_in_use(analysis: Analysis) -> Answer:
    """What the device file does where a value is missing."""
    text = (
        "A missing value is filled in from the person's own reports as in the study, without any "
        "by the study's median; where nothing was ever reported there is no recommendation. The "
        "file policy.json has the rule."
    )
    return answered(text, missing="What people do where there is no recommendation.")


def limitations(analysis: Analysis) -> Answer:
    grave = [p for p in dict.fromkeys(analysis.warnings) if p.severity != "note"]
    text = " ".join(problem.message for problem in grave[:3])
    if len(grave) > 3:
        text += f" And {len(grave) - 3} more, in the report."
    missing = "Bias, imprecision, multiplicity, and to whom the results apply."
    return answered(text, "warnings", missing=missing)


def code(analysis: Analysis) -> Answer:
    versions = [r.versions.get("smdp", "") for r in analysis.records.values() if r.versions]
    if not versions:
        return not_done("No step was done.")
    text = (
        f"smdp {versions[-1]}; the plan, every setting, seed and version, and the SHA-256 of the "
        "table are in the appendix; the same plan on the same table gives the same numbers."
    )
    return answered(text, "appendix", missing="Where plan, script and data can be had.")


def deviations(analysis: Analysis) -> Answer:
    """From a plan that was locked before outcomes were seen."""
    missing = "Changes of the protocol, with reasons."
    locked = analysis.locked
    if locked is None:
        return answered("", missing=f"{missing} No plan was locked.")
    found = analysis.deviations
    text = f"A plan was locked on {moment(locked.date)}; the analysis departs from it in "
    text += f"{plural(len(found), 'point')}, listed in the report." if found else "nothing."
    return answered(text, "deviations", missing=missing)


def registered(analysis: Analysis) -> Answer:
    if analysis.locked is None:
        return answered("", missing="Registry, number, address and date.")
    text = (
        f"The plan of the analysis was locked on {moment(analysis.locked.date)} "
        f"(SHA-256 {analysis.locked.fingerprint[:16]}…)."
    )
    return answered(text, "deviations", missing="Registry, number, address and date.")


def sample_size(analysis: Analysis) -> Answer:
    return answered("", missing="How the number of people and decisions was decided on.")
