"""The reader recommends from nothing that cannot be right, and says in a sentence why not."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smdp.export import policy_reader
from smdp.export.policy_reader import Log, Policy

BEFORE = json.loads(
    (Path(__file__).parents[2] / "reference" / "policy_file_version_1.json").read_text()
)
CONTENT = json.loads(BEFORE["file"])["content"]
REPORTS = BEFORE["reports"]
NOT_READ = {"about", "availability", "rule", "variable", "abstain_level"}


def sealed(content: Any) -> str:
    """As somebody would write it who knows how, so that the fingerprint is right."""
    exact = json.dumps(content, sort_keys=True, separators=(",", ":"))
    head = {"format": "smdp policy", "version": 1}
    fingerprint = hashlib.sha256(exact.encode()).hexdigest()
    return json.dumps({**head, "fingerprint": fingerprint, "content": content})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Of all that the reader uses; of a long list the first two entries."""
    if path and path[-1] in NOT_READ and path != ("rule",):
        return
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for k in range(min(len(value), 2)):
            yield from places(value[k], (*path, k))


PLACES = list(places(CONTENT))


def with_everything() -> Any:
    """With all that later versions can hold: levels, a text, a card, a log's names, caution."""
    content = copy.deepcopy(CONTENT)
    weather = {"kind": "nominal", "names_of_values": [[0.0, "rain"], [1.0, "other"]]}
    content["measured"][0] |= {"name": "weather", "unit": None} | weather
    content["measured"][1] |= {"name": "diary: words 1", "part_of_text": "diary"}
    content["columns"][0] |= {"kind": "level", "source": 0, "level": 1.0}
    content["rule"] |= {"reference": 0, "pessimism": 0.5}
    buckets = {str(zlib.crc32(b"tired") % 1024): [1.0, 0.5]}
    text = {"name": "diary", "columns": ["diary: words 1"], "buckets": buckets}
    tree = {"question": "rain?", "columns": [0], "cut": 0.5, "turned": False}
    tree |= {"yes": {"action": 0}, "no": {"action": 1}}
    own = {name: [dict(content[name][0])] for name in ("measured", "columns")}
    names = {"subject": "who", "time": "day", "action": "given", "available": None}
    return content | {"texts": {"of": [text]}, "card": own | {"tree": tree}, "study": names}


EVERYTHING = with_everything()
TOLD = [{"weather": "rain", "diary": "tired"}, {"weather": 1}, {"weather": "hail", "diary": None}]


def changed(path: tuple[Any, ...], change: Any, content: Any = CONTENT) -> Any:
    content = copy.deepcopy(content)
    inside = content
    for key in path[:-1]:
        inside = inside[key]
    if change == "gone":
        del inside[path[-1]]
    elif change == "cut":
        inside[path[-1]] = inside[path[-1]][:-1]
    else:
        inside[path[-1]] = change
    return content


def of(path: tuple[Any, ...]) -> Any:
    inside = CONTENT
    for key in path:
        inside = inside[key]
    return inside


def refused(content: Any) -> str:
    with pytest.raises(ValueError, match=r"^The policy file cannot be used: .*\.$") as problem:
        Policy(sealed(content))
    return str(problem.value)


def test_the_file_as_it_was_written_is_read():
    assert Policy(sealed(CONTENT)).recommend(REPORTS, BEFORE["done"])["best"] is not None


def test_every_key_is_asked_for():
    keys = [path for path in PLACES if isinstance(path[-1], str)]
    assert len(keys) > 40
    for path in keys:
        assert f"'{path[-1]}' is missing" in refused(changed(path, "gone"))


@pytest.mark.parametrize("wrong", ["text", True, -1, 0.5, [], {}, [[]], [None], {"a": 1}, None])
def test_a_value_of_another_kind_is_refused_or_harmless(wrong):
    for path in PLACES:
        try:
            policy = Policy(sealed(changed(path, wrong)))
        except ValueError:  # any other error is a fault
            refused(changed(path, wrong))
            continue
        with contextlib.suppress(ValueError):
            policy.recommend(REPORTS, BEFORE["done"])


@pytest.mark.parametrize(
    "wrong", ["gone", "text", "rain", True, -1, 1e-300, 9e99, [], {}, [[]], [None], None, 2**70]
)
def test_the_same_of_all_that_later_versions_hold(wrong, tmp_path):
    others = [path for path in places(EVERYTHING) if path not in PLACES]
    assert len(others) > 30
    for k, path in enumerate(others):
        with contextlib.suppress(ValueError):
            policy = Policy(sealed(changed(path, wrong, EVERYTHING)))
            policy.recommend([{}, {}, {}])
            policy.card(TOLD)
            Log(policy, tmp_path / f"{k}.csv", 0.1).decide("Anna", TOLD)


