"""Reporting checklists, filled from the analysis: items, and how each is answered."""

from __future__ import annotations

from smdp.report.checklists import consort, cremas, decide_ai, tidier, tripod_ai
from smdp.report.checklists.checklist import Checklist

CHECKLISTS: dict[str, Checklist] = {
    each.key: each
    for each in (
        consort.CHECKLIST,
        cremas.CHECKLIST,
        tidier.CHECKLIST,
        tripod_ai.CHECKLIST,
        decide_ai.CHECKLIST,
    )
}
