"""What to do on the pages where the library says what to write in Python."""

from __future__ import annotations

from smdp.data.problem import FIRST_OF_TWINS

#: By what a remedy concerns (`SmdpError.concerns`, `Problem.concerns`): what to click.
CLICKS = {
    "unobserved": "Keep everybody and do without the variable: press the button below. Or keep "
    "the variable and do without those who lack it: tick 'Leave out empty series'.",
    "saved analysis": "Open it on the page Start, under 'A saved analysis'.",
    "table or analysis": "Choose a file that ends in .smdp. A table goes to 'Your own file' on the "
    "page Start.",
    "quick training": "Untick 'Quick training' for figures to report.",
    "bootstraps": "Set 'Refits on resampled people' to 0 for the default, or to 50.",
    "look-back": "Press the button below: it sets the look-back on the page Data.",
    "people differ": "Take a variable into the state, on the page Data, that says how people "
    "differ (age, habits, a person's usual level). A look-back helps in part, and makes the state "
    "larger: press the button below.",
    "decision number": "Press the button below: it ticks 'Add the decision number as a state' on "
    "the page Data.",
    "person and time": "Give one column the role 'subject' and one the role 'time', in the table "
    "of columns: what came before is looked up by them.",
    "open roles": "Choose who, when, the treatment and the outcome (utility) at the top, under "
    "'What kind of study is this?', or in the table of columns.",
    "open outcome": "Choose the outcome at the top, under 'What kind of study is this?', or give a "
    "column the role 'utility' in the table of columns.",
    "doubled rows": "Choose a time that tells them apart; or, if rows were entered twice, keep the "
    f"first of each: under 'Shape the table', keep the rows where  {FIRST_OF_TWINS}",
    "known before": "Answer 'Known before the decision?' for each, below the table of columns.",
    "unit": "Bring the column to the unit of the first study in the new file, and upload it again.",
    "constant probability": "Correct it at the top, under 'What kind of study is this?'; or, if it "
    "is not known, choose 'Randomised, chances not known' there.",
    "probability": "How treatment was decided is the first question on the page Data.",
}


def what_to_do(remedy: str, concerns: str) -> str:
    """The remedy for somebody in front of a page."""
    return CLICKS.get(concerns, remedy)
