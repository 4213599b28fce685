"""Steps, kinds of feature map and file formats of other packages.

An installed package names its module as an entry point of the group "smdp.plugins"; the environment
variable SMDP_PLUGINS names further modules, separated by commas. Each is imported once, by the
command line, the dashboard and its workers alike, and adds its own (`smdp.steps.add_step`,
`smdp.feature_map.kinds.register`, `smdp.saved_types.register`, ..) as it is imported.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from smdp.errors import SettingError

GROUP, VARIABLE = "smdp.plugins", "SMDP_PLUGINS"


@cache
def load_plugins() -> tuple[str, ...]:
    """The names of the modules that were imported; an error names the one that cannot be."""
    installed = [entry.value for entry in entry_points(group=GROUP)]
    named = [name.strip() for name in os.environ.get(VARIABLE, "").split(",")]
    modules = tuple(dict.fromkeys(filter(None, [*installed, *named])))
    for module in modules:
        try:
            import_module(module)
        except Exception as error:
            raise SettingError(
                f"The extension '{module}' cannot be loaded: {type(error).__name__}: {error}",
                f"Correct or remove it; extensions are named in {VARIABLE}, or are packages with "
                f"an entry point '{GROUP}'.",
            ) from error
    return modules
