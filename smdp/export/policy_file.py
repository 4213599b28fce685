"""A learned policy as one small text file that recommends without this library."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import NormalDist
from typing import IO, Any

import numpy as np

from smdp import __version__
from smdp.atomic_write import write_whole
from smdp.data.preparation_settings import ImputationSettings
from smdp.data.prepare import PreparedData
from smdp.data.rescale import level_boundaries
from smdp.data.text_embedding import TextEmbedding
from smdp.data.trajectories import Trajectories
from smdp.errors import DataError
from smdp.export import policy_reader
from smdp.feature_map.layers import Layer
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.point_of_use import DIGITS, Measured, PointOfUse, StateColumn, point_of_use
from smdp.policy.q_function import QFunction
from smdp.policy.rule_card import End, RuleCard, Tree
from smdp.policy.support import ROUNDING, Support
from smdp.text import listing

FORMAT, VERSION = "smdp policy", 1
WITH_WORDS = 2  # the version of a file with nominal variables or texts
#: With a rule card, or of a pessimistic policy, by which an older reader would not abide.
WITH_MORE = 3
READER = "policy_reader.py"

PURPOSE = (
    "Says which action a policy learned from one trial would take, for a person like those of the "
    "trial, from the reports that she has given so far."
)
NOT_FOR = (
    "Not a medical device and not tested in people: a policy has to be tried in a trial of its own "
    "before it treats anyone. Not for people, doses or circumstances that the trial did not have. "
    "Where it gives no recommendation, it has none; do not take 'best' instead."
)
HOW_MISSING = (
    "A missing value is the fitted value of a local polynomial (span, degree) of the person's own "
    "reports so far on the decision number, clipped to 'limits', to so many significant digits, "
    "and rounded (halves to even) where 'whole'; one that was always the same is carried; without "
    "any report of it, the study's median stands in. Where nothing at all was ever reported, there "
    "is no recommendation."
)
HOW_WORDS_MISSING = (
    " A missing level is the person's last one before; before the first one it is the one that she "
    "has most often (of several the first), and without any the study's most frequent. A level "
    "that the study did not have is 'other', if there is that, else missing. A missing text has no "
    "words."
)
HOW_TEXTS = (
    "Words are two letters or more, in lower case; a word's bucket is its CRC-32 modulo 1024. Each "
    "bucket has log(1 + count) times its first number, all divided by their Euclidean length; the "
    "text's numbers are the sums over the buckets of that times the further numbers."
)
HOW_AVAILABLE = (
    "Where no action can be chosen there is no recommendation; where only some can, the best of "
    "these. It has to be told so at each decision."
)
HOW_SUPPORT = (
    "Decisions of the trial as standardised features and the action taken, in no order and without "
    "names. No recommendation where they are far away, or where too few of the nearest ones had "
    "one of the actions."
)
HOW_CARD = (
    "A rule to be said aloud, beside the policy: 'measured' and 'columns' are as above, in own "
    "units. A question is answered with yes where the largest of its columns is at least the cut, "
    "or with no if it is 'turned'. 'action' is the place among the actions; where it cannot be "
    "chosen, the first that can."
)


def export_policy(
    policy: LearnedPolicy,
    data: PreparedData | Trajectories | None,
    target: str | os.PathLike[str] | IO[str],
    *,
    support: bool = True,
    card: RuleCard | None = None,
    model_card: Mapping[str, Any] | None = None,
) -> str:
    """Write the policy as JSON and return its fingerprint; the reader is put beside a file.

    `data`: the study that it was learned from, which gives ranges, imputation and rescaling (with
    trajectories alone, variables are asked for in the trajectories' units; with None, a missing
    value becomes the study's mean and no range is known). `support=False` leaves out the decisions
    of the trial, and with them the check whether a state is like those of the trial. `card`: the
    rule card of the policy, which the file then holds too. `model_card`: plain values that go into
    the file (`smdp.report.model_card`).

    The reader, `policy_reader.py`, is plain Python without any package; its recommendations are
    those of `state_now` and `LearnedPolicy.decide`.
    """
    text = policy_text(policy, data, support=support, card=card, model_card=model_card)
    if isinstance(target, str | os.PathLike):
        path = Path(target)
        write_whole(path, text.encode())
        write_whole(path.parent / READER, reader_source().encode())
    else:
        target.write(text)
    return str(json.loads(text)["fingerprint"])


def reader_source() -> str:
    """The program that reads the file, to be put beside it."""
    return Path(str(policy_reader.__file__)).read_text(encoding="utf-8")


def policy_text(
    policy: LearnedPolicy,
    data: PreparedData | Trajectories | None,
    *,
    support: bool = True,
    card: RuleCard | None = None,
    model_card: Mapping[str, Any] | None = None,
) -> str:
    """The file's content. Numbers are written so that they come back exactly."""
    content = _content(policy, data, support)
    if card is not None:
        content["card"] = _card(card, data, policy.action_labels)
    if model_card is not None:
        content["model_card"] = dict(model_card)
    try:
        exact = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError as problem:
        raise DataError(
            "The policy holds numbers that are not finite.", "Learn it again from complete data."
        ) from problem
    fingerprint = hashlib.sha256(exact.encode()).hexdigest()
    parts = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in content.items()]
    lines = ",\n".join(parts)
    version = WITH_WORDS if "texts" in content else VERSION
    if card is not None or policy.reference is not None:
        version = WITH_MORE
    head = f'"format": "{FORMAT}", "version": {version}, "fingerprint": "{fingerprint}"'
    return f'{{{head},\n"content": {{\n{lines}\n}}}}\n'


