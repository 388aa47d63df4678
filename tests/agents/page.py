"""docs/agents.md: which agents were tried, when, and how it went."""
import json
import pathlib
import platform

HERE = pathlib.Path(__file__).parent


def write(bench, document, day, took):
    pass
