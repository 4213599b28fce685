"""Does the outcome's mean, over all actions together, have q dimensions? By people's signs.

With h_a(phi(s)) = E(Y | s, a) for every action a, the surface s -> {E(Y_j | s, a)}_aj has dimension
q. Networks phi_k and heads h_a are fitted without fold k, R are the residuals of its people. A
fitted map is never quite sufficient, so R always depends on the state a little: a test of that
rejects the true dimension too. What can be tested is what no error in phi and no error in the heads
could do. For each row of fold k, z = phi_k(s), over all coordinates (a, j) of action and outcome,
with sigma_aj the root mean square of R_j after action a, pi_a the row's probability of a, and c_a
the mean of pi_a over all rows:

    r_aj = 1{A = a} sqrt(c_a) R_j / (sigma_aj pi_a),    B_aj,l = sqrt(c_a) / sigma_aj dh_aj/dz_l.

The mean of r is what is wrong with the surface at s. An error d in phi(s) makes it B d: so
e = r - B (B'B + kappa I)^-1 B' r, row by row, is without it (to first order). Errors in the heads
are functions of z, and so is what becomes of them in e. They are orthogonal to

    psi~ = psi(s) minus its regression on functions of z,

psi being the standardised state and random cosines of it, and functions of z being z and random
cosines of it, within a fold. Then g_i = sum over person i's rows of psi~ (outer) e has mean zero if
the dimension is q, up to products of two errors, and people's signs make the p-value
(`smdp.independence.signs`). psi~ is centred within time, so that a trend in common is no finding.

Regressing psi on the very rows that are tested is what makes out-of-fold residuals usable here:
people of one fold share the errors of their heads, which signs could not flip together, and in the
sum over the fold they cancel. Nothing has to be restored: e is as large as its errors are.

Where probabilities are constant, r and B are those of a row weighted by sqrt(pi_a). Where they
differ by state, weights of the row itself would make the heads' errors functions of more than z.
Decisions without a choice are coordinates of their own with probability 1: there only their own
head has rows in B, and functions of z are regressed out among themselves.

*Is one layer enough?* (`form_test`) The same for maps phi(s) = act(W s + b), where an error in phi
can only be diag(act'(W s + b)) (dW s + db). Instead of everything that an error of any form could
do, only that is taken out: with v_lm the coordinates of B_l act'_l s_m (s_0 = 1), less functions of
z, and t_i = sum over person i's rows of <v, r>, her scores of psi~ (outer) r are reduced by their
regression on t, within a fold. Where this rejects and the test of the dimension does not, q
features suffice, but not of this form.

Both look at means only, and at the dimension, not at how well this map was trained. But products of
two errors are small only if networks neither overfit nor stop short of their minimum. With a weight
decay that is too small for the study (linear model, 20 people with 30 decisions) the true dimension
was rejected in 6 of 8 data sets, with the decay that held-out people choose in 1 of 8. With
networks as minibatches leave them it was rejected in 7 of 56 data sets of seven kinds, 3 of them of
the 8 with weak signals; with the same networks polished on all rows (`adnn.polish`) in 2 of 56, and
two features of the quadratic model, one too few, in 6 of 8 instead of 3. For closed features, whose
targets are made of the map itself, it matters what is fitted how well (`adnn.closed`). Size and
power at .05 for fifteen kinds of processes are in bench/dimension_test.md. With the true linear map
and linear heads the size is .045 for 30 people with 90 decisions and .050 for 20 with 30 (200 data
sets each).

References: Cook (2007), "Fisher lecture: dimension reduction in regression"; Neyman (1959),
"Optimal asymptotic tests of composite statistical hypotheses", for scores without what nuisances
can do; Rahimi & Recht (2008) for random cosines; Chwialkowski, Sejdinovic & Gretton (2014) for
signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smdp.data.rows import numbered
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.feature_map.layers import ACTIVATIONS, SLOPES, Layer, Network, apply
from smdp.feature_map.transitions import TrainingSets, Transitions
from smdp.independence.people import Groups, centred
from smdp.independence.signs import (
    FEWEST_PEOPLE,
    PersonScores,
    deviates,
    family_test,
    signs,
)
from smdp.propensity import propensities

Floats = NDArray[np.float64]

COSINES = 100
#: A regression on functions of z has no more columns than this share of its rows: many, since what
#: is left of the heads' errors does harm, and a function of the state that is taken out does not.
MOST_COLUMNS = 0.8
RIDGE = 1e-5  # a share of the rows, columns being standardised
KAPPA = 1e-6  # a share of the mean trace of B'B
DRAWS = 999


@dataclass(frozen=True)
class DimensionTested:
    """The p-value, and the statistic: about standard normal if the dimension is right."""

    p_value: float
    statistic: float


def dimension_test(
    sets: TrainingSets,
    folds: Sequence[Network],
    probabilities: Floats,  # (R, heads)
    *,
    seed: np.random.SeedSequence,
    draws: int = DRAWS,
) -> DimensionTested:
    """Is the surface of as many dimensions as the networks have features?

    `folds`: the networks trained without each fold. As many features as variables are enough by
    definition.
    """
    if _features(folds) >= sets.rows.columns:
        return DimensionTested(1.0, -np.inf)
    _check_folds(sets.rows, folds)
    return surface_test(sets.rows, _by_networks(sets, folds), probabilities, seed=seed, draws=draws)


def form_test(
    sets: TrainingSets,
    folds: Sequence[Network],
    probabilities: Floats,  # (R, heads)
    *,
    seed: np.random.SeedSequence,
    draws: int = DRAWS,
) -> DimensionTested:
    """Is there a map of one layer, with as many features as these have, that is sufficient?"""
    if any(len(network.features) != 1 for network in folds):
        raise ValueError("only maps of one layer can be tested for being of one layer")
    _check_folds(sets.rows, folds)
    surface = _Surface(sets.rows, _by_networks(sets, folds), probabilities, seed)
    return surface.test_of_one_layer(sets, folds, draws)


def head_probabilities(trajectories: Trajectories, rows: Transitions) -> Floats:
    """(R, heads): the probability of each head at each row, known or else estimated.

    Where nothing could be chosen, the head of such decisions has probability 1, and no other.
    """
    actions = len(trajectories.action_labels)
    found = np.zeros((len(rows.head), rows.heads))
    found[:, :actions] = propensities(trajectories, rows, trajectories.variables).given
    forced = rows.head == actions
    found[forced] = np.eye(rows.heads)[-1]
    return found


@dataclass(frozen=True)
class HeldOut:
    """What was predicted of each row by heads that were fitted without its person."""

    residuals: Floats  # (R, outputs), in the outcomes' own units
    features: Floats  # (R, q): z, where the heads were asked
    slopes: Floats  # (R, heads, outputs, q): of each head at z, in the outcomes' own units


def surface_test(
    rows: Transitions,
    held_out: HeldOut,
    probabilities: Floats,  # (R, heads)
    *,
    seed: np.random.SeedSequence,
    draws: int = DRAWS,
) -> DimensionTested:
    """The test of the dimension, of any map with any smooth heads."""
    if held_out.features.shape[1] >= rows.columns:
        return DimensionTested(1.0, -np.inf)
    return _Surface(rows, held_out, probabilities, seed).test(draws)


def _by_networks(sets: TrainingSets, folds: Sequence[Network]) -> HeldOut:
    rows, q = sets.rows, _features(folds)
    residuals = np.empty((len(rows.head), sets.outputs))
    features = np.empty((len(rows.head), q))
    slopes = np.empty((len(rows.head), rows.heads, sets.outputs, q))
    for k, network in enumerate(folds):
        own = ~sets.training(k)
        states, unit = sets.states(k, own), sets.scales[k][1].sd
        error = sets.outcomes(k, own) - network.predict(states, rows.head[own])
        residuals[own] = error * unit
        features[own] = apply(network.features, network.activation, states)
        for a, layers in enumerate(network.heads):
            dh = head_slopes(layers, network.activation, features[own])
            slopes[own, a] = dh * unit[:, None]
    return HeldOut(residuals, features, slopes)


class _Surface:
    """Residuals and slopes of the held-out rows in the coordinates of action and outcome."""

    def __init__(
        self,
        rows: Transitions,
        held_out: HeldOut,
        probabilities: Floats,
        seed: np.random.SeedSequence,
    ) -> None:
        _check(rows, probabilities)
        self._rows, self._z = rows, held_out.features
        self._random = np.random.default_rng(seed)
        residuals, slopes = held_out.residuals, held_out.slopes
        shape = slopes.shape[:-1]
        count, q = len(rows.head), slopes.shape[-1]
        weights = np.zeros(shape)
        size = np.zeros(shape)
        usual = probabilities.mean(axis=0)
        for a in range(rows.heads):
            own = rows.head == a
            rms = np.sqrt(np.square(residuals[own]).mean(axis=0))
            size[:, a] = np.sqrt(usual[a]) / np.where(rms > 0, rms, np.inf)
            weights[own, a] = size[own, a] / probabilities[own, a, None]
        possible = probabilities > 0
        self._r = (weights * residuals[:, None, :]).reshape(count, -1)
        self._b = (size * possible[:, :, None])[..., None] * slopes
        self._b = self._b.reshape(count, -1, q)
        # Rows of one fold with the same heads: whether there was a choice is part of the state.
        self._kind = numbered(possible @ (1 << np.arange(rows.heads)))

    def test(self, draws: int) -> DimensionTested:
        """Of maps of any form."""
        return self._tested(_sums(self._functions_of_state(), self._normal(), self._rows), draws)

    def test_of_one_layer(
        self, sets: TrainingSets, folds: Sequence[Network], draws: int
    ) -> DimensionTested:
        return self._tested(self._without_tangent(self._functions_of_state(), sets, folds), draws)

    def _tested(self, g: Floats, draws: int) -> DimensionTested:
        flips = signs(len(g), draws, self._random)
        found = family_test([deviates(PersonScores(g, g.sum(axis=0)), flips)])
        return DimensionTested(float(found.p_value[0]), float(found.statistic[0]))

    def _normal(self) -> Floats:
        """(R, C): residuals without what an error in phi can do."""
        b, r = self._b, self._r
        gram = b.transpose(0, 2, 1) @ b
        kappa = KAPPA * np.trace(gram, axis1=1, axis2=2).mean() / gram.shape[1]
        gram += max(kappa, np.finfo(float).tiny) * np.eye(gram.shape[1])
        tangent = np.linalg.solve(gram, b.transpose(0, 2, 1) @ r[:, :, None])
        return np.asarray(r - (b @ tangent)[:, :, 0])

    def _functions_of_state(self) -> Floats:
        """(R, p + cosines): psi~"""
        states = _standardised(self._rows.states)
        psi = np.column_stack([states, _cosines(states, self._random)])
        self._regressions = [
            (block, _Regression(_functions(self._z[block], self._random)))
            for block in self._blocks()
        ]
        return centred(self._without_z(psi), Groups(numbered(self._rows.time)))

    def _without_z(self, values: Floats) -> Floats:
        left = np.empty_like(values)
        for block, regression in self._regressions:
            left[block] = regression.residuals(values[block])
        return left

    def _blocks(self) -> Iterator[NDArray[np.intp]]:
        for k in range(self._rows.folds):
            for kind in range(self._kind.max() + 1):
                block = np.flatnonzero((self._rows.fold == k) & (self._kind == kind))
                if len(block):
                    yield block

    def _without_tangent(self, psi: Floats, sets: TrainingSets, folds: Sequence[Network]) -> Floats:
        """(people, ..): scores without what an error in the weights of one layer can do."""
        rows, r = self._rows, self._r
        g = _sums(psi, r, rows).reshape(rows.subjects, psi.shape[1], r.shape[1])
        for k, network in enumerate(folds):
            held_out = ~sets.training(k)
            own, states = np.flatnonzero(held_out), sets.states(k, held_out)
            (layer,) = network.features
            steep = SLOPES[network.activation](states @ layer.weights.T + layer.bias)
            extended = np.column_stack([np.ones(len(own)), states])
            whole = np.zeros((len(r), extended.shape[1]))
            whole[own] = extended
            # B and act' are functions of z: so it is the state that is to be without them.
            part = self._without_z(whole)[own]
            v = (self._b[own] * steep[:, None, :])[..., None] * part[:, None, None, :]
            v = v.reshape(len(own), r.shape[1], -1)  # (rows, C, L)
            gram = np.einsum("rcl,rcm->lm", v, v, optimize=True)
            gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
            scores = np.zeros((rows.subjects, v.shape[2]))
            np.add.at(scores, rows.subject[own], np.einsum("rcl,rc->rl", v, r[own]))
            cross = np.einsum("rcl,rf->lfc", v, psi[own], optimize=True)
            explained = np.linalg.solve(gram, cross.reshape(len(gram), -1))
            g -= (scores @ explained).reshape(g.shape)
        return g.reshape(rows.subjects, -1)


def head_slopes(layers: Sequence[Layer], activation: str, z: Floats) -> Floats:
    """(rows, outputs, q): the derivative of a head, whose last layer is linear, at each z."""
    slope = np.broadcast_to(np.eye(z.shape[1]), (len(z), z.shape[1], z.shape[1]))
    for layer in layers[:-1]:
        before = z @ layer.weights.T + layer.bias
        slope = SLOPES[activation](before)[:, :, None] * (layer.weights @ slope)
        z = ACTIVATIONS[activation](before)
    return np.asarray(layers[-1].weights @ slope)


def squared_slopes(layers: Sequence[Layer], activation: str, z: Floats, counts: Floats) -> Floats:
    """(q, q): the sum over rows and outputs of counts_j (dh_j/dz)' (dh_j/dz)."""
    last = layers[-1].weights
    if len(layers) != 2:
        slopes = head_slopes(layers, activation, z)
        return np.asarray(np.einsum("rjk,j,rjl->kl", slopes, counts, slopes, optimize=True))
    # With one hidden layer, the derivatives of its units are all that differs between rows.
    first = layers[0]
    steep = SLOPES[activation](z @ first.weights.T + first.bias)
    units = (steep.T @ steep) * ((last.T * counts) @ last)
    return np.asarray(first.weights.T @ units @ first.weights)


