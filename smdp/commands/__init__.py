"""The commands of `smdp`, one file each: `add_parser` hooks it in, its `run` does it."""
