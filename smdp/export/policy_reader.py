"""Recommends from a policy file that smdp wrote. Plain Python 3.8 or later; needs nothing else.

    policy = Policy(open("policy.json", encoding="utf-8").read())
    policy.recommend([{"stress": 7, "weekend": 0}, {"stress": None, "weekend": 1}])
Reports are one for each decision since the person's start, the last one being now; a value that was
not given is absent or None; levels are given by their names, texts as they were written. What
cannot be right, in file or reports, is a ValueError that says so.
As a command: python policy_reader.py policy.json reports.json

    log = Log(policy, "log.csv", explore=0.1, seed=7)
    log.decide("person 12", [{"stress": 7, "weekend": 0}])["action"]
decides, and appends what was seen, recommended, done, with which probability and when, as a table
that smdp's page New data opens.
"""
# ruff: noqa: B905, SIM115, T201, UP017, UP031 - older Pythons, and a command that prints
# mypy: ignore-errors

import csv
import hashlib
import json
import math
import os
import re
import sys
import zlib
from bisect import bisect_left
from datetime import datetime, timezone
from operator import mul
from random import Random
from statistics import stdev

FORMATS = (("smdp policy", 1), ("smdp policy", 2), ("smdp policy", 3))
DEEPEST = 9  # questions of a rule card in a row
LARGEST = 1e100  # of any number, so that none becomes infinite on the way
#: Of each line of a log, beside the study's own columns and the probability of each action.
LOGGED = ("possible actions", "recommended", "why nothing was recommended", "policy", "logged at")
COLUMNS = {"subject": "person", "time": "decision", "action": "action", "available": "available"}
CURVES = {"arctan": math.atan, "tanh": math.tanh, "relu": lambda v: max(v, 0.0), "identity": float}


