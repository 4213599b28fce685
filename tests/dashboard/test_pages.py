"""Each page: what it shows, what it teaches when it is empty, what changes make out of date."""

import pytest

from smdp.simulation.samples import sample_file


def test_start_says_what_this_is_and_offers_three_ways_in(app):
    assert "policy you can read" in app.title
    assert "no data leaves it" in app.text
    labels = [box.label for box in app.at.file_uploader]
    assert labels == ["CSV, Excel, SPSS, Stata, SAS or Parquet", "A file of this program (.smdp)"]
    assert sum("synthetic" in b.label for b in app.at.button) == 2
    assert app.sidebar[0] == "load a file first"


@pytest.mark.parametrize("view", ["missing_values", "rescaling"])
def test_empty_pages_teach(app, view):
    app.go(view)
    assert "No file is loaded yet" in app.text
    assert not app.at.error


def test_a_page_too_early_leads_to_the_step_that_is_open(sample):
    sample.go("policy")
    assert "works on the result of **Data**" in sample.text


def test_data_without_a_file_offers_one(app):
    app.go("data")
    assert "No file is loaded yet" in app.text
    assert len(app.at.file_uploader) == 1


def test_sample_leads_to_its_roles(sample):
    assert sample.title == "Data"
    table = sample.at.data_editor[0].value.set_index("column")
    assert table.loc["student", "role"] == "subject"
    assert table.loc["module", "role"] == "action"
    assert (table["role"] == "state").sum() == 15
    sample.press("Use these roles")
    assert "30 subjects with 28 decisions each" in sample.text
    assert sample.sidebar[0] == "30 subjects, 15 state variables"


def look(page, tab):
    """Go to this tab below the figure of the decisions."""
    page.at.session_state["look"] = tab
    return page.run()


def test_look_before_you_analyse(sample):
    sample.press("Use these roles")
    participants = sample.at.dataframe[-1].value.set_index("Variable")
    assert participants.loc["female: 1", "Mean (SD), or n (%)"] == "16 (53 %)"
    assert participants.loc["stress", "ICC"] == "0.27"
    assert "ICC: intraclass correlation" in sample.text
    box = look(sample, "Over time").at.selectbox(key="look.variable")
    assert box.value == "minus next cigs (outcome)"
    assert len(box.options) == 17
    box.select("age")
    assert "same at every decision of a person" in sample.run().text
    assert "not the effect of treatment" in look(sample, "By treatment").text
    assert "an observed outcome at 85 %" in look(sample, "Compliance").text
    assert not sample.at.exception


def test_a_probability_is_asked_for_by_the_name_of_the_action(sample):
    asked = [box.label for box in sample.at.number_input if box.label.startswith("Probability")]
    assert asked == [r"Probability of module \= 1"]
    next(box for box in sample.at.text_input if box.label.endswith("= 1")).set_value("a message")
    sample.run()
    asked = [box.label for box in sample.at.number_input if box.label.startswith("Probability")]
    assert asked == ["Probability of a message"]


def test_whole_way(sample):
    sample.press("Use these roles").press("Next: missing values")
    assert "2 of 30 subjects would be left out" in sample.text
    sample.press("Leave out 2 and impute")
    assert "28 of 30 subjects are kept; left out: S07, S11." in sample.text
    sample.press("Next: rescaling").press("Rescale all variables")
    assert "among the 18 levels of 'cigs'" in sample.text
    assert sample.sidebar[:4] == [
        "30 subjects, 15 state variables",
        "28 of 30 subjects kept",
        "756 transitions, 18 levels",
        "can be skipped",
    ]


