"""The page Can this be trusted? A row for each thing, whichever steps were run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from waiting import finish

from dashboard.session import Key
from smdp.validation.passport_rows import THINGS
from smdp.words.passport import CLAIMS

pytestmark = pytest.mark.usefixtures("in_this_process")


def study() -> bytes:
    random = np.random.default_rng(4)
    rows = []
    for i in range(12):
        mood = random.normal()
        for t in range(20):
            sent = int(random.random() < 0.5)
            steps = 50 + 7 * mood + 3 * sent + random.normal(0, 10)
            rows.append((f"P{i:02d}", t + 1, round(mood, 3), sent, round(steps, 2)))
            mood = 0.6 * mood + random.normal(0, 0.8)
    return pd.DataFrame(rows, columns=["person", "day", "mood", "sent", "steps"]).to_csv().encode()


def prepared(app):
    app.upload("study.csv", study())
    app.set_role("steps", role="utility")
    app.set_role("sent", role="action")
    app.press("Use these roles").go("passport")
    app.at.number_input(key="passport.studies").set_value(0)
    return app.run()


def test_a_row_for_each_thing_without_any_other_step(app):
    prepared(app)
    assert "There is no overall score" in app.text
    finish(app.press("Look at what it rests on"))
    for thing in THINGS:
        assert CLAIMS[thing] in app.text
    assert "Not checked" in app.text
    assert "not simulated" in app.text
    assert "not checked" in app.at.session_state[Key.ANALYSIS].records["passport"].summary


def test_what_is_run_later_makes_it_out_of_date(app):
    prepared(app)
    finish(app.press("Look at what it rests on")).go("markov_check")
    app.at.number_input(key="markov.most").set_value(1)
    app.at.number_input(key="markov.draws").set_value(99)
    finish(app.run().press("Test look-backs 0 to 1")).go("passport")
    assert "out of date" in app.text
    finish(app.press("Look at what it rests on"))
    assert "out of date" not in app.text
    assert "once the present is known" in app.text or "is needed as well" in app.text