class _Regression:
    """On an intercept and these columns, with a small ridge."""

    def __init__(self, columns: Floats) -> None:
        x = np.column_stack([np.ones(len(columns)), columns])
        gram = x.T @ x
        gram[np.diag_indices_from(gram)] += RIDGE * len(x)
        self._x, self._factor = x, np.linalg.inv(np.linalg.cholesky(gram))

    def residuals(self, values: Floats) -> Floats:
        coefficients = self._factor.T @ (self._factor @ (self._x.T @ values))
        return np.asarray(values - self._x @ coefficients)


def _functions(z: Floats, random: np.random.Generator) -> Floats:
    """z and random cosines of it, as many as the rows allow."""
    standardised = _standardised(z)
    columns = np.column_stack([standardised, _cosines(standardised, random)])
    return _standardised(columns[:, : max(1, int(MOST_COLUMNS * len(z)))])


def _cosines(values: Floats, random: np.random.Generator) -> Floats:
    width = values.shape[1]
    frequencies = random.normal(size=(width, COSINES)) / np.sqrt(max(width, 1))
    phases = random.uniform(0, 2 * np.pi, COSINES)
    return np.asarray(np.cos(values @ frequencies + phases))


def _standardised(values: Floats) -> Floats:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0))


def _sums(x: Floats, y: Floats, rows: Transitions) -> Floats:
    """(people, a * b): of x (outer) y over each person's rows."""
    order = np.argsort(rows.subject, kind="stable")
    ends = np.searchsorted(rows.subject[order], np.arange(rows.subjects + 1))
    found = np.empty((rows.subjects, x.shape[1] * y.shape[1]))
    for i in range(rows.subjects):
        own = order[ends[i] : ends[i + 1]]
        found[i] = (x[own].T @ y[own]).ravel()
    return found


def _features(folds: Sequence[Network]) -> int:
    return len(folds[0].features[-1].bias)


def _check_folds(rows: Transitions, folds: Sequence[Network]) -> None:
    if len(folds) != rows.folds:
        raise ValueError(f"{len(folds)} networks were given for {rows.folds} folds")


def _check(rows: Transitions, probabilities: Floats) -> None:
    expected = (len(rows.head), rows.heads)
    if probabilities.shape != expected:
        raise ValueError(f"probabilities have the shape {probabilities.shape}, not {expected}")
    taken = np.take_along_axis(probabilities, rows.head[:, None], axis=1)
    if not (np.isfinite(probabilities).all() and (taken > 0).all()):
        raise DataError(
            "What was done at some decision has no probability, or one of 0.",
            "Correct the probabilities of treatment, or leave them out to have them estimated.",
        )
    if rows.subjects < FEWEST_PEOPLE:
        raise DataError(
            f"There are {rows.subjects} people, too few for a test by person: it needs "
            f"{FEWEST_PEOPLE}.",
            "Set the number of features by hand (the setting 'dimensions').",
        )