class Policy:
    def __init__(self, text):
        try:
            file = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("This is no policy file: it is not JSON.") from None
        if not isinstance(file, dict) or (file.get("format"), file.get("version")) not in FORMATS:
            raise ValueError("This is no policy file of version 1, 2 or 3.")
        self.content = file.get("content")
        exact = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        if hashlib.sha256(exact.encode()).hexdigest() != file.get("fingerprint"):
            raise ValueError("The policy file was changed after it was written.")
        check_content(self.content)
        self.fingerprint = file["fingerprint"]

    def recommend(self, reports, actions=(), available=True):
        """What to do now. `actions`: what was done at each earlier decision, None where nothing
        could be. `available`: whether there is a choice now, or a list of the possible actions."""
        labels, q, rule = (self.content[key] for key in ("actions", "q", "rule"))
        check_reports(self.content, reports, actions, available)
        state, notes = self.state(reports, actions)
        features = network(self.content["feature_map"], state)
        values = network(q, features)
        answer = {"recommendation": None, "why": "unavailable", "best": None, "margin": None}
        answer.update(q_values=dict(zip(labels, values)), features=features, state=state, **notes)
        possible = possible_now(labels, available)
        if not possible:
            return answer
        refits = [network(each, features) for each in self.content["resampled"]]
        preferred, cautious = values, "reference" in rule
        if cautious:
            first, times = rule["reference"], rule["pessimism"]
            errors = [stdev([r[a] - r[first] for r in refits]) for a in range(len(labels))]
            preferred = [v - values[first] - times * error for v, error in zip(values, errors)]
        best = max(possible, key=preferred.__getitem__)
        gaps, certain = [], True
        for other in set(possible) - {best}:
            gaps.append(values[best] - values[other])
            again = [refit[best] - refit[other] for refit in refits]
            sure = len(again) < 2 or gaps[-1] > rule["z"] * stdev(again)
            certain = certain and (sure or cautious)
        why = self.untried(standardised(q, features), possible) or ("" if certain else "uncertain")
        why = why if reported(self.content, reports) else "nothing reported"
        answer.update(best=labels[best], margin=min(gaps, default=None), why=why)
        answer["recommendation"] = None if why else labels[best]
        return answer

    def card(self, reports, actions=(), available=True):
        """What the rule card says now, and its questions with their answers."""
        if not self.content.get("card"):
            raise ValueError("This policy file has no rule card.")
        own = dict(self.content, **self.content["card"])
        check_reports(self.content, reports, actions, available)
        state, notes = self.state(reports, actions, own)
        part, asked = own["tree"], []
        while "action" not in part:
            yes = (max(state[k] for k in part["columns"]) >= part["cut"]) != part["turned"]
            asked.append([part["question"], yes])
            part = part["yes" if yes else "no"]
        labels = own["actions"]
        possible = possible_now(labels, available)
        chosen = part["action"] if part["action"] in possible else min(possible, default=None)
        silent = "" if reported(own, reports) else "nothing reported"
        why = "unavailable" if chosen is None else silent
        answer = {"recommendation": None if why else labels[chosen], "why": why, "answers": asked}
        return dict(answer, state=state, **notes)

    def untried(self, features, possible):
        """Whether the trial has no decisions like this one, or hardly any with some action."""
        support = self.content["support"]
        if support is None:
            return ""
        points, rounding = support["points"], support["rounding"]
        apart = [sum((f - g) ** 2 for f, g in zip(features, point)) for point in points]
        farthest = sorted(apart)[support["neighbours"] - 1]
        if (math.sqrt(farthest) - rounding) / support["radius"] > 1:
            return "outside the trial"
        reach = farthest * (1 + rounding) + rounding
        near = [action for action, distance in zip(support["taken"], apart) if distance <= reach]
        least = min(map(near.count, possible)) / len(near) if len(possible) > 1 else 1.0
        return "hardly tried" if least < self.content["rule"]["least_share"] else ""

    def state(self, reports, actions=(), own=None):
        """The state now in the policy's units; which values are filled in, which out of range."""
        own = own or self.content
        now, measured, columns = len(reports) - 1, own["measured"], own["columns"]
        if now < max((column["lag"] for column in columns), default=0):
            raise ValueError("The policy looks back farther than there are reports.")
        names = [None if m["counted"] else m["name"] for m in measured]
        rows = [{**report, None: count} for count, report in enumerate(reports, start=1)]
        for text in texts_of(self.content):
            for row in rows:
                if isinstance(row.get(text["name"]), str):
                    row.update(zip(text["columns"], numbers_of(text, row[text["name"]])))
        series = [[given(m, row.get(name)) for row in rows] for m, name in zip(measured, names)]
        state = []
        for column in columns:
            at, source = now - column["lag"], column["source"]
            if column["kind"] == "value":
                state.append(self.value(measured[source], series[source], at))
            elif column["kind"] == "level":
                code = self.value(measured[source], series[source], at)
                state.append(float(code == column["level"]))
            else:
                done = actions[at] if at < len(actions) else None
                state.append(float(done == self.content["actions"][source]))
        named = [(m["name"], m["seen"], own[now]) for m, own in zip(measured, series)]
        known = [each for each in named if each[1] and each[2] is not None]
        outside = [name for name, seen, value in known if not seen[0] <= value <= seen[1]]
        gone = [m for m, own in zip(measured, series) if own[now] is None]
        outside += [m["name"] for m in gone if codes_of(m) and rows[now].get(m["name"]) is not None]
        filled = [m.get("part_of_text") or m["name"] for m in gone]
        return state, {"filled_in": list(dict.fromkeys(filled)), "outside_range": outside}

    def value(self, measured, series, at):
        value, how = series[at], self.content["imputation"]
        known = [(t, v) for t, v in enumerate(series) if v is not None]
        if value is None:
            value = known[0][1] if known else measured["median"]
            if codes_of(measured):
                own = [v for _, v in known]
                before = [v for t, v in known if t < at]
                often = sorted(own, key=lambda v: (-own.count(v), v)) or [value]
                value = before[-1] if before else often[0]
            elif measured.get("part_of_text"):
                value = measured["median"]
            elif any(v != value for _, v in known):
                value = local_polynomial(known, at, how["span"], how["degree"])
                low, high = measured["limits"] or (-math.inf, math.inf)
                value = float("%.*g" % (how["digits"], min(max(value, low), high)))
            value = float(round(value)) if measured["whole"] else value
        if measured["unit"] is None:
            return value
        (low, high), levels = measured["unit"], self.content["levels"]
        unit = 0.0 if low == high else min(max((value - low) / (high - low), 0.0), 1.0)
        return levels["values"][bisect_left(levels["boundaries"], unit)]


