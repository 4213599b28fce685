"""Alternating networks as a kind of map: its names and its paragraph of a methods section."""

from __future__ import annotations

from smdp.feature_map.adnn.dimension import BARELY
from smdp.feature_map.adnn.iterate import fit_feature_map
from smdp.feature_map.adnn.map_settings import FeatureMapSettings
from smdp.feature_map.adnn.without_each import refit_without_each
from smdp.feature_map.base import PAPER, MapKind, tuned_words
from smdp.text import percent


def _methods(settings: FeatureMapSettings, inputs: str) -> str:
    depths = " or ".join(map(str, settings.depths))
    form = (
        f"phi(s) = {settings.activation}(Ws + b)"
        if settings.interpretable
        else f"a network with {depths} hidden layers"
    )
    turns = ", one action after the other," if settings.updates == "alternating" else " together"
    starts = "" if settings.restarts == 1 else f", as the best of {settings.restarts} starts"
    penalty = tuned_words("The penalty", settings.penalties, settings.folds)
    decay = tuned_words("Its weight decay", settings.refit_weight_decays, settings.folds)
    return (
        f"From {inputs}, a low-dimensional feature map, {form}, was learned by alternating deep "
        f"neural networks {PAPER}: the map and a network for each action{turns} predicted the "
        "utility and the next state by least squares, with a penalty on the norm of each "
        "variable's weights in the first layer, so that variables could drop out. "
        f"{penalty} The map was then fitted again to the selected variables without that "
        f"penalty{starts}. {decay} {_dimension(settings)}"
    )


def _dimension(settings: FeatureMapSettings) -> str:
    tried = (
        "from 1 to the number of variables"
        if settings.dimensions is None
        else ", ".join(map(str, settings.dimensions))
    )
    if settings.two_questions:
        return _two_questions(settings, tried) + _repeated(settings)
    if settings.test == "relative":
        how = (
            "a comparison with a map of full dimension: out-of-fold residuals of the smaller map "
            "had to depend more on the state, by distance covariance within actions (Székely et "
            "al., 2007) with a jackknife standard error (Arvesen, 1969), and its squared error had "
            f"to exceed the other's by more than {percent(settings.margin)}"
        )
    else:
        condition = "(i)" if settings.condition == "i" else "(ii)"
        how = (
            "a permutation test of the independence of out-of-fold residuals and the state within "
            f"actions, condition {condition} of Lemma 3.4 {PAPER}"
        )
    text = (
        f"Dimensions ({tried}) were tried upwards until one was not rejected at level "
        f"{settings.level:g} by {how}."
    )
    return text + _repeated(settings)


def _two_questions(settings: FeatureMapSettings, tried: str) -> str:
    following = (
        "its own next features (Theorem 3.5), as they came out of the fit before, until these "
        "settled"
        if settings.test == "closed"
        else "every variable's next value"
    )
    exact = (
        "the smallest that was not rejected at level "
        f"{settings.level:g} by a test of the dimension of the outcome's mean, over all actions "
        "together, in the directions that no error in the map or in its networks can reach, with "
        "people as the sample (Cook, 2007, for the dimension; Chwialkowski et al., 2014, for the "
        "signs)"
    )
    practical = (
        "the smallest that kept, with 95 % confidence over people, more than "
        f"{percent(1 - settings.negligible)} of what the full state explained of the utility out "
        "of fold (Fieller, 1954)"
    )
    choice = {
        "exact": f"The dimension was {exact}.",
        "practical": f"The dimension was {practical}.",
        "exact_first": f"The dimension was {exact}; where only as many features as variables "
        f"passed, it was {practical}, those first that were rejected with a p-value above "
        f"{BARELY * settings.level:g}.",
    }[settings.choose_by]
    return (
        f"Without penalty, the map was fitted to predict the utility and {following}. "
        f"Dimensions ({tried}) were tried upwards. {choice}"
    )


def _repeated(settings: FeatureMapSettings) -> str:
    text = ""
    if settings.reason.strip():
        text += f" Dimensions were set by hand for this reason: {settings.reason.strip()}"
    if settings.iterate:
        text += " This was repeated on the variables that were kept until none dropped out."
        if len(settings.penalties) > 1:
            text += (
                " Before that was taken as final, larger penalties were tried: of the maps that "
                "were enough and, fitted again without penalty, did not predict held-out "
                "subjects clearly worse (one standard error), the one of the fewest variables was "
                "used."
            )
    return text


ADNN = MapKind(
    name="adnn",
    title="Alternating network (the paper's)",
    settings=FeatureMapSettings,
    fit=fit_feature_map,
    methods=_methods,
    refit=refit_without_each,
    tests_dimension=True,
    stability=True,
    keeps_finished=True,
)
