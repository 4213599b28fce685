"""Choosing among candidates, and fixing what networks leave open."""

from dataclasses import replace

import numpy as np
import pytest

from smdp.feature_map import layers as of_layers
from smdp.feature_map.adnn import dimension, tuning
from smdp.feature_map.adnn.dimension import candidate_dimensions
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.specification import ModelSpec
from smdp.feature_map.adnn.tuning import Tuned, one_standard_error, smallest_dimension, tune
from smdp.feature_map.from_layers import identified
from smdp.feature_map.layers import Layer, apply, average_gradient


def test_the_sparsest_within_one_paired_standard_error():
    best = np.array([1.0, 2.0, 3.0, 4.0])
    losses = {
        (1, 20, 1, 0.02): best,
        (1, 20, 1, 0.05): best + np.array([0.1, -0.1, 0.1, -0.05]),  # worse, but not clearly
        (1, 20, 1, 0.1): best + 0.05,  # a little, but always: clearly
        (1, 20, 1, 0.2): best + 1,
    }
    assert one_standard_error(losses) == (1, 20, 1, 0.05)


def test_the_smaller_network_among_equals():
    same = np.array([1.0, 2.0])
    losses = {(1, 40, 1, 0.1): same, (1, 20, 2, 0.1): same, (1, 20, 1, 0.1): same}
    assert one_standard_error(losses) == (1, 20, 1, 0.1)


def test_the_smallest_dimension_that_is_not_clearly_worse_by_a_hundredth():
    best = np.array([10.0, 20.0, 30.0])
    by_dimension = {1: best * 1.1, 2: best * 1.009, 4: best, 8: best * 1.001}
    tuned = [Tuned(q, 20, 1, 0.1, losses, None) for q, losses in by_dimension.items()]  # type: ignore[arg-type]
    assert smallest_dimension(tuned).dimension == 2


def test_what_is_not_kept_is_not_polished_and_does_not_matter(sets, quick):
    seed = np.random.SeedSequence(3)
    both, _ = tune(sets, (1, 2), quick, seed=seed)
    (alone,), _ = tune(sets, (1, 2), quick, seed=seed, keep=lambda tuned: tuned[1:])
    assert alone.dimension == 2
    for one, other in zip(alone.network.features, both[1].network.features, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)


def test_weak_columns_are_penalised_harder(sets, quick):
    """All but the strongest column count as weak: they shrink in the polish."""
    rest = {}
    for weak in (0.0, 0.999):
        settings = replace(quick, weak_columns=weak, penalties=(0.1,), polish_steps=100)
        (tuned,), _ = tune(sets, (2,), settings, seed=np.random.SeedSequence(3))
        norms = np.sort(np.linalg.norm(tuned.network.features[0].weights, axis=0))
        rest[weak] = norms[:-1] / norms[-1]
    assert (rest[0.999] < rest[0.0]).all()


def test_default_candidates_have_gaps_only_where_they_are_many():
    settings = FeatureMapSettings()
    assert candidate_dimensions(4, settings) == (1, 2, 3, 4)
    assert candidate_dimensions(10, settings) == (1, 2, 3, 4, 5, 6, 7, 8, 10)
    assert candidate_dimensions(40, settings) == (1, 2, 3, 4, 5, 6, 7, 8, 12, 18, 27, 40)
    assert candidate_dimensions(3, FeatureMapSettings(dimensions=(2, 4))) == (2,)
    assert candidate_dimensions(3, FeatureMapSettings(dimensions=(4,))) == (3,)