class Log:
    """Decides with a policy, and appends each decision to a file.

    With probability `explore` the action is drawn from all that are possible, each as likely; else
    it is the recommended one, or where there is none `otherwise` (the first action, unless given).
    The draw depends on seed, person and decision only: a log can be replayed.
    """

    def __init__(self, policy, path, explore=0.0, seed=0, otherwise=None):
        own, names = policy.content, dict(COLUMNS)
        names.update({key: name for key, name in own.get("study", {}).items() if name})
        self.policy, self.path, self.explore, self.seed = policy, path, explore, seed
        self.names, self.otherwise = names, own["actions"][0] if otherwise is None else otherwise
        share = isinstance(explore, (int, float)) and 0 <= explore <= 1
        if not share or self.otherwise not in own["actions"]:
            raise ValueError("'explore' is from 0 to 1, and 'otherwise' one of the actions.")
        texts = [text["name"] for text in texts_of(own)]
        asked = [m for m in own["measured"] if not m["counted"] and not m.get("part_of_text")]
        self.seen = [m["name"] for m in asked] + texts
        self.header = [names["subject"], names["time"], *self.seen, names["action"]]
        self.header += [names["available"], *map(chance_of, own["actions"]), *LOGGED]
        if os.path.exists(path) and os.path.getsize(path):
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                if next(csv.reader(file), None) != self.header:
                    raise ValueError("'%s' is no log of this policy's columns." % path)

    def decide(self, person, reports, actions=(), available=True, when=None):
        """As `Policy.recommend`, with the `action` to be taken and all their `probabilities`."""
        answer = self.policy.recommend(reports, actions, available)
        labels = self.policy.content["actions"]
        possible = [labels[a] for a in possible_now(labels, available)]
        action, chances = None, {}
        if possible:
            usual = answer["recommendation"] or self.otherwise
            usual = usual if usual in possible else possible[0]
            chances = {label: self.explore / len(possible) for label in possible}
            chances[usual] += 1 - self.explore
            draw = Random("%s|%s|%s" % (self.seed, person, len(reports)))
            explored = draw.random() < self.explore
            action = possible[int(draw.random() * len(possible))] if explored else usual
        answer.update(action=action, probabilities=chances)
        when = when or datetime.now(timezone.utc).isoformat(timespec="seconds")
        line = [person, len(reports), *map(reports[-1].get, self.seen), action, int(bool(possible))]
        line += [chances.get(label, 0.0 if possible else None) for label in labels]
        line += [json.dumps(possible), answer["recommendation"], answer["why"]]
        line += [self.policy.fingerprint, when]
        new = not os.path.exists(self.path) or not os.path.getsize(self.path)
        with open(self.path, "a", -1, "utf-8", "backslashreplace", newline="") as file:
            csv.writer(file).writerows([self.header, line] if new else [line])
        return answer


def possible_now(labels, available):
    """The places of the actions that there is a choice of."""
    allowed = labels if available == 1 else available or []
    return [a for a, label in enumerate(labels) if label in allowed]


def chance_of(action):
    return "probability of %s" % action


def texts_of(own):
    return own.get("texts", {"of": []})["of"]


def every_asked(own):
    return own["measured"] + (own.get("card") or {"measured": []})["measured"]


def codes_of(measured):
    """The codes of a nominal variable's levels by their names, none of any other variable."""
    named = measured["names_of_values"] if measured.get("kind") == "nominal" else []
    return {name: code for code, name in named}


def given(measured, value):
    codes = codes_of(measured)
    if not codes:
        return number(value)
    if value is None or value != value:
        return None
    whole = isinstance(value, (bool, float)) and float(value).is_integer()
    return codes.get(str(int(value) if whole else value).strip(), codes.get("other"))


def numbers_of(text, written):
    """A text as numbers: the weighted counts of its words, on axes that tell texts apart."""
    counts = {}
    for word in re.findall(r"[^\W\d_]{2,}", written.lower()):
        place = str(zlib.crc32(word.encode()) % 1024)
        counts[place] = counts.get(place, 0) + 1
    known = [(count, text["buckets"][b]) for b, count in counts.items() if b in text["buckets"]]
    weighted = [(math.log1p(count) * own[0], own[1:]) for count, own in known]
    length = math.sqrt(sum(w * w for w, _ in weighted)) or 1.0
    return [sum(w / length * own[k] for w, own in weighted) for k in range(len(text["columns"]))]


