"""Saved analyses of earlier formats, brought up to the present one, step by step.

The parts of a file come in as the older version wrote them and go out as the next one would have
written them. What a version called its classes is written down here once and for all; the present
names are in `smdp.saved_types`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from smdp.analysis.variables_of_format_1 import with_variables
from smdp.data.column_roles import NEVER_ASKED
from smdp.plain_data import plain_json

Parts = dict[str, bytes]

#: Format 1 named the classes by their modules.
TAGS_OF_FORMAT_1 = {
    "smdp.data.column_roles:StateVariable": "variable",
    "smdp.data.column_roles:NextValue": "next value",
    "smdp.data.column_roles:ColumnRoles": "column roles",
    "smdp.analysis.step_plans:ReadingSettings": "reading settings",
    "smdp.settings:ImputationSettings": "imputation settings",
    "smdp.settings:RescalingSettings": "rescaling settings",
    "smdp.settings:PreparationSettings": "preparation settings",
    "smdp.settings:ScreeningSettings": "screening settings",
    "smdp.settings:FeatureMapSettings": "feature map settings",
    "smdp.policy.settings:PolicySettings": "policy settings",
    "smdp.policy.evaluation_settings:EvaluationSettings": "evaluation settings",
    "smdp.analysis.step_plans:ScreeningPlan": "screening plan",
    "smdp.analysis.step_plans:FeatureMapPlan": "feature map plan",
    "smdp.analysis.step_plans:StabilityPlan": "stability plan",
    "smdp.analysis.step_plans:PolicyPlan": "policy plan",
    "smdp.analysis.step_plans:EvaluationPlan": "evaluation plan",
    "smdp.analysis.step_plans:PlaceboPlan": "placebo plan",
    "smdp.analysis.step_plans:TrialPlan": "trial plan",
    "smdp.data.study:Study": "study",
    "smdp.data.exclude:Exclusion": "exclusion",
    "smdp.data.study:Cell": "cell",
    "smdp.data.impute:ImputedStudy": "imputed study",
    "smdp.data.prepare:CompletedStudy": "completed study",
    "smdp.data.rescale:RescaledStudy": "rescaled study",
    "smdp.data.prepare:PreparedData": "prepared data",
    "smdp.data.trajectories:Trajectories": "trajectories",
    "smdp.screening:ScreeningRound": "screening round",
    "smdp.screening:ScreeningResult": "screening",
    "smdp.feature_map.layers:Layer": "layer",
    "smdp.feature_map.result:FittedFeatureMap": "feature map",
    "smdp.feature_map.stability:FeatureMapStability": "stability",
    "smdp.policy.q_function:QFunction": "q-function",
    "smdp.policy.support:Support": "support",
    "smdp.policy.learned_policy:LearnedPolicy": "policy",
    "smdp.policy.evaluation:PolicyValue": "policy value",
    "smdp.policy.placebo:PlaceboCheck": "placebo check",
    "smdp.policy.trial_summary:TrialSummary": "trial summary",
    "smdp.data.problem:Problem": "problem",
    "smdp.analysis.provenance:TableSource": "table source",
    "smdp.analysis.provenance:StepRecord": "step record",
    "smdp.simulation.study_settings:SimulationSetting": "simulation setting",
    "smdp.simulation.study_settings:StudySettings": "study settings",
    "smdp.simulation.missing_data:MissingData": "missing data",
    "smdp.simulation.generative_model:GenerativeModel": "generative model",
    "smdp.simulation.study_store:StudyRows": "study rows",
    "smdp.simulation.planning:StudyPlan": "study plan",
}


#: In format 1 every feature map and plan of one had the settings of alternating networks; of these,
#: what the map of a kind ever used.
OF_ALTERNATING_NETWORKS = (
    "interpretable", "dimensions", "widths", "depths", "penalties", "folds", "level",
    "permutations", "condition", "test", "margin", "pooling", "iterate", "updates", "activation",
    "steps", "batch", "learning_rate", "weight_decay", "polish_steps", "weak_columns",
    "refit_steps", "refit_weight_decays", "restarts", "reason",
)  # fmt: skip
OF_SEPARATE_NETWORKS = tuple(
    name
    for name in OF_ALTERNATING_NETWORKS
    if name not in ("level", "permutations", "condition", "test", "margin", "pooling", "iterate",
                    "updates", "reason")
)  # fmt: skip
USED_IN_FORMAT_1: Mapping[str, tuple[str, ...]] = {
    "adnn": OF_ALTERNATING_NETWORKS,
    "tnn": OF_SEPARATE_NETWORKS,
    "pca": (),
    "identity": (),
}


#: Format 1 did not say which data were made up; those of these files were.
SAMPLES_OF_FORMAT_1 = (
    "basics_mobile_synthetic.csv", "basics_mobile_synthetic.xlsx", "basics_mobile_synthetic.sav",
    "basics_mobile_synthetic_wide.csv", "three_action_synthetic.csv",
)  # fmt: skip


def from_format_1(parts: Parts) -> Parts:
    """Classes get tags, each kind of map its own settings, and variables become objects."""
    tagged = {name: _with_tags(content) if _is_structure(name) else content
              for name, content in parts.items()}  # fmt: skip
    if "table.json" in tagged:
        tagged["table.json"] = _with_facts_of_table(tagged["table.json"])
    if not {"plan.json", "arrays.npz"} <= tagged.keys():
        return tagged  # not a whole file, which will be refused
    return with_variables(tagged, [name for name in tagged if _is_structure(name)])


def _is_structure(name: str) -> bool:
    return name.endswith(".json") and name != "plan.json"


def _with_tags(content: bytes) -> bytes:
    return plain_json(_tagged(json.loads(content))).encode()


def _with_facts_of_table(content: bytes) -> bytes:
    """Format 1 had them in the file's name and in the description of its format."""
    pairs = json.loads(content)["$map"]
    known = dict(pairs)
    pairs.append(["decimal_comma", "decimal comma" in str(known.get("format", ""))])
    pairs.append(["synthetic", known.get("source") in SAMPLES_OF_FORMAT_1])
    return plain_json({"$map": pairs}).encode()


