"""From a trial's raw export and its table of people to prepared studies, by clicks alone."""

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, TimeoutError, expect

import smdp
from smdp.data.shaping.operation import Operation

SLOW = 90_000
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
HEARTSTEPS = Path(__file__).parents[3] / "shared" / "data" / "heartsteps"
RAW, PEOPLE = HEARTSTEPS / "raw_export.csv", HEARTSTEPS / "raw_people.csv"

NAMED = "Name of the new column"
TRAVELS = "date(local) >= date(travel.start) and date(local) <= date(travel.end)"
BACK = "not is_missing(travel.end) and date(local) > date(travel.end)"
MISTAKEN = "send = 1 and (avail = 0 or is_missing(send.active))"
#: As the analysis of the trial was published: travel left out and not counted, six weeks, no
#: suggestion that was sent where none could be or that nobody knows which it was, steps that
#: nobody counted are none.
SHAPE: tuple[Operation, ...] = (
    smdp.JoinTable("raw_people", ("user.index",)),
    smdp.ComputeColumn("local", "date_time(sugg.select.utime) + sugg.gmtoff / 86400"),
    smdp.KeepRows(f"is_missing(travel.start) or not ({TRAVELS})"),
    smdp.ComputeColumn("away", f"if({BACK}, date(travel.end) - date(travel.start) + 1, 0)"),
    smdp.ComputeColumn("day", "day_number(local) - 1 - away"),
    smdp.KeepRows("day <= 41"),
    smdp.KeepRows(f"is_missing(send) or not ({MISTAKEN})"),
    smdp.ComputeColumn("log.steps", "log(jbsteps30.zero + 0.5)"),
    smdp.ComputeColumn("log.before", "log(jbsteps30pre.zero + 0.5)"),
)
CELLS: dict[type[Operation], Callable[[Any], dict[str, str]]] = {
    smdp.ComputeColumn: lambda step: {NAMED: step.name, "Formula": step.formula},
    smdp.KeepRows: lambda step: {"Keep rows where": step.condition},
}
STATES = ("log.before", "day", "sugg.select.slot", "dec.temperature", "dec.windspeed", "age")
LEVELS = smdp.CombineColumns(
    "suggestion",
    (("send = 0", "none"), ("send.active = 1", "active"), ("send.sedentary = 1", "sedentary")),
)

pytestmark = pytest.mark.skipif(not RAW.exists(), reason="the trial's files are not here")


@dataclass
class Hand:
    """What a person does, counted: clicks, and fields that are typed into."""

    page: Page
    clicks: int = 0
    fields: int = 0
    started: float = 0.0

    @property
    def main(self):
        return self.page.get_by_test_id("stMain")

    def wait(self) -> None:
        """Until the page rests: between two runs of its script it seems to for a moment."""
        for _ in range(3):
            self.page.locator(IDLE).wait_for(timeout=SLOW)
            self.page.wait_for_timeout(120)
        self.page.locator(IDLE).wait_for(timeout=SLOW)

    def press(self, name: str, *, exact: bool = False) -> None:
        self.wait()
        self.page.get_by_role("button", name=name, exact=exact).first.click(timeout=SLOW)
        self.clicks += 1
        self.wait()

    def type(self, label: str, text: str, place: int = 0) -> None:
        self.wait()
        box = self.main.get_by_label(label, exact=True).nth(place)
        box.fill(text)
        box.press("Tab")
        self.fields += 1
        self.wait()
        expect(box).to_have_value(text, timeout=SLOW)

    def chance(self, of: str, text: str) -> None:
        self.wait()
        asked = self.page.get_by_test_id("stNumberInput").filter(has_text=f"Probability of {of}")
        asked.locator("input").fill(text)
        asked.locator("input").press("Tab")
        self.fields += 1
        self.wait()

    def choose(self, box: str, option: str) -> None:
        """Type the beginning of it, as in a long list, and take it."""
        wanted = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(5):  # what the page still draws may close the list again
            self.wait()
            field = self.page.get_by_role("combobox", name=box).first
            field.click()
            field.fill(option)
            with contextlib.suppress(TimeoutError):
                wanted.first.click(timeout=4000)
                self.clicks += 2
                self.wait()
                return
            self.page.keyboard.press("Escape")
        raise AssertionError(f"'{option}' could not be chosen")

    def give(self, file: Path, place: int) -> None:
        self.page.get_by_test_id("stFileUploaderDropzoneInput").nth(place).set_input_files(file)
        self.clicks += 1
        self.wait()

    def add_step(self, title: str, cells: dict[str, str]) -> None:
        self.press("Add a step")
        if title != "Compute a column":
            self.choose("What is to be done?", title)
        for label, text in cells.items():
            self.type(label, text)

    def previewed(self, operation: Operation) -> None:
        """What the page would do is what was filled in, to the last field."""
        preview = self.main.get_by_text("What it would do", exact=True)
        expect(preview).to_be_visible(timeout=SLOW)
        said = operation.describe().replace(">=", "≥").replace("<=", "≤")  # as pages draw them
        shown = self.main.get_by_role("listitem").filter(has_text=said)
        expect(shown.first).to_be_visible(timeout=SLOW)

    def apply(self) -> None:
        button = self.page.get_by_role("button", name="Apply")
        expect(button).to_be_enabled(timeout=SLOW)
        self.press("Apply")
        expect(button).to_have_count(0, timeout=SLOW)

    def give_role(self, pattern: str, role: str) -> None:
        """By the tool for several columns at once."""
        self.type("Pattern", pattern)
        self.choose("Role", role)
        button = self.page.get_by_role("button", name=re.compile(r"Set \d+ column"))
        expect(button).to_be_enabled(timeout=SLOW)
        button.click()
        self.clicks += 1
        self.wait()

    def told(self, what: str) -> None:
        seconds = time.perf_counter() - self.started
        told = f"{what}: {self.clicks} clicks, {self.fields} fields, {seconds:.0f} s"
        print(told)  # noqa: T201 - shown by pytest -s