KINDS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}
KINDS[list] = "a list"
NETWORK = {
    "centre": [float],
    "scale": [float],
    "layers": [{"activation": str, "weights": [[float]], "bias": [float]}],
}
ASKED = {"name": str, "whole": bool, "counted": bool, "median": float}
ASKED.update(limits=(None, [float]), seen=(None, [float]), unit=(None, [float]))
SUPPORT = {"neighbours": int, "radius": float, "rounding": float, "taken": [int]}
#: What a file must hold: a type, a list of such, a table with such keys, or (None, this if given).
CONTENT = {
    "actions": [str],
    "measured": [ASKED],
    "columns": [{"kind": str, "source": int, "lag": int}],
    "imputation": {"span": float, "degree": int, "digits": int},
    "levels": (None, {"values": [float], "boundaries": [float]}),
    "rule": {"z": float, "least_share": float},
    "feature_map": NETWORK,
    "q": NETWORK,
    "resampled": [NETWORK],
    "support": (None, dict(SUPPORT, points=[[float]])),
}
STUDY = dict.fromkeys(COLUMNS, (None, str))


def need(condition, problem):
    if not condition:
        raise ValueError("The policy file cannot be used: %s." % problem)


def check_kind(value, wanted, where):
    if isinstance(wanted, tuple):
        return value is None or check_kind(value, wanted[1], where)
    if isinstance(wanted, dict):
        need(isinstance(value, dict), "'%s' is no table" % where)
        for key in wanted:
            need(key in value, "'%s' is missing from '%s'" % (key, where))
            check_kind(value[key], wanted[key], key)
    elif isinstance(wanted, list):
        need(isinstance(value, list), "'%s' is no list" % where)
        for each in value:
            check_kind(each, wanted[0], where)
    else:
        kinds = (int, float) if wanted is float else wanted
        fits = isinstance(value, kinds) and (wanted is bool or not isinstance(value, bool))
        fits = fits and (wanted not in (int, float) or abs(value) < LARGEST)
        need(fits, "'%s' must be %s" % (where, KINDS[wanted]))
    return True


def check_network(own, where, inputs, outputs=None):
    need(len(own["centre"]) == len(own["scale"]) == inputs, "'%s' has a wrong size" % where)
    need(min(own["scale"], default=1) > 0, "a scale of '%s' is not above 0" % where)
    need(own["layers"], "'%s' has no layer" % where)
    for layer in own["layers"]:
        same = all(len(row) == inputs for row in layer["weights"])
        inputs = len(layer["bias"])
        need(same and len(layer["weights"]) == inputs > 0, "weights of '%s' are cut short" % where)
        need(layer["activation"] in CURVES, "'%s' has an unknown activation" % where)
    need(outputs in (None, inputs), "'%s' has a wrong size" % where)
    return inputs


def check_asked(measured, levels):
    names = [each["name"] for each in measured]
    need(len(set(names)) == len(names), "a variable is asked for twice")
    for each in measured:
        pairs = [each[key] for key in ("limits", "seen", "unit") if each[key] is not None]
        need(all(len(p) == 2 and p[0] <= p[1] for p in pairs), "a range has not two ends in order")
        need(each["unit"] is None or levels, "'levels' is missing")
        check_kind(each.get("part_of_text"), (None, str), "part_of_text")
        if each.get("kind") == "nominal":
            check_kind(each.get("names_of_values"), [list], "names_of_values")
            need(all(len(pair) == 2 for pair in each["names_of_values"]), "a level has no name")
            check_kind([code for code, _ in each["names_of_values"]], [float], "names_of_values")
            check_kind([name for _, name in each["names_of_values"]], [str], "names_of_values")


def check_columns(columns, measured, labels):
    for column in columns:
        need(column["kind"] in ("value", "level", "action"), "a column is of an unknown kind")
        sources = labels if column["kind"] == "action" else measured
        need(0 <= column["source"] < len(sources), "a column comes from nowhere")
        if column["kind"] == "level":
            check_kind(column.get("level"), float, "level")
            codes = codes_of(measured[column["source"]]).values()
            need(column["level"] in codes, "a column asks for a level that there is not")
        need(column["lag"] >= 0, "a column looks ahead")