def plan_from_format_1(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan's table without the settings that its kind of feature map never used."""
    features = plan.get("features")
    if not isinstance(features, dict):
        return plan
    kind = features.get("kind", "adnn")
    used = USED_IN_FORMAT_1.get(kind if isinstance(kind, str) else "", OF_ALTERNATING_NETWORKS)
    unused = set(OF_ALTERNATING_NETWORKS) - set(used)
    return plan | {"features": {k: v for k, v in features.items() if k not in unused}}


def _tagged(code: Any) -> Any:
    if isinstance(code, list):
        return [_tagged(each) for each in code]
    if not isinstance(code, dict):
        return code
    found = {key: _tagged(value) for key, value in code.items()}
    for mark in ("$class", "$enum"):
        if mark in found:
            found[mark] = TAGS_OF_FORMAT_1[found[mark]]
    if found.get("$class") in ("feature map", "feature map plan"):
        own = found["fields"]
        own["settings"] = _of_kind(own["settings"], own["kind"])
        if "notes" in own:
            own["notes"] = _without(own["notes"], STOPPED, ALL_REJECTED)
    elif found.get("$class") == "study settings":
        found["fields"]["tnn"] = _of_kind(found["fields"]["tnn"], "tnn")
    elif found.get("$class") == "exclusion":
        found["fields"] = _with_cause(**found["fields"])
    elif found.get("$class") == "table source":
        found["fields"]["synthetic"] = found["fields"]["name"] in SAMPLES_OF_FORMAT_1
    elif found.get("$class") == "policy value":
        found["fields"]["cautions"] = _without(found["fields"].pop("warnings"), NO_INTERVAL)
    return found


#: Sentences that format 1 kept, and that are now made of what a result holds beside them.
NO_INTERVAL = "No interval for the policy"
STOPPED, ALL_REJECTED = "Stopped after pass", "Every dimension tried was rejected"


def _without(sentences: dict[str, Any], *beginnings: str) -> dict[str, Any]:
    return {"$tuple": [text for text in sentences["$tuple"] if not text.startswith(beginnings)]}


def _with_cause(subject: str, reason: str, missing_share: float) -> dict[str, Any]:
    """Format 1 had the cause of an exclusion in its sentence alone."""
    known: dict[str, Any] = {"subject": subject, "missing_share": missing_share}
    if limit := re.search(r" are missing \(limit ([\d.]+) %\)$", reason):
        return known | {"cause": "too much missing", "limit": float(limit[1]) / 100}
    empty = "has no value at all of "
    if reason.startswith(empty):
        names = reason.removeprefix(empty).split(", ")
        return known | {"cause": "empty series", "variables": {"$tuple": names}}
    return known | {"cause": "by hand" if reason == "left out by hand" else "single row"}


def _of_kind(settings: dict[str, Any], kind: str) -> dict[str, Any]:
    if kind == "adnn":
        return settings
    used = {k: v for k, v in settings["fields"].items() if k in USED_IN_FORMAT_1[kind]}
    return {"$class": f"{kind} settings", "fields": used}


def from_format_2(parts: Parts) -> Parts:
    """Studies are no longer wrapped twice, rescaling has settings of its own in the plan, and
    screening as in the paper is one of several methods.

    The plan in the file is migrated as a plan.
    """
    return {
        name: plain_json(_unwrapped(json.loads(content))).encode()
        if _is_structure(name)
        else content
        for name, content in parts.items()
    }


def _unwrapped(code: Any) -> Any:
    if isinstance(code, list):
        return [_unwrapped(each) for each in code]
    if not isinstance(code, dict):
        return code
    found = {key: _unwrapped(value) for key, value in code.items()}
    own: dict[str, Any] = found.get("fields", {})
    if found.get("$class") == "completed study":
        own |= own.pop("imputed")["fields"]
    elif found.get("$class") == "prepared data":
        del own["settings"]
        rescaled, own["study"] = own.pop("rescaled"), own["completed"]["fields"]["study"]
        if rescaled is not None:
            scale = rescaled["fields"]
            own["study"] = scale.pop("imputed")["fields"]["study"]
            own["study"]["fields"] |= scale
    elif found.get("$class") == "preparation settings":
        del own["rescaling"]
        found["$class"] = "completion settings"
    elif found.get("$class") == "screening settings":
        own["method"] = "paper"
    return found


def plan_from_format_2(plan: dict[str, Any]) -> dict[str, Any]:
    """Rescaling was asked for among the settings of missing values; all screened as the paper."""
    if isinstance(screening := plan.get("screening"), dict):
        plan = plan | {"screening": {"method": "paper", **screening}}
    preparation = plan.get("preparation")
    if not isinstance(preparation, dict) or "rescaling" not in preparation:
        return plan
    own = dict(preparation)
    rescaling = own.pop("rescaling")
    return plan | {"preparation": own, "rescaling": rescaling}


def plan_from_format_3(plan: dict[str, Any]) -> dict[str, Any]:
    """Where a plan said nothing, the dimension was chosen by a comparison with the full state."""
    features = plan.get("features")
    if not isinstance(features, dict) or features.get("kind", "adnn") != "adnn":
        return plan
    return plan | {"features": {"test": "relative", **features}}


def from_format_3(parts: Parts) -> Parts:
    """Nobody was asked whether a state is known before the decision."""
    return {
        name: plain_json(_never_asked(json.loads(content))).encode()
        if _is_structure(name)
        else content
        for name, content in parts.items()
    }


def _never_asked(code: Any) -> Any:
    if isinstance(code, list):
        return [_never_asked(each) for each in code]
    if not isinstance(code, dict):
        return code
    found = {key: _never_asked(value) for key, value in code.items()}
    if found.get("$class") == "column roles":
        found["fields"]["known_before"] = {"$tuple": [NEVER_ASKED]}
    return found


def plan_from_format_4(plan: dict[str, Any]) -> dict[str, Any]:
    """As in saved files: what a plan of an earlier format does still runs, with a warning."""
    roles = plan.get("roles")
    if not isinstance(roles, dict):
        return plan
    return plan | {"roles": {"known_before": [NEVER_ASKED], **roles}}


#: How effects of treatment were estimated until format 4 of files and format 5 of plans.
EFFECTS_OF_FORMAT_4 = {"each_decision": False, "kind": "continuous"}


def from_format_4(parts: Parts) -> Parts:
    """Effects of treatment were of transitions, on the utility as a number."""
    return {
        name: plain_json(_effects_as_before(json.loads(content))).encode()
        if _is_structure(name)
        else content
        for name, content in parts.items()
    }


def _effects_as_before(code: Any) -> Any:
    if isinstance(code, list):
        return [_effects_as_before(each) for each in code]
    if not isinstance(code, dict):
        return code
    found = {key: _effects_as_before(value) for key, value in code.items()}
    if found.get("$class") == "trial plan":
        found["fields"] |= EFFECTS_OF_FORMAT_4
    return found


def plan_from_format_5(plan: dict[str, Any]) -> dict[str, Any]:
    """As in saved files; effects were the last step, so that no plan that ended before did them."""
    last = plan.get("stop_after")
    if last == "trial":
        return plan_from_format_5({k: v for k, v in plan.items() if k != "stop_after"})
    trial = plan.get("trial")
    if not isinstance(trial, dict):
        return plan
    if last is not None:
        return {name: own for name, own in plan.items() if name != "trial"}
    return plan | {"trial": {**EFFECTS_OF_FORMAT_4, **trial}}


#: How policies were judged until format 5 of files and format 6 of plans.
JUDGED_UNTIL_FORMAT_5: dict[str, Any] = {"judged": "quick"}
#: And with what their values were modelled: with the policy's variables alone.
MODELLED_UNTIL_FORMAT_5: dict[str, Any] = {"moved": False}


def from_format_5(parts: Parts) -> Parts:
    """Variables and dimension were chosen with everybody before policies were judged."""
    return {
        name: plain_json(_judged_as_before(json.loads(content))).encode()
        if _is_structure(name)
        else content
        for name, content in parts.items()
    }


def _judged_as_before(code: Any) -> Any:
    if isinstance(code, list):
        return [_judged_as_before(each) for each in code]
    if not isinstance(code, dict):
        return code
    found = {key: _judged_as_before(value) for key, value in code.items()}
    if found.get("$class") == "evaluation plan":
        found["fields"] |= JUDGED_UNTIL_FORMAT_5
    if found.get("$class") == "evaluation settings":
        found["fields"] |= MODELLED_UNTIL_FORMAT_5
    return found


def plan_from_format_6(plan: dict[str, Any]) -> dict[str, Any]:
    """As in saved files."""
    before: dict[str, dict[str, Any]] = {
        "evaluation": JUDGED_UNTIL_FORMAT_5 | MODELLED_UNTIL_FORMAT_5,
        "placebo": MODELLED_UNTIL_FORMAT_5,
    }
    own = {name: plan[name] for name in before if isinstance(plan.get(name), dict)}
    return plan | {name: {**before[name], **section} for name, section in own.items()}


#: From each older format to the next: parts in, parts out.
MIGRATIONS: Mapping[int, Callable[[Parts], Parts]] = {
    1: from_format_1,
    2: from_format_2,
    3: from_format_3,
    4: from_format_4,
    5: from_format_5,
}
#: The same for a plan's text, whose formats are counted on their own.
PLAN_MIGRATIONS: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: plan_from_format_1,
    2: plan_from_format_2,
    3: plan_from_format_3,
    4: plan_from_format_4,
    5: plan_from_format_5,
    6: plan_from_format_6,
}
