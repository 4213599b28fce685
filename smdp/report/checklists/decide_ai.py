"""DECIDE-AI: the first use of a policy with patients; most of it is about that study, not this."""

from __future__ import annotations

from smdp.report.checklists import answers
from smdp.report.checklists.checklist import Checklist, Item, to_write

CHECKLIST = Checklist(
    key="decide-ai",
    title="DECIDE-AI",
    about=(
        "What the report of a first study in which a policy helps people to decide must say. An "
        "analysis of an earlier trial answers only what is known of the policy itself."
    ),
    citation=(
        "Vasey B, Nagendran M, Campbell B, et al. Reporting guideline for the early stage clinical "
        "evaluation of decision support systems driven by artificial intelligence: DECIDE-AI. BMJ "
        "2022;377:e070904."
    ),
    parts=(
        (
            "Title and abstract",
            (
                Item("1", "Title", "Early evaluation, and of what", to_write("The title.")),
                Item("I", "Abstract", "Structured", to_write("The abstract.")),
            ),
        ),
        (
            "Introduction",
            (
                Item("2", "Intended use", "Condition, patients, users, place in care",
                     to_write("Who uses it, for whom, and where in care.")),
                Item("II", "Objectives", "Of the study", to_write("The objectives.")),
            ),
        ),
        (
            "Methods",
            (
                Item("III", "Governance", "Protocol, registration, ethics",
                     to_write("Protocol, registration and approval of the first use.")),
                Item("3", "Participants", "Patients and users, how recruited",
                     to_write("How patients and users were recruited and trained.")),
                Item("4", "The system", "Version, algorithm, data it learned from, its input "
                     "and output",
                     answers.adding("How users give its input and see its output.",
                                    answers.model)),
                Item("5", "Implementation", "Settings and workflow",
                     to_write("Where and how it was put to use.")),
                Item("IV", "Outcomes", "Of the study", to_write("The outcomes of the first use.")),
                Item("6", "Safety and errors", "How they were looked for",
                     to_write("How errors and harms were found.")),
                Item("7", "Human factors", "How they were assessed", to_write("Tools and users.")),
                Item("V", "Analysis", "Statistical methods",
                     to_write("How the first use was analysed.")),
                Item("8", "Ethics", "Such as fairness", answers.fairness),
                Item("VI", "Patients", "Their part in the study",
                     to_write("Whether patients were involved, and how.")),
            ),
        ),
        (
            "Results",
            (
                Item("9", "Participants", "Patients and users",
                     to_write("Who took part in the first use, with a table.")),
                Item("10", "Implementation", "Use and changes of the workflow",
                     to_write("How it was used.")),
                Item("VII", "Main results", "Of the study",
                     to_write("The results of the first use.")),
                Item("VIII", "Subgroups", "If looked at", to_write("Subgroups of the first use.")),
                Item("11", "Modifications", "Of the system", to_write("Changes, with reasons.")),
                Item("12", "Agreement", "Of people and system",
                     to_write("How often users followed it.")),
                Item("13", "Safety and errors", "That were seen", to_write("Errors and harms.")),
                Item("14", "Human factors", "What was found", to_write("Usability, workload.")),
            ),
        ),
        (
            "Discussion",
            (
                Item("15", "Support for the intended use", "From these results",
                     answers.what_the_trial_says),
                Item("16", "Safety and errors", "And what follows",
                     to_write("What the errors and harms that were seen mean.")),
                Item("IX", "Strengths and limitations", "Of the study", answers.limitations),
            ),
        ),
        (
            "Statements",
            (
                Item("17", "Data availability", "Data and code", answers.code),
                Item("X", "Conflicts of interest", "Of the authors", to_write("Conflicts.")),
            ),
        ),
    ),
    applies=lambda analysis: bool(analysis.policies),
)  # fmt: skip