def check_tree(part, columns, actions, deep):
    need(isinstance(part, dict) and deep <= DEEPEST, "'tree' is no tree of few questions")
    if "action" in part:
        check_kind(part["action"], int, "action")
        need(0 <= part["action"] < actions, "'tree' has an unknown action")
        return
    check_kind(part, {"question": str, "columns": [int], "cut": float, "turned": bool}, "tree")
    good = all(0 <= k < columns for k in part["columns"]) and part["columns"]
    need(good, "'tree' asks for what is not there")
    for answer in ("yes", "no"):
        check_tree(part.get(answer), columns, actions, deep + 1)


def check_content(own):
    """Every key, shape and number that a recommendation needs, before the first is given."""
    check_kind(own, CONTENT, "content")
    labels, measured, levels, support = map(own.get, ("actions", "measured", "levels", "support"))
    need(len(set(labels)) == len(labels) >= 2, "it needs two or more different actions")
    check_asked(measured, levels)
    if "texts" in own:
        check_kind(own["texts"], {"of": [{"name": str, "columns": [str], "buckets": {}}]}, "texts")
    for text in texts_of(own):
        for numbers in text["buckets"].values():
            check_kind(numbers, [float], "buckets")
            need(len(numbers) == 1 + len(text["columns"]), "'buckets' has a wrong size")
    check_columns(own["columns"], measured, labels)
    check_kind(own.get("study", dict.fromkeys(STUDY)), STUDY, "study")
    if own.get("card"):
        card = own["card"]
        check_kind(card, {"measured": [ASKED], "columns": CONTENT["columns"], "tree": {}}, "card")
        check_asked(card["measured"], levels)
        check_columns(card["columns"], card["measured"], labels)
        check_tree(card["tree"], len(card["columns"]), len(labels), 0)
    known = {text["name"]: None for text in texts_of(own)}
    agree = all(known.setdefault(m["name"], codes_of(m)) == codes_of(m) for m in every_asked(own))
    need(agree, "a variable is asked for in two ways")
    if levels:
        bounds, count = levels["boundaries"], len(levels["values"])
        need(bounds == sorted(bounds) and len(bounds) + 1 == count, "'levels' are not in order")
    how = own["imputation"]
    good = how["span"] > 0 and how["degree"] in (0, 1, 2) and 1 <= how["digits"] <= 17
    need(good, "'imputation' has a value that cannot be")
    features = check_network(own["feature_map"], "feature_map", len(own["columns"]))
    for q in [own["q"]] + own["resampled"]:
        check_network(q, "q", features, len(labels))
    if "reference" in own["rule"]:
        check_kind(own["rule"], {"reference": int, "pessimism": float}, "rule")
        need(0 <= own["rule"]["reference"] < len(labels), "'reference' is no action")
        need(len(own["resampled"]) > 1, "'resampled' is too short for a pessimistic policy")
        need(own["rule"]["pessimism"] >= 0, "'pessimism' is below 0")
    sure = own["rule"]["z"] >= 0 <= own["rule"]["least_share"] <= 1
    need(sure, "'rule' has a value that cannot be")
    if support is not None:
        points, taken = support["points"], support["taken"]
        need(all(len(point) == features for point in points), "a point of 'support' is cut short")
        need(len(points) == len(taken), "'support' has a wrong size")
        need(all(0 <= action < len(labels) for action in taken), "'taken' has an unknown action")
        need(1 <= support["neighbours"] <= len(points), "'neighbours' has a value that cannot be")
        need(support["radius"] > 0 <= support["rounding"], "'radius' has a value that cannot be")


