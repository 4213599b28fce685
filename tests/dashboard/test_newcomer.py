"""What helps somebody who sees the pages for the first time: guided example and glossary."""

import re

from streamlit.testing.v1 import AppTest

from dashboard.glossary import explained
from dashboard.guide import STEPS
from dashboard.literal_text import literal
from dashboard.navigation import PATIENT, REPORT, page_steps
from smdp.steps import NEW_DATA
from smdp.words.glossary import TERMS, matching


def test_the_guided_example_leads_through_every_page(app):
    app.press("Guided example")
    assert app.title == "Data"
    assert "Guided example, 1 of 14." in app.text
    own = [step.page for step in page_steps() if step != NEW_DATA]
    before, after = ([p for p in own if p.after_patient == late] for late in (False, True))
    assert list(STEPS) == [page.title for page in (*before, PATIENT, *after, REPORT)]
    app.press("Use these roles").go("missing_values")
    assert "Guided example, 2 of 14." in app.text
    assert any(b.label == "Leave out 2 and impute" for b in app.at.button)
    app.press("End it")
    assert "Guided example" not in app.text
    assert "2 of 30 subjects would be left out" in app.text


def test_the_guide_is_not_there_unasked(app):
    app.press("Smoking in students")
    assert "Guided example" not in app.text


def test_what_the_guide_says_to_press_is_there(app):
    app.press("Guided example")
    for view in ("data", "missing_values", "rescaling", "screening"):
        app.go(view)
        wanted = re.search(r"[Pp]ress \*\*(.+?)\*\*", STEPS[app.title][0])[1]
        assert any(button.label.startswith(wanted) for button in app.at.button)
        if view != "screening":
            app.press(wanted)


def test_the_glossary_lists_and_finds(app):
    app.go("glossary")
    assert all(term.meaning in app.text for term in TERMS)
    app.at.text_input(key="glossary.words").set_value("shuffled treatments")
    app.run()
    assert "placebo check" in app.text
    assert "distance covariance" not in app.text
    app.at.text_input(key="glossary.words").set_value("<b>nonsense")
    app.run()
    assert "Nothing here speaks of “<b>nonsense”" in app.text


def test_terms_are_unique_and_short():
    names = [form for term in TERMS for form in (term.name, *term.forms)]
    assert len(names) == len(set(names))
    assert all(len(term.meaning) < 260 and term.meaning[-1] in ".?" for term in TERMS)
    assert [term.name for term in matching("gamma")] == ["discount"]


def test_first_use_of_a_term_is_marked_and_nothing_else_is_html():
    first, second = explained(
        [literal("p-value <script> of the permutation test"), literal("another p-value")]
    )
    assert first.count("<abbr") == 2
    assert 'tabindex="0">p\\-value</abbr>' in first
    assert "\\<script\\>" in first
    assert "<abbr" not in second
    assert explained([literal("pre-p-values-x, sapling's utilityx")])[0].count("<abbr") == 0


def test_marks_show_as_words():
    def page() -> None:
        from dashboard.show import says

        says(["The p-value of a&b <b>x</b> is small."])

    shown = AppTest.from_function(page).run().markdown[-1].value
    assert "<b>" not in shown
    assert "<abbr" in shown


CONTROLS = ("selectbox", "multiselect", "number_input", "slider", "checkbox", "radio")
CONTROLS += ("text_input", "text_area", "toggle")
VIEWS = ("data", "missing_values", "rescaling", "screening", "feature_dimension", "weights")
VIEWS += ("markov_check", "q_functions", "policy", "patient", "report", "simulation")


def test_every_control_is_explained(app):
    app.press("Guided example")
    unexplained = []
    for view in VIEWS:
        app.go(view)
        controls = [each for kind in CONTROLS for each in getattr(app.at, kind)]
        assert controls
        unexplained += [(view, each.label) for each in controls if not each.help]
        wanted = re.search(r"[Pp]ress \*\*(.+?)\*\*", STEPS.get(app.title, ("",))[0])
        if wanted and view in ("data", "missing_values", "rescaling"):
            app.press(wanted[1])
    assert unexplained == []
