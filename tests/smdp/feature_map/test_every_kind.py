"""What every kind of feature map must do, one registered from outside included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import smdp
from smdp.analysis.plan import AnalysisPlan
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError, SettingError
from smdp.feature_map import kinds
from smdp.feature_map.base import MapKind, check_asked
from smdp.feature_map.fitted_map import FittedFeatureMap
from smdp.feature_map.from_layers import assembled, valid_states
from smdp.feature_map.kinds import map_kind, map_kinds, register
from smdp.feature_map.layers import Layer
from smdp.feature_map.network_settings import NetworkSettings
from smdp.plain_data import read_plain, write_plain
from smdp.progress import Cancelled, silent
from smdp.report.collect import build_report
from smdp.report.html import to_html
from smdp.report.methods import methods_text
from smdp.saved_types import register as register_tag
from smdp.settings import Settings, setting, settings_of
from smdp.simulation.generative_model import simulate
from tests.small_trial import quick_plan, study_frame


@dataclass(frozen=True)
class FirstVariablesSettings(Settings):
    """`count`: how many of the variables are kept."""

    count: int = setting(1, "How many", least=1)


def first_variables(
    trajectories: Trajectories,
    settings: FirstVariablesSettings = FirstVariablesSettings(),  # noqa: B008 - frozen
    *,
    seed: int = 0,
    progress: Any = None,
) -> FittedFeatureMap:
    check_asked(trajectories, settings, FirstVariablesSettings, seed)
    (progress or silent)(0.0, "Taking the first")
    states, _ = valid_states(trajectories)
    count = min(settings.count, states.shape[1])
    layer = Layer(np.eye(count, states.shape[1]), np.zeros(count))
    return assembled("first", trajectories.about, (layer,), "identity", states, settings, seed)


TOY = MapKind(
    name="first",
    title="The first variables",
    settings=FirstVariablesSettings,
    fit=first_variables,
    methods=lambda settings, inputs: f"Of {inputs}, the first {settings.count} were taken.",
)
register_tag("first variables settings", FirstVariablesSettings)

FORMAT_1 = Path(__file__).parents[2] / "golden" / "format-1"
BUILT_IN = ("adnn", "tnn", "pca", "identity")
EVERY = (*BUILT_IN, "first")

#: Words of one kind's methods paragraph that no other kind's may have.
OWN_WORDS = {
    "adnn": "alternating deep neural networks",
    "tnn": "separate sparse network",
    "pca": "principal components",
    "identity": "The features were all state variables, standardised",
    "first": "the first 1 were taken",
}
BAD: dict[str, dict[str, Any]] = {
    "adnn": {"level": 2.0},
    "tnn": {"penalties": ()},
    "pca": {"variance": 1.5},
    "first": {"count": 0},
}


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> MapKind:
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    return register(TOY)


@pytest.fixture(params=EVERY)
def kind(request: pytest.FixtureRequest) -> MapKind:
    return map_kind(request.param)


@pytest.fixture
def settings(kind: MapKind, quick_networks: dict[str, Any]) -> Settings:
    """As little work as it takes."""
    if not issubclass(kind.settings, NetworkSettings):
        return kind.settings()
    return kind.settings(**quick_networks | {"steps": 30, "refit_steps": 30, "dimensions": (2,)})


@pytest.fixture(scope="module")
def eight() -> Trajectories:
    """8 subjects, 15 times."""
    return simulate("linear", subjects=8, times=15, seed=2).select(["S1", "S2", "S3"])


@pytest.fixture
def fitted(kind: MapKind, settings: Settings, eight: Trajectories) -> FittedFeatureMap:
    return kind.fit(eight, settings, seed=4)


def test_the_list_has_each_kind_once():
    assert tuple(each.name for each in map_kinds()) == EVERY
    assert len({each.title for each in map_kinds()}) == len(EVERY)
    assert len({each.settings for each in map_kinds()}) == len(EVERY)
    assert register(TOY) is TOY  # again
    with pytest.raises(ValueError, match="called 'pca' already"):
        register(replace(TOY, name="pca"))


def test_settings_that_a_plan_could_not_tell_apart_are_refused():
    @dataclass(frozen=True)
    class Clash(Settings):
        seed: int = setting(0)

    with pytest.raises(ValueError, match="cannot be called seed"):
        register(replace(TOY, name="clash", settings=Clash))


def test_an_unknown_kind():
    for name in ("umap", 3, None):
        with pytest.raises(SettingError, match=r"'kind' must be one of \('adnn', .*Got"):
            map_kind(name)
    with pytest.raises(SettingError, match="'kind' must be one of"):
        smdp.FeatureMapPlan("umap")


def test_the_same_seed_gives_the_same_bits(kind, settings, eight, fitted):
    again = kind.fit(eight, settings, seed=4)
    np.testing.assert_array_equal(fitted.transform(eight.states), again.transform(eight.states))
    pd.testing.assert_frame_equal(fitted.weights, again.weights)


def test_what_a_fit_gives(kind, settings, eight, fitted):
    assert fitted.kind == kind.name
    assert fitted.settings == settings
    assert fitted.seed == 4
    assert fitted.variables == eight.variables
    features = fitted.transform(eight.states)
    assert features.shape == (8, 16, fitted.dimension)
    assert np.isfinite(features).all()
    assert len(fitted.features) == fitted.dimension
    assert list(fitted.weights.columns) == list(eight.variables)
    assert fitted.candidates.empty == (not kind.tests_dimension)
    assert str(fitted.dimension) in kind.in_words(fitted)


def test_the_default_settings_are_its_own(kind, eight):
    if kind.name in ("pca", "identity", "first"):  # which need no folds
        assert kind.fit(eight).settings == kind.settings()
    assert all(known.label for known in settings_of(kind.settings).values())


def test_saved_and_loaded(fitted, eight, tmp_path):
    write_plain(fitted, tmp_path)
    loaded = read_plain(tmp_path)
    np.testing.assert_array_equal(fitted.transform(eight.states), loaded.transform(eight.states))
    assert (loaded.kind, loaded.settings) == (fitted.kind, fitted.settings)
    assert loaded.networks == fitted.networks


def test_fitted_anew_without_some_people(kind, fitted, eight):
    fold = np.arange(8) % 2
    heard: list[float] = []
    maps = kind.without_each(eight, fitted, fold, progress=lambda share, _: heard.append(share))
    assert len(maps) == 2
    assert heard == sorted(heard)
    for k, each in enumerate(maps):
        assert each.kind == kind.name
        assert each.settings == fitted.settings
        assert each.dimension == fitted.dimension
        assert set(each.variables_used) == set(fitted.variables_used)
        if kind.refit is None:
            assert each is fitted
        else:
            own = [eight.variables.index(name) for name in each.variables]
            others = eight.states[fold != k, :-1][..., own].reshape(-1, len(own))
            np.testing.assert_allclose(each.centre, others.mean(axis=0))
    again = kind.without_each(eight, fitted, fold, progress=silent)
    states = eight.select(maps[0].variables).states
    np.testing.assert_array_equal(maps[1].transform(states), again[1].transform(states))
    if kind.refit is not None:
        assert (maps[0].transform(states) != maps[1].transform(states)).any()


def test_the_methods_text_is_its_own(kind):
    text = kind.methods(kind.settings(), "all state variables")
    assert "all state variables" in text
    for name, words in OWN_WORDS.items():
        assert (words in text) == (name == kind.name), name


def test_bad_settings_are_refused_by_name(kind, eight):
    for name, value in BAD.get(kind.name, {}).items():
        with pytest.raises(SettingError, match=f"'{name}' must be"):
            kind.settings(**{name: value})
    other = map_kind("pca" if kind.name != "pca" else "identity").settings()
    with pytest.raises(SettingError, match=f"'settings' must be {kind.settings.__name__} for"):
        kind.fit(eight, other)
    with pytest.raises(SettingError, match=f"'settings' must be {kind.settings.__name__} for"):
        smdp.FeatureMapPlan(kind.name, settings=other)
    with pytest.raises(SettingError, match="'seed' must be"):
        kind.fit(eight, seed=-1)


def test_data_that_no_map_can_be_made_of(kind, settings, eight):
    with pytest.raises(DataError, match="no state variable"):
        kind.fit(eight.select([]), settings)
    with pytest.raises(DataError, match="No transition is valid"):
        kind.fit(replace(eight, valid=np.zeros_like(eight.valid)), settings)
    states = eight.states.copy()
    states[0, 3, 0] = np.nan
    with pytest.raises(DataError, match="missing in transitions that are marked as valid"):
        kind.fit(replace(eight, states=states), settings)


def test_it_can_be_stopped(kind, settings, eight):
    def stop(share: float, message: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        kind.fit(eight, settings, progress=stop)


def plan_with(plan: smdp.FeatureMapPlan) -> AnalysisPlan:
    whole = quick_plan().replace(features=plan, stability=None, rule=None, placebo=None)
    return whole.replace(policies=whole.policies[:1])


def test_a_plan_as_text_has_the_settings_of_its_kind(kind, settings):
    plan = plan_with(smdp.FeatureMapPlan(kind.name, True, settings, 5))
    assert AnalysisPlan.from_toml(plan.to_toml()) == plan
    assert AnalysisPlan.from_json(plan.to_json()) == plan
    wrong = plan.to_toml().replace("[features]\n", "[features]\nspeed = 1\n")
    with pytest.raises(SettingError, match=r"unknown key 'speed' in section \[features\]"):
        AnalysisPlan.from_toml(wrong)
    names = set(settings_of(kind.settings))
    foreign = "level" if "level" not in names else "variance"
    wrong = plan.to_toml().replace("[features]\n", f"[features]\n{foreign} = 0.5\n")
    with pytest.raises(SettingError, match=f"unknown key '{foreign}'"):
        AnalysisPlan.from_toml(wrong)


def test_a_plan_of_the_first_format_loses_only_what_its_kind_never_used():
    plan = plan_with(smdp.FeatureMapPlan("pca", True))
    old = (
        plan.to_toml()
        .replace("format = 7", "format = 1")
        .replace("variance = 0.9\n", "folds = 2\n")
    )
    assert "folds" in old
    assert AnalysisPlan.from_toml(old) == plan
    with pytest.raises(SettingError, match="unknown key 'speed'"):
        AnalysisPlan.from_toml(old.replace("folds = 2", "speed = 2"))


def test_an_unknown_kind_in_a_plan_is_one_error():
    text = plan_with(smdp.FeatureMapPlan("identity", True)).to_toml()
    for wrong, message in (
        (
            'kind = "umap"',
            r"In section \[features\] of the plan: The setting 'kind' must be one of",
        ),
        ("kind = 3", "'features.kind' of the plan must be text"),
    ):
        with pytest.raises(SettingError, match=message):
            AnalysisPlan.from_toml(text.replace('kind = "identity"', wrong))


@pytest.fixture(scope="module")
def toy_analysis() -> Iterator[smdp.AnalysisResult]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "_kinds", {**kinds._kinds, TOY.name: TOY})
        plan = plan_with(smdp.FeatureMapPlan("first", True, FirstVariablesSettings(2), 1))
        table = smdp.read_table(study_frame().to_csv(index=False).encode(), name="trial.csv")
        yield smdp.run_analysis(table, plan)


def test_a_kind_from_outside_is_run_saved_and_reported(toy_analysis, tmp_path):
    assert toy_analysis.feature_map.kind == "first"
    assert toy_analysis.feature_map.dimension == 2
    assert len(toy_analysis.values) == 1
    loaded = smdp.load_analysis(smdp.save_analysis(toy_analysis, tmp_path / "toy.smdp"))
    assert loaded.plan == toy_analysis.plan
    assert loaded.feature_map.settings == FirstVariablesSettings(2)
    text = " ".join(methods_text(loaded))
    assert "Of all state variables, the first 2 were taken." in text
    assert "alternating" not in text
    page = to_html(build_report(loaded))
    assert "Kind of feature map: The first variables." in page


def test_a_kind_from_outside_is_in_the_script(toy_analysis):
    script = toy_analysis.plan.to_script("study.csv")
    module = FirstVariablesSettings.__module__
    assert f"import {module}\n" in script
    assert f"{module}.first_variables(" in script
    assert f"{module}.FirstVariablesSettings(count=2)" in script
    compile(script, "script", "exec")


def test_a_file_with_a_kind_that_is_not_known_is_refused(toy_analysis, tmp_path, monkeypatch):
    path = smdp.save_analysis(toy_analysis, tmp_path / "toy.smdp")
    without = {name: each for name, each in kinds._kinds.items() if name != "first"}
    monkeypatch.setattr(kinds, "_kinds", without)
    with pytest.raises(smdp.SmdpError, match="'kind' must be one of"):
        smdp.load_analysis(path)


def test_old_maps_of_separate_networks_say_why_they_cannot_be_fitted_anew(eight, quick_networks):
    tnn = map_kind("tnn")
    fitted = tnn.fit(eight, tnn.settings(**quick_networks | {"steps": 5, "refit_steps": 5}))
    old = replace(fitted, networks=())
    with pytest.raises(DataError, match=r"earlier version.*Fit the feature map again"):
        tnn.without_each(eight, old, np.arange(8) % 2, progress=silent)


def test_separate_networks_are_fitted_anew_in_evaluation(quick_networks):
    study = simulate("linear", subjects=12, times=15, seed=2).select(["S1", "S2", "S3"])
    tnn = map_kind("tnn")
    short = quick_networks | {"steps": 20, "refit_steps": 20, "dimensions": (1,)}
    fitted = tnn.fit(study, tnn.settings(**short))
    policy = smdp.learn_policy(study, fitted, smdp.PolicySettings(bootstraps=0))
    anew = smdp.EvaluationSettings(folds=2, bootstraps=20, segments=2)
    held = replace(anew, refit_map=False)
    first, second = (smdp.evaluate_policy(study, policy, how) for how in (anew, held))
    assert first.estimate != second.estimate
    assert any("fitted anew in each fold too" in note for note in first.notes)
    assert any("was not fitted anew" in note for note in second.notes)


@pytest.mark.parametrize("name", ["tnn", "pca", "identity"])
def test_files_of_the_first_format_get_the_settings_of_their_kind(name):
    opened = smdp.load_analysis(FORMAT_1 / f"{name}.smdp")
    own = map_kind(name).settings
    for settings in (
        opened.plan.features.settings,
        opened.records["features"].asked.settings,
        opened.feature_map.settings,
        opened.policies[0].feature_map.settings,
    ):
        assert type(settings) is own
    assert opened.plan.features == opened.records["features"].asked
