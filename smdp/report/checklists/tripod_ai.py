"""TRIPOD+AI: a model that is learned from data, here of what each treatment is worth."""

from __future__ import annotations

from smdp.report.checklists import answers
from smdp.report.checklists.checklist import Checklist, Item, to_write

CHECKLIST = Checklist(
    key="tripod-ai",
    title="TRIPOD+AI",
    about=(
        "What a report of a prediction model must say. The model here is a policy: what each "
        "treatment is expected to be worth in a state."
    ),
    citation=(
        "Collins GS, Moons KGM, Dhiman P, et al. TRIPOD+AI statement: updated guidance for "
        "reporting clinical prediction models that use regression or machine learning methods. "
        "BMJ 2024;385:e078378."
    ),
    parts=(
        ("Title", (Item("1", "Title", "Model, population, outcome", to_write("The title.")),)),
        ("Abstract", (Item("2", "Abstract", "Structured", to_write("The abstract.")),)),
        (
            "Introduction",
            (
                Item("3a", "Context", "Why the model", to_write("The context.")),
                Item("3b", "Purpose", "Target population, users, place in care",
                     to_write("Who is to use it, for whom, where in care.")),
                Item("3c", "Inequalities", "Known ones between groups",
                     to_write("Known inequalities.")),
                Item("4", "Objectives", "Development, evaluation, or both",
                     to_write("The objectives.")),
            ),
        ),
        (
            "Methods",
            (
                Item("5a", "Sources of data", "For learning and for judging",
                     answers.of_step("data", "methods", methods=True,
                                     missing="Where the data come from.")),
                Item("5b", "Dates", "Of data collection", to_write("The dates.")),
                Item("6a", "Setting", "Where", to_write("The setting.")),
                Item("6b", "Eligibility", "Who could be in it", to_write("The criteria.")),
                Item("6c", "Treatments", "That people received", answers.treatment),
                Item("7", "Preparation of the data", "And its quality",
                     answers.of_step("missing", "methods", methods=True)),
                Item("8a", "Outcome", "What, when, why", answers.outcome),
                Item("8b", "Outcome assessed by people", "Their qualification",
                     to_write("If people judged the outcome: who.")),
                Item("8c", "Blinding", "Of the outcome's assessment",
                     to_write("Whether those who assessed it were blinded.")),
                Item("9a", "Predictors, choice", "How they were chosen",
                     answers.of_step("screening", "methods", methods=True,
                                     missing="Why these were the candidates.")),
                Item("9b", "Predictors, measurement", "What, how, when", answers.predictors),
                Item("9c", "Predictors assessed by people", "Their qualification",
                     to_write("If people judged predictors: who.")),
                Item("10", "Sample size", "How it was decided on", answers.sample_size),
                Item("11", "Missing data", "How they were handled",
                     answers.of_step("missing", "methods", methods=True)),
                Item("12a", "Use of the data", "What for learning, what for judging",
                     answers.of_step("evaluation", "methods", methods=True)),
                Item("12b", "Handling of predictors", "Scale, form",
                     answers.of_step("rescaling", "methods", methods=True)),
                Item("12c", "Kind of model, building, tuning", "And its internal validation",
                     answers.of_step("features", "methods", methods=True)),
                Item("12d", "Clusters", "Differences between them",
                     to_write("Differences between sites, if there are several.")),
                Item("12e", "Measures of performance", "And why these",
                     answers.of_step("evaluation", "methods", methods=True)),
                Item("12f", "Updating", "After judging", answers.updating),
                Item("12g", "How predictions are computed", "For judging",
                     answers.of_step("policy", "methods", methods=True)),
                Item("13", "Class imbalance", "If it was dealt with",
                     answers.positivity),
                Item("14", "Fairness", "What was done for it", answers.fairness),
                Item("15", "Output of the model", "And thresholds", answers.output),
                Item("16", "Learning and judging", "Differences between the data",
                     answers.judged_on),
                Item("17", "Ethics", "Approval and consent", to_write("The approval.")),
            ),
        ),
        (
            "Open science",
            (
                Item("18a", "Funding", "And the funders' part", to_write("Funding.")),
                Item("18b", "Conflicts of interest", "Of the authors", to_write("Conflicts.")),
                Item("18c", "Protocol", "Where", to_write("Where it can be found.")),
                Item("18d", "Registration", "Number", answers.registered),
                Item("18e", "Data", "Where", to_write("Where data can be had.")),
                Item("18f", "Code", "Where", answers.code),
            ),
        ),
        ("Patient and public involvement", (
            Item("19", "Involvement", "Of patients and public", to_write("Who, and how.")),)),
        (
            "Results",
            (
                Item("20a", "Flow", "Of participants", answers.flow),
                Item("20b", "Characteristics", "Of participants, missing data",
                     answers.participants),
                Item("20c", "Compared with learning", "Where others were judged",
                     answers.judged_on),
                Item("21", "Development", "Numbers in each analysis", answers.flow),
                Item("22", "The model in full", "So that it can be used", answers.model),
                Item("23a", "Performance", "With intervals", answers.performance),
                Item("23b", "Performance by cluster", "If looked at",
                     to_write("By site, if there are several.")),
                Item("24", "Updating", "Its results", answers.updating),
            ),
        ),
        (
            "Discussion",
            (
                Item("25", "Interpretation", "With fairness", to_write("The interpretation.")),
                Item("26", "Limitations", "And their effects", answers.limitations),
                Item("27a", "Poor or missing input", "In use", answers.missing_in_use),
                Item("27b", "Use", "Whether users need expertise",
                     to_write("What users must know.")),
                Item("27c", "Next steps", "For research", to_write("Next steps.")),
            ),
        ),
    ),
    applies=lambda analysis: bool(analysis.policies),
)  # fmt: skip