def test_with_everything_as_it_should_be_it_recommends(tmp_path):
    policy = Policy(sealed(EVERYTHING))
    assert policy.recommend(TOLD)["best"] is not None
    assert policy.card(TOLD)["recommendation"] == "0"
    assert Log(policy, tmp_path / "log.csv").decide("Anna", TOLD)["action"] is not None


@pytest.mark.parametrize("other", ["card", "texts"])
def test_what_is_asked_for_in_two_ways_is_refused(other):
    content = copy.deepcopy(EVERYTHING)
    if other == "card":
        content["card"]["measured"][0]["names_of_values"] = [[1.0, "rain"], [0.0, "other"]]
    else:
        content["texts"]["of"][0]["name"] = "weather"
    assert "asked for in two ways" in refused(content)


def test_how_cautious_it_is_counts_where_it_is_cautious():
    rule = EVERYTHING["rule"]
    assert "'pessimism' is below 0" in refused(EVERYTHING | {"rule": rule | {"pessimism": -1}})
    del (rule := dict(rule))["reference"]
    Policy(sealed(EVERYTHING | {"rule": rule | {"pessimism": "much"}}))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan"), 10**400, 1e200])
def test_a_number_that_is_not_finite_is_refused(number):
    numbers = [
        path for path in PLACES
        if isinstance(of(path), int | float) and not isinstance(of(path), bool)
    ]  # fmt: skip
    assert len(numbers) > 40
    for path in numbers:
        refused(changed(path, number))


def test_what_is_cut_short_is_refused():
    lists = [path for path in PLACES if isinstance(of(path), list) and of(path)]
    harmless = {("resampled",)}
    for path in set(lists) - harmless:
        refused(changed(path, "cut"))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("actions",), ["0", "0", "1"], "different actions"),
        (("measured", 0, "name"), "weight", "asked for twice"),
        (("measured", 0, "limits"), [3, 1], "two ends in order"),
        (("levels",), None, "'levels' is missing"),
        (("levels", "boundaries", 0), 0.9, "not in order"),
        (("columns", 0, "source"), 99, "comes from nowhere"),
        (("columns", 0, "lag"), -1, "looks ahead"),
        (("columns", 0, "kind"), "guess", "unknown kind"),
        (("imputation", "span"), 0, "cannot be"),
        (("imputation", "degree"), 7, "cannot be"),
        (("q", "scale", 0), 0, "not above 0"),
        (("q", "layers"), [], "no layer"),
        (("q", "layers", 0, "activation"), "exec", "unknown activation"),
        (("support", "neighbours"), 0, "cannot be"),
        (("support", "taken", 0), 3, "unknown action"),
        (("support", "radius"), 0, "cannot be"),
        (("rule", "z"), -1, "'rule' has a value that cannot be"),
        (("rule", "least_share"), 1.5, "'rule' has a value that cannot be"),
    ],
)
def test_the_sentence_says_what_is_wrong(path, value, problem):
    assert problem in refused(changed(path, value))


def test_what_a_log_is_made_of_is_checked_with_the_rest():
    names = {"subject": "who", "time": "day", "action": "given", "available": None}
    Policy(sealed(CONTENT | {"study": names}))
    for wrong in ("who", 3, [], names | {"time": 3}, {"subject": "who"}):
        assert "'" in refused(CONTENT | {"study": wrong})


def test_a_level_that_a_variable_does_not_have_is_refused():
    content = copy.deepcopy(CONTENT)
    names = {"kind": "nominal", "names_of_values": [[0.0, "rain"], [1.0, "sun"]]}
    content["measured"][0] |= names
    content["columns"][0] |= {"kind": "level", "source": 0, "level": 1.0}
    Policy(sealed(content))
    content["columns"][0]["level"] = 2.0
    assert "a level that there is not" in refused(content)


@pytest.mark.parametrize(
    "text",
    [None, 3, "", "[]", "{", "3", "[" * 100_000, '{"format": "smdp policy", "version": 1}', "null"],
)
def test_another_file_is_refused(text):
    with pytest.raises(ValueError, match=r"no policy file|was changed|cannot be used"):
        Policy(text)


