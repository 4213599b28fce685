"""TIDieR with its extension for just-in-time adaptive interventions."""

from __future__ import annotations

from smdp.report.checklists import answers
from smdp.report.checklists.checklist import Checklist, Item, to_write

CHECKLIST = Checklist(
    key="tidier",
    title="TIDieR, for just-in-time adaptive interventions",
    about=(
        "How an intervention is described so that others can give it. Items with a dash, and those "
        "without a number, are of the extension; where we are not sure of a number, we give the "
        "part alone."
    ),
    citation=(
        "Hoffmann TC, Glasziou PP, Boutron I, et al. Better reporting of interventions: template "
        "for intervention description and replication (TIDieR) checklist and guide. BMJ "
        "2014;348:g1687. Extension for just-in-time adaptive interventions: Br J Health Psychol "
        "2025;30(1):e12766. Components: Nahum-Shani I, Smith SN, Spring BJ, et al. Ann Behav Med "
        "2018;52(6):446-462."
    ),
    parts=(
        ("Brief name", (Item("1", "Name", "And that it adapts just in time",
                             to_write("The intervention's name and kind.")),)),
        (
            "Why",
            (
                Item("2", "Rationale", "Theory or goal", to_write("The rationale.")),
                Item("2-1", "Aims of the research", "What it is for", to_write("The aims.")),
                Item("2-2", "Design of the research", "How it was done", answers.design),
                Item("2-3", "Target behaviours", "What is to change", answers.outcome),
                Item("2-4", "Target population", "For whom",
                     answers.adding("Whom the intervention is meant for.", answers.participants)),
            ),
        ),
        (
            "What",
            (
                Item("3", "Materials", "And where they can be had", to_write("The materials.")),
                Item("4", "Procedures", "What is done", answers.treatment),
            ),
        ),
        ("Who provided", (Item("5", "Provider", "Person or computer system",
                               to_write("Who or what gave it.")),)),
        (
            "How",
            (
                Item("6", "Mode of delivery", "Such as by telephone", to_write("The mode.")),
                Item("", "Tailoring variables", "What the choice depends on", answers.tailoring),
                Item("", "Decision points", "When a choice is made", answers.decision_points),
                Item("", "Decision rules", "Which treatment in which state",
                     answers.decision_rules),
                Item("", "Intervention options", "Among what is chosen", answers.treatment),
                Item("", "Proximal outcome", "What it is to change at once", answers.outcome),
                Item("", "Distal outcome", "What it is to change in the end",
                     to_write("The long-term outcome.")),
                Item("", "Data capture and processing", "From sensor or answer to number",
                     answers.of_step("data", "methods", methods=True,
                                     missing="How the raw data became the table's columns.")),
            ),
        ),
        ("Where", (Item("7", "Place", "And what is needed there", to_write("The place.")),)),
        ("When and how much", (Item("8", "Dose", "How often, over what time", answers.dose),)),
        ("Tailoring", (Item("9", "Tailoring", "What, why, when, how",
                            answers.adding("Why it is tailored so.", answers.tailoring)),)),
        ("Modifications", (Item("10", "Changes during the study", "If there were any",
                                to_write("Changes, or that there were none.")),)),
        (
            "How well",
            (
                Item("11", "Adherence, planned", "How it was to be assessed",
                     to_write("How adherence was assessed.")),
                Item("12", "Adherence, actual", "How far it was as planned",
                     answers.adding("How far it was given and used as planned.", answers.dose)),
            ),
        ),
    ),
)  # fmt: skip
