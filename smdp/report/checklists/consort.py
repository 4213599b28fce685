"""CONSORT 2025, the items that apply to trials with repeated randomisation."""

from __future__ import annotations

from smdp.report.checklists import answers
from smdp.report.checklists.checklist import Checklist, Item, to_write

CHECKLIST = Checklist(
    key="consort",
    title="CONSORT 2025",
    about="What a report of a randomised trial must say.",
    citation=(
        "Hopewell S, Chan AW, Collins GS, et al. CONSORT 2025 statement: updated guideline for "
        "reporting randomised trials. BMJ 2025;389:e081123."
    ),
    parts=(
        (
            "Title and abstract",
            (
                Item("1a", "Title", "The title says that it is a randomised trial",
                     to_write("The title.")),
                Item("1b", "Abstract", "A structured summary of design, methods and results",
                     to_write("The abstract.")),
            ),
        ),
        (
            "Open science",
            (
                Item("2", "Registration", "Registry, number, date", answers.registered),
                Item("3", "Protocol and analysis plan", "Where they can be found",
                     to_write("Where the protocol and the plan can be found.")),
                Item("4", "Data sharing", "Where data and code can be found", answers.code),
                Item("5a", "Funding", "Who paid, and what part they had", to_write("Funding.")),
                Item("5b", "Conflicts of interest", "Of the authors", to_write("Conflicts.")),
            ),
        ),
        (
            "Introduction",
            (
                Item("6", "Background", "Why the trial was done", to_write("The background.")),
                Item("7", "Objectives", "What was asked, on benefits and harms",
                     to_write("The objectives.")),
            ),
        ),
        (
            "Methods",
            (
                Item("8", "Patients and public", "Their part in the trial",
                     to_write("Who was involved, and how.")),
                Item("9", "Design", "Kind of trial, allocation, framework", answers.design),
                Item("10", "Changes to the protocol", "Also analyses that were not planned",
                     answers.deviations),
                Item("11", "Setting", "Where it was done", to_write("Settings and places.")),
                Item("12a", "Eligibility", "Who could take part", to_write("The criteria.")),
                Item("12b", "Eligibility of sites and providers", "If it applies",
                     to_write("Criteria for sites and providers, if there were any.")),
                Item("13", "Intervention and comparator", "So that others can do it",
                     answers.treatment),
                Item("14", "Outcomes", "What was measured, when, and how it is summarised",
                     answers.outcome),
                Item("15", "Harms", "How they were defined and looked for",
                     to_write("How harms were defined and assessed.")),
                Item("16a", "Sample size", "How it was decided on", answers.sample_size),
                Item("16b", "Interim analyses", "And rules for stopping",
                     to_write("Interim analyses, or that there were none.")),
                Item("17a", "Random sequence", "Who made it, and how", answers.randomisation),
                Item("17b", "Kind of randomisation", "And its restrictions", answers.randomisation),
                Item("18", "Concealment", "How the next allocation was kept secret",
                     to_write("Who could know the next allocation.")),
                Item("19", "Implementation", "Who could see the sequence",
                     to_write("Whether those who enrolled people could see it.")),
                Item("20a", "Blinding", "Who did not know the allocation",
                     to_write("Who was blinded.")),
                Item("20b", "How blinding was done", "If it was", to_write("How, if at all.")),
                Item("21a", "Statistical methods", "How treatments were compared",
                     answers.of_step("trial", "methods", methods=True)),
                Item("21b", "Who is in each analysis", "And in which group", answers.analysed),
                Item("21c", "Missing data", "How they were handled", answers.of_step(
                     "missing", "methods", methods=True)),
                Item("21d", "Further analyses", "Planned ones apart from others",
                     answers.subgroups),
            ),
        ),
        (
            "Results",
            (
                Item("22a", "Flow", "Numbers allocated, treated, analysed", answers.flow),
                Item("22b", "Losses", "And exclusions, with reasons", answers.losses),
                Item("23a", "Dates", "Of recruitment and follow-up", to_write("The dates.")),
                Item("23b", "Why it ended", "Or was stopped", to_write("Why the trial ended.")),
                Item("24a", "As it was given", "Interventions, adherence", answers.treatment),
                Item("24b", "Other care", "During the trial", to_write("Concomitant care.")),
                Item("25", "Baseline", "A table of the participants", answers.participants),
                Item("26", "Numbers, outcomes, estimates",
                     "Effects with their precision, and of how many people", answers.estimation),
                Item("27", "Harms", "All of them", to_write("All harms, also that none was seen.")),
                Item("28", "Further analyses", "Subgroups, sensitivity", answers.subgroups),
            ),
        ),
        (
            "Discussion",
            (
                Item("29", "Interpretation", "In line with the results",
                     to_write("The interpretation.")),
                Item("30", "Limitations", "Bias, imprecision, generalisability",
                     answers.limitations),
            ),
        ),
    ),
    applies=lambda analysis: analysis.plan.roles.assignment != "observed",
)  # fmt: skip