def test_a_change_marks_what_follows_and_changing_back_restores_it(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables")
    sample.go("missing_values")
    sample.at.slider(key="missing.exclude_above").set_value(90)
    sample.run()
    assert sample.sidebar[2] == "756 transitions, 18 levels"  # nothing happens by itself
    sample.press("Impute")
    assert sample.sidebar[1] == "30 of 30 subjects kept"
    assert sample.sidebar[2] == "out of date"
    sample.go("rescaling")
    assert "out of date" in sample.text
    sample.go("missing_values")
    sample.at.slider(key="missing.exclude_above").set_value(50)
    sample.run().press("Leave out 2 and impute")
    assert sample.sidebar[2] == "756 transitions, 18 levels"


def test_settings_survive_a_page_switch(sample):
    sample.press("Use these roles").go("missing_values")
    sample.at.slider(key="missing.span").set_value(0.5)
    sample.run().go("rescaling").go("missing_values")
    assert sample.at.slider(key="missing.span").value == 0.5


def test_edited_roles_survive_a_page_switch(sample):
    sample.set_role("age", role="ignore").go("start").go("data")
    table = sample.at.data_editor[0].value.set_index("column")
    assert table.loc["age", "role"] == "ignore"
    sample.press("Use these roles")
    assert "14 state variables" in sample.text


def test_open_role_is_said_with_its_remedy(sample):
    sample.set_role("module", role="ignore")
    assert "A study without treatments." in sample.text
    assert "What it would need." in sample.text
    assert "30 subjects with 28 decisions each" in sample.text  # which can be looked at
    how = next(s for s in sample.at.selectbox if s.label.startswith("How was"))
    how.set_value("observed")
    sample.run()
    assert "No column has the role 'action'" in sample.text
    assert "What to do:" in sample.text
    assert next(b for b in sample.at.button if b.label == "Use these roles").disabled


def test_problem_blocks_and_is_listed(sample):
    sample.set_role("cigs", highest=5)
    assert "outside its declared range" in sample.text
    assert next(b for b in sample.at.button if b.label == "Use these roles").disabled


def test_missing_codes_in_all_columns(sample):
    next(t for t in sample.at.text_input if t.label.startswith("Missing codes")).set_value("10")
    sample.run().press("Use these roles")
    assert "10.7 % of their values are missing" in sample.text  # 9.5 % without the code


def test_look_back_adds_lags(sample):
    next(n for n in sample.at.number_input if n.label.startswith("Look-back")).set_value(2)
    sample.run().press("Use these roles").go("missing_values").press("impute")
    sample.go("rescaling").press("Rescale all variables")
    assert "state variables and 700 of 756 transitions" in sample.text


def test_keep_own_units(sample):
    sample.press("Use these roles").go("missing_values").press("impute").go("rescaling")
    sample.at.radio[0].set_value("Own units")
    sample.run().press("Keep own units")
    assert "All variables keep their own units." in sample.text
    assert sample.sidebar[2] == "756 transitions, own units"


@pytest.mark.parametrize(
    ("name", "subjects"),
    [
        ("basics_mobile_synthetic.xlsx", 30),
        ("basics_mobile_synthetic.sav", 30),
        ("basics_mobile_synthetic_wide.csv", 30),
        ("three_action_synthetic.csv", 24),
    ],
)
def test_every_sample_file_can_be_uploaded_and_used(app, name, subjects):
    app.upload(name, sample_file(name).read_bytes())
    assert app.title == "Data"
    app.press("Use these roles")
    assert app.sidebar[0].startswith(f"{subjects} subjects")
    app.go("missing_values").press("mpute")
    assert "subjects kept" in app.sidebar[1]


BAD_FILES = [
    ("empty.csv", b"", "empty"),
    ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(200), "picture.csv"),
    ("twice.csv", b"a,a\n1,2\n3,4\n", "twice.csv"),
]


@pytest.mark.parametrize(("name", "content", "words"), BAD_FILES, ids=[b[0] for b in BAD_FILES])
def test_bad_file_is_one_clear_message_and_nothing_is_lost(sample, name, content, words):
    sample.press("Use these roles").upload(name, content)
    assert words in sample.at.error[0].value.replace("\\", "")
    assert sample.sidebar[0] == "30 subjects, 15 state variables"


def test_names_with_markup_are_shown_as_text(app):
    rows = ["id,time,action,<b>x</b>,=cmd(),**u**"]
    rows += [f"{i},{t},{(i + t) % 2},{i * t},{t},{i + t * t}" for i in range(5) for t in range(6)]
    app.upload("odd.csv", "\n".join(rows).encode())
    app.set_role("**u**", role="utility").press("Use these roles")
    app.go("rescaling").press("Rescale all variables")
    assert "5 subjects" in app.text


def test_forget_everything(sample):
    sample.press("Use these roles").press("Forget everything")
    assert sample.sidebar[0] == "load a file first"


def test_a_picture_in_a_name_is_shown_as_text(app):
    name = "![p](http://203.0.113.5/a.png)"
    rows = [f"id,time,{name},x,reward"]
    rows += [f"**P{i}**,{t},{(i + t) % 2},{i * t},{i + t * t}" for i in range(5) for t in range(6)]
    app.upload("odd.csv", "\n".join(rows).encode())
    app.set_role(name, role="action").press("Use these roles").go("missing_values")
    app.at.multiselect(key="missing.also_exclude").set_value(["**P1**"])
    app.run().press("Leave out 1")
    shown = [e.value for kind in ("markdown", "caption", "info") for e in getattr(app.at, kind)]
    shown += [w.label for w in app.at.text_input]
    assert not any("![p](" in str(text) for text in shown)
    assert not any("**P1**" in str(text) for text in shown)


def test_choices_for_one_file_are_not_used_for_the_next(sample):
    sample.at.number_input[0].set_value(3)
    sample.run()
    sample.upload(
        "three_action_synthetic.csv", sample_file("three_action_synthetic.csv").read_bytes()
    )
    assert sample.at.number_input[0].value == 0


def test_a_utility_that_nobody_named_has_to_be_chosen(app):
    rows = ["id,time,action,foo,bar"]
    rows += [f"{i},{t},{(i + t) % 2},{i},{i + t * t}" for i in range(5) for t in range(6)]
    app.upload("plain.csv", "\n".join(rows).encode())
    assert "No column has the role 'utility'" in app.text
    utility = next(s for s in app.at.selectbox if s.label.startswith("Outcome"))
    assert utility.value == "Choose …"
    utility.set_value("foo (next value)")
    app.run()
    assert "never changes within a subject" in app.text
    app.set_role("bar", role="utility").press("Use these roles")
    assert "Outcome: 'bar'" in app.text


