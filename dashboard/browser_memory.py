"""The one script of our own on the pages: the browser keeps the names of the last few works.

Its text never changes, for the server's answers name the scripts that may run by their SHA-256; the
name of the work stands beside it.
"""

COOKIE, BETWEEN, MOST, DAYS = "smdp_work", ".", 6, 30
SCRIPT = f"""{{
  const name = document.querySelector("[data-work]").dataset.work;
  const kept = (document.cookie.match(/(?:^|; ){COOKIE}=([a-z0-9.]*)/) || ["", ""])[1];
  const names = [name, ...kept.split("{BETWEEN}").filter((other) => other && other !== name)];
  document.cookie = "{COOKIE}=" + names.slice(0, {MOST}).join("{BETWEEN}") +
    "; path=/; max-age={DAYS * 86400}; samesite=strict";
}}"""


def remembering(name: str) -> str:
    """HTML that lets the browser remember the work of this name, of small letters and digits."""
    return f'<span data-work="{name}"></span><script>{SCRIPT}</script>'
