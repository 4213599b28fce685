"""CREMAS: diaries and prompts, and who answered them."""

from __future__ import annotations

from smdp.report.checklists import answers
from smdp.report.checklists.checklist import Checklist, Item, to_write

CHECKLIST = Checklist(
    key="cremas",
    title="CREMAS",
    about="What a report of a diary study (ecological momentary assessment) must say.",
    citation=(
        "Liao Y, Skelton K, Dunton G, Bruening M. A systematic review of methods and procedures "
        "used in ecological momentary assessments of diet and physical activity research in "
        "youth: an adapted STROBE checklist for reporting EMA studies (CREMAS). J Med Internet "
        "Res 2016;18(6):e151."
    ),
    parts=(
        ("Title", (Item("1", "Title and key words", "They name the method",
                        to_write("The title and the key words.")),)),
        ("Introduction", (Item("2", "Rationale", "Why momentary assessment",
                               to_write("Why the study used it.")),)),
        (
            "Methods",
            (
                Item("3", "Training", "How people were trained", to_write("The training.")),
                Item("4", "Technology", "Device, system, program",
                     to_write("Device, operating system and name of the program.")),
                Item("5", "Waves", "How many", to_write("The number of waves.")),
                Item("6", "Monitoring period", "Days of each wave, weekdays and weekends",
                     answers.decision_points),
                Item("7", "Prompting design", "By event, interval, or both",
                     to_write("Fixed, random or event-based prompts.")),
                Item("8", "Prompt frequency", "Intended prompts a day", answers.decision_points),
                Item("9", "Design features", "Against bias and burden",
                     to_write("Such as the order of questions.")),
            ),
        ),
        (
            "Results",
            (
                Item("10", "Attrition", "Over days and waves", answers.losses),
                Item("11", "Prompt delivery", "Planned, and received", answers.prompts),
                Item("12", "Latency", "From prompt to answer",
                     to_write("The time from prompt to answer.")),
                Item("13", "Compliance", "Share of prompts that were answered",
                     answers.compliance),
                Item("14", "Missing data", "Whether they go with people or time",
                     answers.why_missing),
            ),
        ),
        (
            "Discussion",
            (
                Item("15", "Limitations", "Of the method too", answers.limitations),
                Item("16", "Conclusions", "In the light of these", to_write("The conclusions.")),
            ),
        ),
    ),
)  # fmt: skip