def use_of(policy: LearnedPolicy, data: PreparedData | Trajectories | None) -> PointOfUse:
    """What turns a person's reports into the variables that the policy uses."""
    fitted = policy.feature_map
    used = fitted.variables_used
    if data is None:
        centre = dict(zip(fitted.variables, fitted.centre.tolist(), strict=True))
        return PointOfUse(
            measured=tuple(
                Measured(fitted.variable(name).as_held(), False, None, None, centre[name])
                for name in used
            ),
            columns=tuple(StateColumn(name, "value", j) for j, name in enumerate(used)),
            imputation=ImputationSettings(),
            levels=None,
            action_labels=policy.action_labels,
            available=None,
        )
    use = point_of_use(used, data)
    if use.action_labels != policy.action_labels:
        raise DataError(
            f"The policy chooses among {listing(policy.action_labels)}, but the study's actions "
            f"are {listing(use.action_labels)}.",
            "Give the study that the policy was learned from.",
        )
    return use


def use_of_card(card: RuleCard, data: PreparedData | Trajectories) -> PointOfUse:
    """What turns a person's reports into the variables that the card asks for, in own units."""
    use = point_of_use(card.variables, data)
    own = (replace(each, variable=each.variable.in_own_units()) for each in use.measured)
    return replace(use, measured=tuple(own), levels=None)


def _card(
    card: RuleCard, data: PreparedData | Trajectories | None, labels: Sequence[str]
) -> dict[str, Any]:
    if data is None or card.action_labels != tuple(labels):
        raise DataError(
            "The rule card is not of this policy, or the study that it is of is not here.",
            "Give the study and the card that was made of the policy.",
        )
    use = use_of_card(card, data)

    def told(tree: Tree) -> dict[str, Any]:
        if isinstance(tree, End):
            return {"action": tree.action, "label": card.action_labels[tree.action]}
        question = tree.question
        return {
            "question": question.words(),
            "columns": [card.variables.index(name) for name in question.columns],
            "cut": question.cut,
            "turned": question.turned,
            "yes": told(tree.yes),
            "no": told(tree.no),
        }

    return {
        "says": card.in_words(),
        "rule": HOW_CARD,
        "measured": [_asked(each) for each in use.measured],
        "columns": [_column(each) for each in use.columns],
        "tree": told(card.tree),
    }