def test_the_gap_below_the_choice_is_filled(sets, quick, monkeypatch):
    """Dimension 3 is the first that is not rejected; 1 and 4 were tried before it."""
    monkeypatch.setattr(dimension, "candidate_dimensions", lambda columns, settings: (1, 4))
    monkeypatch.setattr(dimension, "at_most", lambda p, level: False)
    judge = dimension._FirstNotRejected.judge

    def by_decree(self, tuned, architecture):
        found = judge(self, tuned, architecture)
        return replace(found, inputs=(0, 1, 2, 3), rejected=tuned.dimension < 3)

    monkeypatch.setattr(dimension._FirstNotRejected, "judge", by_decree)
    found = dimension.choose_dimension(
        sets,
        replace(quick, test="relative"),
        seed=np.random.SeedSequence(0),
        report=lambda share, what: None,
    )
    assert found.chosen.dimension == 3
    assert [candidate.dimension for candidate in found.candidates] == [1, 2, 3, 4]


@pytest.mark.parametrize("worse", [False, True])
def test_a_larger_penalty_before_the_choice_is_final(sets, quick, monkeypatch, worse):
    """Cross-validation takes the smallest penalty, which drops nothing; another drops W1."""
    monkeypatch.setattr(
        tuning, "one_standard_error", lambda losses: min(losses, key=lambda key: key[3])
    )
    monkeypatch.setattr(dimension, "clearly_worse", lambda losses, best: worse)
    settings = replace(
        quick,
        test="relative",
        penalties=(0.0, 0.1),
        dimensions=(3,),
        steps=500,
        polish_steps=100,
        margin=0.9,
    )
    found = dimension.choose_dimension(
        sets, settings, seed=np.random.SeedSequence(0), report=lambda share, what: None
    )
    kept, penalty = ((0, 1, 2, 3), 0.0) if worse else ((0, 1, 2), 0.1)
    assert found.chosen.inputs == kept
    assert found.chosen.tuned.penalty == penalty
    assert found.candidates == (found.chosen,)
    once = replace(settings, iterate=False)
    found = dimension.choose_dimension(
        sets, once, seed=np.random.SeedSequence(0), report=lambda share, what: None
    )
    assert found.chosen.inputs == (0, 1, 2, 3)


def test_a_larger_penalty_that_cannot_be_trained_is_passed_over(sets, quick, networks_fail):
    networks_fail(lambda spec: spec.penalty == 0.1)
    settings = replace(quick, test="relative", penalties=(0.0, 0.1), dimensions=(3,), margin=0.9)
    found = dimension.choose_dimension(
        sets, settings, seed=np.random.SeedSequence(0), report=lambda share, what: None
    )
    assert found.chosen.tuned.penalty == 0.0


def test_folds_are_not_trained_again_for_a_larger_penalty(sets, quick, monkeypatch):
    monkeypatch.setattr(tuning, "one_standard_error", min)  # the smallest penalty
    trained: list[ModelSpec] = []
    train = tuning.train

    def watched(sets, specs, how, **more):
        trained.extend(spec for spec in specs if spec.dataset != sets.everything)
        return train(sets, specs, how, **more)

    monkeypatch.setattr(tuning, "train", watched)
    settings = replace(quick, test="relative", penalties=(0.0, 0.1), dimensions=(3,), margin=0.9)
    found = dimension.choose_dimension(
        sets, settings, seed=np.random.SeedSequence(0), report=lambda share, what: None
    )
    assert len(found.chosen.inputs) == 4
    assert len(trained) == len(settings.penalties) * settings.folds