@pytest.mark.parametrize(
    ("reports", "actions", "available", "problem"),
    [
        ([*REPORTS, {"stres": 3}], (), True, "knows no 'stres', only: stress, weight"),
        ([*REPORTS, {"stress": "3"}], (), True, "'stress' must be a number, not '3'"),
        ([*REPORTS, {"stress": [3]}], (), True, "must be a number"),
        ([*REPORTS, {"stress": 1e200}], (), True, "too large"),
        ([*REPORTS, {"stress": 10**400}], (), True, "too large"),
        ([*REPORTS, 3], (), True, "one table of names and values for each decision"),
        ({"stress": 3}, (), True, "one table of names and values for each decision"),
        ([], (), True, "looks back farther"),
        (REPORTS, ["9"], True, "knows no action '9', only: 0, 1, 2"),
        (REPORTS, ["1"] * 9, True, "more actions than reports"),
        (REPORTS, None, True, "'actions' is no list"),
        (REPORTS, "1", True, "'actions' is no list"),
        (REPORTS, (), 2, "a list of the possible actions"),
        (REPORTS, (), ["0", "9"], "knows no action '9'"),
        (REPORTS, (), "0", "a list of the possible actions"),
    ],
)
def test_reports_that_cannot_be_right_are_refused(reports, actions, available, problem):
    with pytest.raises(ValueError, match=problem):
        Policy(BEFORE["file"]).recommend(reports, actions, available)


@pytest.mark.parametrize("value", [["rain"], {"a": 1}, 10**400, 1e200])
def test_a_level_is_a_name_or_a_number(value):
    with pytest.raises(ValueError, match=r"'weather' (must be the name of a level|is too large)"):
        Policy(sealed(EVERYTHING)).recommend([*TOLD, {"weather": value}])


def test_whether_there_is_a_choice_may_be_told_by_a_number():
    """As in the column of a table."""
    policy = Policy(BEFORE["file"])
    told = policy.recommend(REPORTS, BEFORE["done"])
    for one in (1, 1.0):
        assert policy.recommend(REPORTS, BEFORE["done"], one) == told
    assert policy.recommend(REPORTS, BEFORE["done"], 0)["why"] == "unavailable"


def test_a_log_is_begun_with_a_share_and_in_a_file_of_its_own(tmp_path):
    policy = Policy(BEFORE["file"])
    for wrong in ("0.1", None, 2, float("nan")):
        with pytest.raises(ValueError, match="'explore' is from 0 to 1"):
            Log(policy, tmp_path / "log.csv", wrong)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(ValueError, match="no log of this policy"):
        Log(policy, tmp_path / "picture.png")


@pytest.mark.parametrize("empty", [{}, {"stress": None}, {"stress": float("nan")}])
def test_where_nothing_was_ever_reported_there_is_no_recommendation(empty):
    policy = Policy(BEFORE["file"])
    answer = policy.recommend([empty] * 3, BEFORE["done"])
    assert answer["recommendation"] is None
    assert answer["why"] == "nothing reported"
    assert policy.recommend([empty] * 3, BEFORE["done"], False)["why"] == "unavailable"
    once = policy.recommend([{"stress": 3}, empty, empty], BEFORE["done"])
    assert once["why"] != "nothing reported"


def run(*words: str, cwd: Path) -> tuple[int, str]:
    reader = str(policy_reader.__file__)
    done = subprocess.run(
        [sys.executable, "-I", reader, *words], cwd=cwd, capture_output=True, text=True
    )
    assert done.stdout == "" or done.returncode == 0
    return done.returncode, done.stderr


def test_as_a_command_it_says_how_it_is_used_and_what_is_wrong(tmp_path):
    (tmp_path / "policy.json").write_text(BEFORE["file"])
    (tmp_path / "reports.json").write_text(json.dumps(REPORTS))
    (tmp_path / "misspelt.json").write_text(json.dumps([*REPORTS, {"stres": 3}]))
    (tmp_path / "cut.json").write_text("[{")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    usage = "usage: python policy_reader.py policy.json reports.json\n"
    for words in ((), ("policy.json",), ("a", "b", "c")):
        assert run(*words, cwd=tmp_path) == (1, usage)
    assert run("policy.json", "reports.json", cwd=tmp_path) == (0, "")
    (tmp_path / "marked.json").write_text(json.dumps(REPORTS), encoding="utf-8-sig")
    assert run("policy.json", "marked.json", cwd=tmp_path) == (0, "")
    for reports, problem in {
        "misspelt.json": "The policy knows no 'stres'",
        "cut.json": "'cut.json' is not JSON",
        "bytes.json": "A file is not text",
        "nowhere.json": "No such file",
    }.items():
        code, error = run("policy.json", reports, cwd=tmp_path)
        assert code == 1
        assert problem in error
        assert error.count("\n") == 1
    assert "no policy file" in run("reports.json", "reports.json", cwd=tmp_path)[1]
