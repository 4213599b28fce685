"""The look and the script of the HTML report, and the frame around both."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

STYLE = """
:root { color-scheme: light; --ink: #1b1f24; --quiet: #5b6470; --line: #d9dee4; --blue: #0067a3; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink);
  font: 16px/1.55 Inter, "Helvetica Neue", Arial, sans-serif; }
main, header { max-width: 920px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 48px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; letter-spacing: -0.01em; }
h2 { font-size: 22px; margin: 56px 0 12px; padding-top: 16px; border-top: 1px solid var(--line); }
h3 { font-size: 17px; margin: 32px 0 8px; }
h1, h2, h3, p, li, figcaption, caption { overflow-wrap: anywhere; }
.byline, .made { color: var(--quiet); margin: 0; }
nav { margin: 28px 0 0; padding: 14px 18px; background: #f5f7f9; border-radius: 8px; }
nav ol { columns: 2; margin: 0; padding-left: 22px; }
nav li { break-inside: avoid; }
a { color: var(--blue); text-decoration: none; }
a:hover { text-decoration: underline; }
ul { padding-left: 22px; }
li { margin: 4px 0; }
.notice, .note { margin: 14px 0; padding: 10px 16px; border-left: 4px solid; border-radius: 4px; }
.notice b, .note b { display: block; font-size: 13px; }
.error { border-color: #b34700; background: #fdeee4; }
.warning { border-color: #e69f00; background: #fff7e3; }
.notice.remark { border-color: #56b4e9; background: #eef7fd; }
.note { border-color: #8c8c8c; background: #f5f5f5; white-space: pre-line; }
.table { overflow-x: auto; margin: 22px 0; }
table { border-collapse: collapse; font-size: 14px; line-height: 1.4;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 6px; }
th, td { padding: 5px 18px 5px 0; text-align: left; vertical-align: top; min-width: 44px;
  overflow-wrap: break-word; }
th { border-bottom: 1px solid var(--ink); border-top: 2px solid var(--ink); font-weight: 600; }
td { border-bottom: 1px solid #edf0f3; }
tbody tr:last-child td { border-bottom: 2px solid var(--ink); }
td.number, th.number { text-align: right; }
td.short { white-space: nowrap; }
.below { color: var(--quiet); font-size: 13px; margin: 4px 0 0; }
figure { margin: 26px 0; break-inside: avoid; }
figcaption { font-size: 14px; color: var(--quiet); margin-top: 6px; }
figcaption b { color: var(--ink); }
.mark { color: #b34700; }
.references p { padding-left: 26px; text-indent: -26px; margin: 6px 0; font-size: 15px; }
pre { font: 12.5px/1.45 ui-monospace, Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; background: #f5f7f9; padding: 14px 18px; border-radius: 8px; }
summary { cursor: pointer; font-weight: 600; }
footer { max-width: 920px; margin: 64px auto 40px; padding: 16px 28px 0; color: var(--quiet);
  font-size: 13px; }
@page { margin: 18mm 16mm; }
@media print {
  body { font-size: 10.5pt; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  header { padding-top: 0; }
  nav { display: none; }
  h2, h3, caption { break-after: avoid; }
  tr, .notice, .note { break-inside: avoid; }
  thead { display: table-header-group; }
  .table { overflow: visible; }
  table { font-size: 8.5pt; }
  td, th { padding-right: 10px; overflow-wrap: anywhere; }
  .notice, .note { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .modebar-container { display: none !important; }
  .compact { font-size: 9pt; line-height: 1.35; }
  .compact h1 { font-size: 17pt; margin: 0 0 4px; }
  .compact h2 { font-size: 12.5pt; margin: 14px 0 5px; padding-top: 7px; }
  .compact p, .compact li { margin: 3px 0; }
  .compact .table, .compact figure { margin: 8px 0; }
  .compact table { font-size: 8pt; line-height: 1.3; }
  .compact td, .compact th { padding-top: 2px; padding-bottom: 2px; }
  .compact td:first-child { min-width: 42mm; }
  .compact .notice { margin: 5px 0; padding: 3px 10px; }
  .compact .notice b { display: inline; font-size: inherit; }
  .compact .notice b::after { content: ": "; }
  .compact figcaption, .compact .below { font-size: 8pt; line-height: 1.3; }
  .compact footer { margin: 12px 0 0; padding-top: 4px; }
}
"""

# Of what is printed closely; a page's margins know no class.
CLOSE_PAGE = "@page { margin: 12mm 14mm; }"

# Figures are drawn when they come near the window, all of them before printing.
SCRIPT = """
(function () {
  "use strict";
  var boxes = Array.prototype.slice.call(document.querySelectorAll("[data-figure]"));
  function draw(box) {
    if (box.dataset.drawn) { return; }
    box.dataset.drawn = "yes";
    var made = JSON.parse(document.getElementById(box.dataset.figure).textContent);
    made.layout.autosize = true;
    Plotly.newPlot(box, made.data, made.layout, {
      responsive: true,
      displaylogo: false,
      modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"],
      toImageButtonOptions: { format: "svg", filename: box.dataset.name }
    });
  }
  if ("IntersectionObserver" in window) {
    var watch = new IntersectionObserver(function (seen) {
      seen.forEach(function (one) {
        if (one.isIntersecting) { watch.unobserve(one.target); draw(one.target); }
      });
    }, { rootMargin: "600px" });
    boxes.forEach(function (box) { watch.observe(box); });
  } else {
    boxes.forEach(draw);
  }
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
    boxes.forEach(function (box) {
      draw(box);
      Plotly.relayout(box, { width: 660, autosize: false });
    });
  });
  window.addEventListener("afterprint", function () {
    boxes.forEach(function (box) { Plotly.relayout(box, { width: null, autosize: true }); });
  });
})();
"""


@cache
def plotly_script() -> str:
    """The installed plotly's own plotly.js."""
    from plotly.offline import get_plotlyjs

    text: str = get_plotlyjs()
    # The end of a script inside of a script would end it.
    return text.replace("\r\n", "\n").replace("</script", "<\\/script").strip("\n")


def page(title: str, body: str, *, scripts: bool, compact: bool = False) -> str:
    """A whole page. `title` and `body` are HTML already; nothing is loaded from anywhere.

    `compact`: printed closely, where it has to stay short.
    """
    used = [plotly_script(), SCRIPT] if scripts else []
    allowed = " ".join(f"'sha256-{_digest(text)}'" for text in used) or "'none'"
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    ending = "\n".join(f"<script>{text}</script>" for text in used)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}{CLOSE_PAGE if compact else ""}</style>
</head>
<body{' class="compact"' if compact else ""}>
{body}
{ending}
</body>
</html>
"""


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