@pytest.mark.parametrize(
    ("choose_by", "exact", "practical", "below", "chosen", "why", "tried"),
    [
        ("exact_first", 3, 2, 0.0, 3, "exact", 3),
        ("exact_first", 4, 2, 0.0, 2, "practical", 4),
        ("exact_first", 4, 2, 0.03, 3, "least rejected", 4),
        ("exact_first", 4, 2, 0.01, 2, "practical", 4),
        ("exact_first", 4, 9, 0.03, 4, "exact", 4),
        ("exact", 4, 2, 0.03, 4, "exact", 4),
        ("practical", 2, 1, 0.03, 1, "practical", 2),
        ("practical", 1, 3, 0.0, 3, "practical", 3),
        ("practical", 1, 9, 0.0, 4, "largest", 4),
    ],
)
def test_the_two_questions_and_which_of_them_decides(
    sets, quick, monkeypatch, choose_by, exact, practical, below, chosen, why, tried
):
    """`exact`, `practical`: the smallest dimension that is enough in that sense; p = 4; `below`:
    the p-value of the dimension before the one that is exact."""
    judged = dimension._TwoQuestions

    def tested(self, size, refitted):
        enough = 1.0 if size.dimension >= exact else below * (size.dimension == exact - 1)
        return enough, np.nan

    monkeypatch.setattr(judged, "_tested", tested)
    judge = judged.judge

    def by_decree(self, tuned, architecture):
        found = judge(self, tuned, architecture)
        return replace(found, inputs=(0, 1, 2, 3), practical=tuned.dimension >= practical)

    monkeypatch.setattr(judged, "judge", by_decree)
    settings = replace(
        quick, choose_by=choose_by, penalties=(0.0,), steps=5, refit_steps=5, polish_steps=0
    )
    found = dimension.choose_dimension(
        sets,
        settings,
        seed=np.random.SeedSequence(0),
        report=lambda share, what: None,
        probabilities=np.full((len(sets.rows.head), sets.rows.heads), 0.5),
    )
    assert (found.chosen.dimension, found.why) == (chosen, why)
    assert len(found.candidates) == tried


def test_known_losses_are_taken_as_they_are(sets, quick):
    """And with them the same is chosen, failures included."""
    known: dict[tuning.Key, np.ndarray] = {}
    (first,), _ = tune(sets, (2,), quick, seed=np.random.SeedSequence(0), known=known)
    (again,), notes = tune(sets, (2,), quick, seed=np.random.SeedSequence(0), known=known)
    assert again.key == first.key
    assert not notes
    np.testing.assert_array_equal(again.losses, known[first.key])
    known[first.key] = np.array([np.nan, 1.0])
    (other,), notes = tune(sets, (2,), quick, seed=np.random.SeedSequence(0), known=known)
    assert other.key != first.key
    assert len(notes) == 1


def test_average_gradient_against_differences():
    random = np.random.default_rng(0)
    x = random.standard_normal((20, 3))
    layers = tuple(
        Layer(random.standard_normal(shape), random.standard_normal(shape[0]))
        for shape in ((5, 3), (2, 5))
    )
    for activation in ("arctan", "tanh"):
        found = average_gradient(layers, activation, x)
        for j in range(3):
            step = np.zeros(3)
            step[j] = 1e-6
            ahead, behind = (apply(layers, activation, x + s) for s in (step, -step))
            np.testing.assert_allclose(found[:, j], (ahead - behind).mean(axis=0) / 2e-6, atol=1e-7)


def test_order_and_sign_do_not_depend_on_how_the_network_came_out():
    random = np.random.default_rng(1)
    x = random.standard_normal((200, 3))
    head = np.arange(200) % 2
    utilities = np.where(head == 1, 2.0, -2.0) * x[:, 2] + 0.3 * x[:, 0]
    weights = np.array([[1.0, 0, 0], [0, 0, -0.5]])
    turned = np.array([[0, 0, 0.5], [-1.0, 0, 0]])
    found = [
        identified((Layer(w, np.zeros(2)),), "arctan", x, utilities, head)[0].weights
        for w in (weights, turned)
    ]
    np.testing.assert_array_equal(found[0], [[0, 0, 0.5], [1.0, 0, 0]])
    np.testing.assert_array_equal(found[0], found[1])


def test_many_rows_go_through_layers_in_parts(monkeypatch):
    random = np.random.default_rng(0)
    layers = [Layer(random.normal(size=(out, 3)), random.normal(size=out)) for out in (3, 2)]
    rows = random.normal(size=(50, 3))
    at_once = apply(layers, "arctan", rows)
    monkeypatch.setattr(of_layers, "ROWS_NEAR", 7)
    np.testing.assert_allclose(apply(layers, "arctan", rows), at_once, rtol=1e-12)
    assert apply((), "arctan", rows) is rows
