"""Cards in words, their questions in own units, and rules that somebody wrote herself."""

from __future__ import annotations

import numpy as np
import pytest

import smdp
from smdp.data.variables import Variable
from smdp.errors import SettingError
from smdp.policy.as_measured import AsMeasured, as_measured
from smdp.policy.own_rule import clicked_condition, own_rule_text, read_own_rule
from smdp.policy.rule_card import Branch, End, Question, RuleCard
from smdp.policy.rule_questions import MOST_CUTS, askables, roundest
from smdp.simulation.basics_like import basics_like
from smdp.simulation.three_action import three_action

STRESS = Question("stress", ("stress",), 4.0, said=4.0, unit="points")
RAIN = Question("weather", ("weather: rain",), 0.5, level="rain")
DRY = Question("weather", ("weather: rain", "weather: snow"), 0.5, turned=True, level="dry")
CARD = RuleCard(
    Branch(STRESS, Branch(RAIN, End(1), End(0)), Branch(DRY, End(2), End(0))), ("a", "b", "c")
)


def test_it_says_itself():
    assert CARD.in_words() == (
        "if stress ≥ 4 points and weather is rain: b; if stress < 4 points and weather is dry: c; "
        "else a"
    )
    assert RuleCard(End(1), ("a", "b")).in_words() == "b for everybody"
    assert CARD.variables == ("stress", "weather: rain", "weather: snow")
    assert CARD.asked == ("stress", "weather")
    assert CARD.depth == 2


def test_what_it_recommends_and_where_that_cannot_be_chosen():
    states = np.array([[5, 1, 0], [5, 0, 1], [3, 0, 0], [3, 1, 0], [np.nan, 0, 0]])
    assert CARD.recommend(states).tolist() == [1, 0, 2, 0, -1]
    allowed = np.ones((5, 3), dtype=bool)
    allowed[0, 1] = allowed[2, [0, 2]] = allowed[3] = False
    assert CARD.recommend(states, allowed).tolist() == [0, 0, 1, -1, -1]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(3.0, 4.0, 4.0), (3.0, 7.0, 5.0), (1.31, 1.94, 1.5), (-0.2, 0.3, 0.0), (8.0, 9.0, 9.0),
     (99.0, 121.0, 100.0), (0.012, 0.019, 0.015), (-3.0, -2.0, -2.0)],
)  # fmt: skip
def test_a_cut_is_the_roundest_number_between(low, high, said):
    assert roundest(low, high, (low + high) / 2) == said


def measured_of(columns: dict[str, np.ndarray], about: list[Variable]) -> AsMeasured:
    states = np.stack(list(columns.values()), axis=-1)[:, :, :]
    n, times, _ = states.shape
    return AsMeasured(
        smdp.Trajectories(
            states=states,
            actions=np.arange(n * (times - 1)).reshape(n, -1) % 2,
            utilities=np.zeros((n, times - 1)),
            valid=np.ones((n, times - 1), bool),
            available=np.ones((n, times - 1), bool),
            probabilities=np.full((n, times - 1, 2), 0.5),
            variables=tuple(columns),
            subjects=tuple(f"s{i}" for i in range(n)),
            action_labels=("none", "message"),
            about=tuple(about),
        ),
        {"weather": "dry"},
    )


@pytest.fixture
def few():
    random = np.random.default_rng(1)
    weather = random.integers(0, 3, (8, 12))
    columns = {
        "age": np.repeat(random.normal(40, 12, (8, 1)), 12, axis=1),
        "steps": random.gamma(2, 2000, (8, 12)),
        "stress": random.integers(0, 11, (8, 12)).astype(float),
        "weekend": random.integers(0, 2, (8, 12)).astype(float),
        "weather: rain": (weather == 1).astype(float),
        "weather: snow": (weather == 2).astype(float),
        "same": np.ones((8, 12)),
        "words 1": random.normal(0, 1, (8, 12)),
    }
    named = Variable("weather", kind="nominal", levels=((0, "dry"), (1, "rain"), (2, "snow")))
    about = [
        Variable("age", unit="years"),
        Variable("steps"),
        Variable("stress", kind="ordinal"),
        Variable("weekend", kind="binary", levels=((0.0, "no"), (1.0, "yes"))),
        *named.level_columns(),
        Variable("same"),
        Variable("words 1", whole="diary", whole_kind="text"),
    ]
    return measured_of(columns, about)