def test_changed_settings_are_noticed(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    assert "not those that the result" not in sample.text
    sample.at.slider(key="missing.span").set_value(0.5)
    sample.run()
    assert "are not those that the result below was made with" in sample.text
    sample.go("data")
    sample.at.text_input[0].set_value("7")
    sample.run()
    assert "not those that the result" in sample.text


def test_left_out_by_hand_and_by_the_limit_count_once(sample):
    sample.press("Use these roles").go("missing_values")
    sample.at.multiselect(key="missing.also_exclude").set_value(["S07"])
    sample.run()
    assert any(b.label == "Leave out 2 and impute" for b in sample.at.button)


def test_many_levels_are_drawn_in_no_time_and_warned_of(app):
    rows = ["id,time,action,x,reward"]
    rows += [f"{i},{t},{(i + t) % 2},{i + t / 97},{i + t}" for i in range(30) for t in range(40)]
    app.upload("fine.csv", "\n".join(rows).encode())
    app.press("Use these roles").go("rescaling")
    app.at.radio[0].set_value("Ordinal: common levels")
    app.run()
    assert "hardly a scale of levels" in app.text
    app.press("Rescale all variables")
    assert "levels of 'x'" in app.text


def test_a_subject_without_a_variable_is_no_dead_end(app):
    lines = ["id,day,a,stress,sleep,y"]
    for who in range(5):
        for day in range(6):
            sleep = "" if who == 4 else str((day + who) % 5)
            lines.append(f"{who},{day},{(day + who) % 2},{day % 4},{sleep},{day % 3}")
    app.upload("study.csv", "\n".join(lines).encode()).set_role("sleep", role="state")
    app.set_role("stress", role="state").set_role("y", role="utility")
    app.press("Use these roles").go("missing_values")
    impute = next(b for b in app.at.button if "mpute" in b.label)
    assert impute.disabled
    assert "Not yet: some subjects have no value at all of 'sleep'." in app.text
    assert "1 of 5 subjects has no value at all of 'sleep' (4)" in app.text
    assert "tick 'Leave out empty series'" in app.text
    app.at.checkbox(key="missing.unobserved").check()
    app.run().press("Leave out 1")
    assert "4 of 5 subjects are kept" in app.text
    assert "Done. No value is missing" in app.text
    app.at.checkbox(key="missing.unobserved").uncheck()
    app.run().press("Do without 1 variable: sleep")
    assert "no value at all" not in app.text
    app.press("Keep everybody, nothing is missing").go("data")
    assert "have changed" not in app.text
    editor = app.at.data_editor[0].value.set_index("column")
    assert editor.loc["sleep", "role"] == "ignore"


def test_a_probability_that_the_table_contradicts_is_said_and_a_better_one_is_offered(app):
    lines = ["id,day,send,stress,y"]
    for who in range(30):
        for day in range(40):
            lines.append(f"{who},{day},{int((7 * day + 3 * who) % 10 < 6)},{day % 4},{day % 3}")
    app.upload("study.csv", "\n".join(lines).encode()).set_role("stress", role="state")
    app.set_role("y", role="utility")
    how = next(b for b in app.at.selectbox if b.label == "How was treatment decided?")
    how.set_value("constant")
    app.run()
    assert "In the table: send = 1 at 60 % of 1,200 decisions." in app.text
    chance = next(b for b in app.at.number_input if b.label.startswith("Probability of"))
    assert chance.value == 0.6
    chance.set_value(0.5)
    app.run()
    assert "is said to be 50 %, but it was given at 60 % of the 1,200 decisions" in app.text


def test_steps_in_which_there_is_nothing_to_decide_do_themselves(app):
    rows = ["id,time,action,x,reward"]
    rows += [f"{i},{t},{(i + t) % 2},{i + t / 97},{i + t}" for i in range(8) for t in range(12)]
    app.upload("complete.csv", "\n".join(rows).encode()).press("Use these roles")
    assert "Nothing to decide, so done already: missing values, rescaling." in app.text
    assert any(b.label == "Next: effects" for b in app.at.button)
    assert app.sidebar[1:3] == ["8 of 8 subjects kept", "88 transitions, own units"]
    app.go("missing_values")
    assert "No value is missing, so nothing had to be filled in." in app.text
    app.at.multiselect(key="missing.also_exclude").set_value(["3"])
    app.run().press("Leave out 1")
    assert app.sidebar[1:3] == ["7 of 8 subjects kept", "77 transitions, own units"]
    app.go("rescaling")
    assert "Done: variables keep their own units." in app.text
    app.at.radio[0].set_value("Ordinal: common levels")
    app.run().press("Rescale all variables")
    assert app.sidebar[2] == "77 transitions, 84 levels"
    app.go("data").press("Use these roles")
    assert app.sidebar[2] == "77 transitions, 84 levels"
