"""The Screening page."""

import pytest
from waiting import finish


@pytest.fixture
def prepared(sample):
    sample.press("Use these roles").go("missing_values").press("impute")
    return sample.go("rescaling").press("Rescale all variables").go("screening")


def test_empty_page_says_what_it_will_do(prepared):
    assert "15 variables can be screened" in prepared.text
    assert prepared.sidebar[3] == "ready"


@pytest.mark.usefixtures("in_this_process")
def test_screening_says_of_every_variable_what_became_of_it(prepared):
    finish(prepared.press("Screen 15 variables"))
    table = next(d.value for d in prepared.at.dataframe if "status" in d.value.columns)
    status = table.set_index("variable")["status"]
    assert len(status) == 15
    assert status["cigs"] == "selected"  # the strongest; the others need not show in 28 students
    kept = (status == "selected").sum()
    assert prepared.sidebar[3] == f"{kept} of 15 variables kept"
    assert "not proven useless" in prepared.text


@pytest.mark.usefixtures("in_this_process")
def test_forced_variables_are_recorded(prepared):
    prepared.at.multiselect(key="screening.force_in").set_value(["age"])
    prepared.at.multiselect(key="screening.force_out").set_value(["female"])
    finish(prepared.run().press("Screen 13 variables"))
    assert "Decided by hand, not by the test: age, female" in prepared.text


def test_a_job_survives_a_page_switch(prepared):
    prepared.press("Screen 15 variables").go("data")
    finish(prepared)
    assert prepared.sidebar[3].endswith("of 15 variables kept")


@pytest.mark.usefixtures("in_this_process")
def test_changing_back_brings_the_result_back_at_once(prepared):
    finish(prepared.press("Screen 15 variables"))
    first = prepared.sidebar[3]
    prepared.at.multiselect(key="screening.force_in").set_value(["age", "female", "sleep"])
    finish(prepared.run().press("Screen 12 variables"))
    assert prepared.sidebar[3] != first
    prepared.at.multiselect(key="screening.force_in").set_value([])
    prepared.run().press("Screen 15 variables")
    assert prepared.sidebar[3] == first


def test_too_few_permutations_is_one_clear_message(prepared):
    prepared.at.number_input(key="screening.permutations").set_value(10)
    finish(prepared.run().press("Screen 15 variables"))
    assert len(prepared.at.error) == 1
    assert "permutations" in prepared.at.error[0].value


def test_cancel(prepared):
    prepared.at.number_input(key="screening.permutations").set_value(1_000_000)
    prepared.run().press("Screen 15 variables")
    assert prepared.sidebar[3] == "running"
    prepared.press("Cancel")
    assert prepared.sidebar[3] == "ready"
    assert "Cancelled" in prepared.text
