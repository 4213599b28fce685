"""A file as SAS stores it, for tests: no free software at hand writes this format."""

import base64
import zlib

# Three rows of SUBJECT (text), MOOD (number) and VISIT (date) as SAS stores them, deflated.
SAS_FILE = zlib.decompress(
    base64.b64decode(
        "eNpjYECAQ68aEzaLCJ7fO4mDgfO4YY+EvICgEgODEgMjgyEDXiCCwgt2DFZw8/RxDfMM9gwJViAbuDiGOIJoBkKA"
        "BYKZkIQs9QxMDAx9zXwy80orkMxkGAWjYBTgARxAyMCgAMxMDxihuRvI5oHKHgCKhYAYQHoKEOtA2TFAbAFlawCx"
        "CZT9hQHBPoDEphb49/v/f0JqfMAFBGl6bMB6HBi4SNBjAPaYCQM7lP/n////OhjFFBOY5gCzGcHhCmPDAFDbf0RB"
        "JQM1TwXqCw0GViQz/wLVeiDx0cu54FAnL1fnEAZff38XcHkMNgkoXpqUlZpcwuDkGhzim5+folCSn5JYycAALHNd"
        "vwEBM1T/dyDAVtozI/GZsZXHo2BoAkZIbBoYmEPT0A97cL5Pu+pgYGABEfsHzQvpIDFLqDoOBxS5UTAKRsGgBwAi"
        "Q16N"
    )
)