def load_and_shape(hand: Hand) -> None:
    hand.give(RAW, 0)
    expect(hand.main).to_contain_text("Shape the table", timeout=SLOW)
    hand.add_step("Join another table", {})
    box = hand.page.get_by_test_id("stFileUploader").filter(has_text="to be joined")
    box.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(PEOPLE)
    hand.clicks += 1
    hand.wait()
    hand.choose("Joined by", "user.index")
    hand.page.keyboard.press("Escape")
    hand.apply()
    for operation in SHAPE[1:]:
        hand.add_step(operation.title, CELLS[type(operation)](operation))
        hand.previewed(operation)
        hand.apply()


def give_roles(hand: Hand) -> None:
    hand.type("Missing codes in all columns", "-1024, unknown")
    hand.main.get_by_text("Several columns at once").click()
    hand.main.get_by_text("By pattern").click()
    hand.clicks += 2
    hand.give_role("*", "ignore")
    for name in STATES:
        hand.give_role(name, "state")
    hand.choose("Outcome (utility, U)", "log.steps (measured after this decision)")


def randomised(hand: Hand, probabilities: dict[str, str]) -> None:
    hand.choose("How was treatment decided?", "Randomised, constant chance")
    for level, probability in probabilities.items():
        hand.chance(level, probability)


def use(hand: Hand, decisions: str) -> None:
    hand.press("Use these roles")
    expect(hand.main).to_contain_text("37 subjects", timeout=SLOW)
    hand.press("Next: missing values")
    hand.press("impute")  # in their own units there is nothing to rescale
    expect(hand.page.get_by_test_id("stSidebar")).to_contain_text(decisions, timeout=SLOW)


def plan_of(hand: Hand) -> smdp.AnalysisPlan:
    hand.page.get_by_test_id("stSidebar").get_by_role("link", name="Report").click()
    hand.wait()
    with hand.page.expect_download(timeout=SLOW) as waiting:
        hand.press("Plan (TOML)")
    return smdp.AnalysisPlan.from_toml(waiting.value.path().read_text("utf-8"))


def test_to_a_study_of_two_actions_and_one_of_three(open_page, screenshot, console_errors):
    page = open_page()
    hand = Hand(page, started=time.perf_counter())
    load_and_shape(hand)
    hand.told("shaped")
    screenshot("raw-shaped")
    give_roles(hand)
    randomised(hand, {"send = 1": "0.6"})
    screenshot("raw-roles")
    use(hand, "transitions")
    two = plan_of(hand)
    hand.told("two actions")

    hand.page.get_by_test_id("stSidebar").get_by_role("link", name="1 Data").click()
    hand.clicks += 1
    hand.add_step("Combine columns into levels", {NAMED: "suggestion"})
    for number, rule in enumerate(LEVELS.rules):
        hand.type(f"{number + 1}. Where", rule.condition)
        hand.type("Level", rule.level, place=number)
    hand.apply()
    hand.choose("Which column is the treatment?", "suggestion")
    for level in ("active", "sedentary"):
        hand.chance(level, "0.3")
    screenshot("raw-three")
    use(hand, "transitions")
    three = plan_of(hand)
    hand.told("three actions")
    assert console_errors == []
    check_plan(two, SHAPE)
    check_plan(three, (*SHAPE, LEVELS))
    check_two(smdp.run_analysis(RAW, two))
    check_three(smdp.run_analysis(RAW, three))


def check_plan(plan: smdp.AnalysisPlan, shape: Sequence[Operation]) -> None:
    """What was typed is what the plan says, before any figure is worked out."""
    said = [each.describe() for each in plan.reading.shape]
    assert len(said) == len(shape)
    assert said[1:] == [each.describe() for each in shape[1:]]  # the first is the join
    assert {variable.name for variable in plan.roles.variables} == set(STATES)


def check_two(analysis: smdp.Analysis) -> None:
    average, of_day = by_hand(analysis)
    assert average == pytest.approx(0.131, abs=0.0005)
    assert np.exp(of_day) - 1 == pytest.approx(0.66, abs=0.005)


def by_hand(analysis: smdp.Analysis) -> tuple[float, float]:
    """Centred least squares on every decision of the study: on average, and on day 0."""
    study = analysis.study
    names = [variable.name for variable in study.variables]
    choice = study.available & (study.actions >= 0) & np.isfinite(study.utilities)
    before, day = (study.values[:, :, names.index(n)][choice] for n in ("log.before", "day"))
    centred = study.actions[choice] - 0.6
    one = np.ones(len(day))
    utility = study.utilities[choice]
    simple = np.column_stack([one, before, centred])
    moderated = np.column_stack([one, before, day, centred, centred * day])
    average = np.linalg.lstsq(simple, utility, rcond=None)[0][2]
    return average, np.linalg.lstsq(moderated, utility, rcond=None)[0][3]


def check_three(analysis: smdp.Analysis) -> None:
    assert analysis.prepared.trajectories.action_labels == ("none", "active", "sedentary")
    levels = pd.Series(analysis.study.actions[analysis.study.available]).value_counts()
    assert levels[0] > levels[1] > 0