def check_reports(own, reports, actions, available):
    texts, labels = [text["name"] for text in texts_of(own)], own["actions"]
    asked = {m["name"]: m for m in every_asked(own) if m.get("part_of_text") not in texts}
    names = [*asked, *texts]
    choice = available if isinstance(available, (list, tuple, set)) else []
    if not isinstance(reports, (list, tuple)) or not all(isinstance(r, dict) for r in reports):
        raise ValueError("Reports are a list with one table of names and values for each decision.")
    for name, value in [pair for report in reports for pair in report.items()]:
        if name not in names:
            raise ValueError("The policy knows no '%s', only: %s." % (name, ", ".join(names)))
        wanted, kinds = ("a text", str) if name in texts else ("a number", (int, float))
        if name not in texts and codes_of(asked[name]):
            wanted, kinds = "the name of a level", (str, int, float)
        if value is not None and not isinstance(value, kinds):
            raise ValueError("The value of '%s' must be %s, not %r." % (name, wanted, value))
        if not isinstance(value, (str, type(None))) and LARGEST <= abs(value) < math.inf:
            raise ValueError("The value of '%s' is too large." % name)
    if not isinstance(actions, (list, tuple)) or len(actions) > len(reports):
        raise ValueError("'actions' is no list, or there are more actions than reports.")
    if not choice and available not in (True, False, None, [], ()):
        raise ValueError("'available' is true, false, or a list of the possible actions.")
    for label in [*actions, *choice]:
        if label is not None and label not in labels:
            known = ", ".join(labels)
            raise ValueError("The policy knows no action %r, only: %s." % (label, known))


def reported(own, reports):
    """Whether anything was ever reported of what the policy asks for."""
    asked = [each for each in own["measured"] if not each["counted"]]
    names = [each.get("part_of_text") or each["name"] for each in asked]
    values = [(each, report.get(name)) for report in reports for each, name in zip(asked, names)]
    some = (isinstance(v, str) or given(each, v) is not None for each, v in values)
    return not asked or any(some)


def number(value):
    return float(value) if value is not None and math.isfinite(value) else None


def standardised(scale, values):
    return [(v - c) / s for v, c, s in zip(values, scale["centre"], scale["scale"])]


def network(own, values):
    values = standardised(own, values)
    for layer in own["layers"]:
        sums = [b + sum(map(mul, row, values)) for row, b in zip(layer["weights"], layer["bias"])]
        values = [CURVES[layer["activation"]](value) for value in sums]
    if not all(abs(value) < LARGEST for value in values):
        raise ValueError("The policy's numbers become too large for these reports.")
    return values


def local_polynomial(points, at, span, degree):
    """The value at `at` of a local polynomial with tricube weights, as in R's loess."""
    x, y = [t - at for t, _ in points], [v for _, v in points]
    squared = sorted(v * v for v in x)
    radius = squared[min(len(x), max(1, math.floor(len(x) * span + 1e-5))) - 1] * max(1.0, span)
    if radius <= squared[0]:
        radius = min((d for d in squared if d > squared[0]), default=math.inf)
    weights = [max(1 - math.sqrt(v * v / radius) ** 3, 0.0) ** 3 for v in x]
    degree = min(degree, len({v for v, w in zip(x, weights) if w > 0}) - 1)
    # Orthogonal polynomials by their recurrence, each with its value at `at` as a last entry.
    fit, old, new, old_norm = 0.0, [0.0] * (len(x) + 1), [1.0] * (len(x) + 1), math.inf
    for _ in range(degree + 1):
        norm = sum(w * p * p for w, p in zip(weights, new))
        fit += new[-1] * sum(w * p * v for w, p, v in zip(weights, new, y)) / norm
        centre = sum(w * p * p * v for w, p, v in zip(weights, new, x)) / norm
        step = [(v - centre) * p - norm / old_norm * q for v, p, q in zip([*x, 0.0], new, old)]
        old, new, old_norm = new, step, norm
    return fit


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python policy_reader.py policy.json reports.json")
    try:
        policy, reports = [open(path, encoding="utf-8-sig").read() for path in sys.argv[1:]]
        policy = Policy(policy)
        try:
            reports = json.loads(reports)
        except (ValueError, RecursionError):
            raise ValueError("'%s' is not JSON." % sys.argv[2]) from None
        answer = policy.recommend(reports)
        if policy.content.get("card"):
            answer["card"] = policy.card(reports)
        print(json.dumps(answer, indent=1))
    except UnicodeDecodeError:
        sys.exit("A file is not text.")
    except (OSError, ValueError) as problem:
        sys.exit(str(problem))