def test_questions_divide_the_data_as_their_codes_say(few):
    rows = few.trajectories.rows()
    found = askables(few, rows)
    assert found.left_out == ("diary",)
    by_name = {each.variable: each for each in found.each}
    assert set(by_name) == {"age", "steps", "stress", "weekend", "weather"}
    assert len(by_name["steps"].questions) <= MOST_CUTS
    assert [q.said for q in by_name["stress"].questions] == list(range(1, 11))
    assert [q.words() for q in by_name["weekend"].questions] == ["weekend is yes"]
    assert [q.words() for q in by_name["weather"].questions] == [
        "weather is dry", "weather is rain", "weather is snow"
    ]  # fmt: skip
    for each in found.each:
        for place, question in enumerate(each.questions):
            values = rows.at(few.trajectories.select(question.columns).states)
            assert (question.holds(values) == each.holds(place)).all()
            if question.said is not None:
                assert len(f"{question.said:g}") <= 6


def test_unknown_variables_are_named(few):
    with pytest.raises(SettingError, match="'variables' names moon"):
        askables(few, few.trajectories.rows(), ("moon",))


def test_rescaled_numbers_are_said_in_own_units():
    prepared = smdp.prepare(
        basics_like(3),
        smdp.guess_roles(basics_like(3)),
        smdp.PreparationSettings(rescaling=smdp.RescalingSettings()),
    )
    exact, rescaled = as_measured(prepared), as_measured(prepared.trajectories)
    assert exact.trajectories.valid.tolist() == rescaled.trajectories.valid.tolist()
    for measured in (exact, rescaled):
        found = askables(measured, measured.trajectories.rows(), ("stress",))
        said = [question.said for question in found.each[0].questions]
        assert set(said) <= set(range(1, 11))
        assert len(said) >= 6


OWN = "stress < 4 and weather = 'rain' -> message; weekend = 'Yes' -> Message; else none"


def test_a_rule_of_ones_own(few):
    rule = read_own_rule(OWN, few)
    assert rule.asked == ("stress", "weekend", "weather")
    trajectories = few.trajectories
    states = trajectories.rows().at(trajectories.select(rule.variables).states)
    by_name = dict(zip(rule.variables, states.T, strict=True))
    first = (by_name["stress"] < 4) & (by_name["weather: rain"] == 1)
    wanted = first | (by_name["weekend"] == 1)
    assert (rule.recommend(states) == wanted).all()
    assert 0 < wanted.mean() < 1
    assert (rule.decided(states) == np.where(first, 0, np.where(wanted, 1, 2))).all()
    allowed = np.tile([False, True], (len(states), 1))
    assert (rule.recommend(states, allowed) == 1).all()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("stres < 4 -> message; else none", "Did you mean stress"),
        ("weather = 'hail' -> message; else none", "'weather' has no value 'hail'"),
        ("weekend = 'maybe' -> message; else none", "'weekend' has no value 'maybe'"),
        ("stress < 4 -> call; else none", "names the action 'call'"),
        ("stress < 4 -> message", "does not say what is done where no condition holds"),
        ("stress < 4; else none", "has no action"),
        ("else none", "no condition"),
        ("lag(stress) < 4 -> message; else none", "looks at the present one only"),
        ("stress < -> message; else none", "At character 9"),
        ("stress < 'low' -> message; else none", "number and text"),
    ],
)
def test_what_is_wrong_is_said_where_it_is(few, text, problem):
    with pytest.raises(SettingError, match=problem):
        read_own_rule(text, few)


def test_by_clicks(few):
    stress = few.trajectories.variable("stress")
    rain = few.trajectories.variable("weather: rain")
    condition = clicked_condition(stress, "<", 4.0)
    condition += " or " + clicked_condition(rain, "!=", "dry")
    assert condition == "stress < 4 or weather != 'dry'"
    rule = read_own_rule(own_rule_text(condition, "message", "none"), few)
    assert (rule.actions, rule.otherwise) == ((1,), 0)


def test_three_actions_of_the_walking_study():
    frame = three_action()
    prepared = smdp.prepare(frame, smdp.guess_roles(frame))
    rule = read_own_rule(
        "pain <= 4 -> message; mood <= 3 -> call; else none", as_measured(prepared)
    )
    trajectories = prepared.trajectories
    rows = trajectories.rows()
    says = rule.recommend(
        rows.at(trajectories.select(rule.variables).states), rows.at(trajectories.possible)
    )
    assert set(says.tolist()) == {-1, 0, 1, 2}