def _content(
    policy: LearnedPolicy, data: PreparedData | Trajectories | None, support: bool
) -> dict[str, Any]:
    use, fitted = use_of(policy, data), policy.feature_map
    used = [fitted.variables.index(name) for name in fitted.variables_used]
    first = Layer(fitted.layers[0].weights[:, used], fitted.layers[0].bias)
    settings = policy.settings
    levels = None
    if use.levels is not None:
        levels = {
            "values": use.levels.tolist(),
            "boundaries": level_boundaries(use.levels).tolist(),
        }
    words = {}
    if use.texts or any(each.variable.kind == "nominal" for each in use.measured):
        words = {"texts": {"rule": HOW_TEXTS, "of": [_text(each) for each in use.texts]}}
    caution = {}
    if policy.reference is not None:
        caution = {"reference": policy.reference, "pessimism": settings.pessimism}
    return {
        "about": {
            "made_by": f"smdp {__version__}",
            "purpose": PURPOSE,
            "not_for": NOT_FOR,
            "model": settings.model,
            "discount": settings.discount,
            "notes": list(policy.notes),
        },
        "actions": list(policy.action_labels),
        "availability": {"column": use.available, "rule": HOW_AVAILABLE},
        "measured": [_asked(each) for each in use.measured],
        "columns": [_column(each) for each in use.columns],
        "imputation": {
            **asdict(use.imputation),
            "digits": DIGITS,
            "rule": HOW_MISSING + (HOW_WORDS_MISSING if words else ""),
        },
        "levels": levels,
        "rule": {
            "z": NormalDist().inv_cdf(1 - settings.abstain_level),
            "abstain_level": settings.abstain_level,
            "least_share": settings.least_share,
            **caution,
        },
        "feature_map": _network(
            fitted.centre[used],
            fitted.scale[used],
            (first, *fitted.layers[1:]),
            [fitted.activation] * len(fitted.layers),
        ),
        "q": _q(policy.q),
        "resampled": [_q(each) for each in policy.resampled],
        "support": _support(policy.support) if support and policy.support else None,
        **words,
        **({"study": _columns_of(data)} if isinstance(data, PreparedData) else {}),
    }


def _columns_of(data: PreparedData) -> dict[str, str | None]:
    """What the study's table calls its columns, so that a log can call them the same."""
    roles = data.completed.arranged.roles
    return {
        "subject": roles.subject,
        "time": roles.time,
        "action": roles.action,
        "available": roles.available,
    }


def _column(column: StateColumn) -> dict[str, Any]:
    own = asdict(column)
    if column.kind != "level":
        del own["level"]
    del own["whole"]
    return own


def _text(embedding: TextEmbedding) -> dict[str, Any]:
    """Only buckets with words that the trial had: a word that nobody wrote says nothing."""
    return {
        "name": embedding.name,
        "columns": list(embedding.columns),
        "words": [list(words) for words in embedding.words],
        "buckets": {
            str(place): [weight, *embedding.axes[place].tolist()]
            for place, weight in enumerate(embedding.rarity.tolist())
            if weight
        },
    }


def _asked(measured: Measured) -> dict[str, Any]:
    """The first lines are for the reader, the others for those who write the questions."""
    variable = measured.variable
    ends = [variable.low, variable.high]
    return {
        "name": measured.name,
        "whole": measured.whole,
        "limits": measured.limits,
        "seen": measured.seen,
        "median": measured.median,
        "unit": measured.unit,
        "counted": measured.counted,
        "label": variable.label,
        "kind": variable.kind,
        "range": None if None in ends else ends,
        "measured_in": variable.unit,
        "names_of_values": [list(level) for level in variable.levels],
        **({"part_of_text": variable.whole} if variable.whole_kind == "text" else {}),
    }


def _q(q: QFunction) -> dict[str, Any]:
    activations = ["relu"] * (len(q.layers) - 1) + ["identity"]
    return _network(q.centre, q.scale, q.layers, activations)


def _network(
    centre: np.ndarray, scale: np.ndarray, layers: Sequence[Layer], activations: Sequence[str]
) -> dict[str, Any]:
    return {
        "centre": centre.tolist(),
        "scale": scale.tolist(),
        "layers": [
            {"activation": name, "weights": layer.weights.tolist(), "bias": layer.bias.tolist()}
            for layer, name in zip(layers, activations, strict=True)
        ],
    }


def _support(support: Support) -> dict[str, Any]:
    # Sorted, so that nobody's course over time can be read from the file.
    order = np.lexsort((*support.points.T[::-1], support.taken))
    return {
        "rule": HOW_SUPPORT,
        "neighbours": support.neighbours,
        "radius": max(support.radius, ROUNDING),
        "rounding": ROUNDING,
        "taken": support.taken[order].tolist(),
        "points": support.points[order].tolist(),
    }
