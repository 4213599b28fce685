"""The policy as files to take along."""

from __future__ import annotations

import io
import re
from importlib.util import find_spec
from typing import Any

import streamlit as st

from dashboard import controls
from dashboard.downloads import download, say_failures
from dashboard.policy_choice import named_policies, short_name
from dashboard.session import done, is_done, the_analysis
from dashboard.show import export_name, literal
from smdp.data.prepare import PreparedData
from smdp.export.policy_file import READER, policy_text, reader_source
from smdp.policy.learned_policy import LearnedPolicy
from smdp.policy.rule_card import RuleCard
from smdp.steps import RULE


def card_of(policy: LearnedPolicy) -> RuleCard | None:
    """The rule card that was made of this policy as it is now, if there is one."""
    record, report = done(RULE), the_analysis().rule
    if record is None or report is None or not is_done(RULE):
        return None
    place = list(named_policies()).index(short_name(policy)) + 1
    return report.card if record.asked.policy == place else None


def take_along(policy: LearnedPolicy, prepared: PreparedData, card: RuleCard | None = None) -> None:
    """Buttons for the policy's file, the program that reads it, and the network."""
    name = short_name(policy)
    file_name = export_name(f"policy-{re.sub(r'[^a-z0-9.]+', '-', name).strip('-')}")
    with st.expander("Take the policy with you", icon=":material/download:"):
        st.markdown(
            f"The **{name}** policy as one small text file (JSON): filling in of missing "
            "values, rescaling, features, Q-functions and the rule that abstains. The reader is a "
            "short program in plain Python that needs nothing else and gives the same "
            "recommendations. Neither has been tested in people: a policy has to be tried in a "
            "trial of its own before it treats anyone."
        )
        if card is not None:
            st.markdown(f"With the rule card beside it: {literal(card.in_words())}.")
        with_decisions = controls.checkbox(
            "With the check whether a person is like those of the study",
            "policy.export-support",
            True,
            "Then the file holds the features and treatments of the study's decisions, in no order "
            "and without names. Without them the file has nothing of single people, but cannot "
            "abstain where a person is unlike those of the study.",
        )
        about = _model_card(policy)  # the file is made outside of the session
        with st.container(horizontal=True):
            download(
                "Policy (JSON)",
                lambda: policy_text(
                    policy,
                    prepared,
                    support=with_decisions,
                    card=card,
                    model_card=about,
                ),
                file_name=f"{file_name}.json",
                mime="application/json",
                icon=":material/data_object:",
                key="export-json",
            )
            download(
                "Reader (Python)",
                reader_source,
                file_name=READER,
                mime="text/x-python",
                icon=":material/code:",
                key="export-reader",
            )
            if find_spec("onnx") is not None:
                download(
                    "Q-function (ONNX)",
                    lambda: _onnx(policy),
                    file_name=f"{file_name}.onnx",
                    mime="application/octet-stream",
                    icon=":material/hub:",
                    key="export-onnx",
                    help_text="From the policy's variables to Q-values, for programs that run "
                    "networks: without the filling in, the rescaling and the rule that abstains.",
                )
        say_failures("export-json", "export-reader", "export-onnx")


def _model_card(policy: LearnedPolicy) -> dict[str, Any] | None:
    """What the policy is for, and how good it is; of one of this analysis."""
    from smdp.report.model_card import model_card

    own = the_analysis()
    places = [place for place, each in enumerate(own.policies, start=1) if each is policy]
    return model_card(own, places[0]) if places else None


def _onnx(policy: LearnedPolicy) -> bytes:
    from smdp.export.onnx_file import export_onnx

    file = io.BytesIO()
    export_onnx(policy, file)
    return file.getvalue()
