#!/usr/bin/env python3
"""A runner with a tool of its own, Dice, on lines of JSON: resp json | scripts/examples/dice.py | resp unjson"""
import json, random, signal, sys

TOOL = {"type": "tool_def", "name": "Dice", "description": "Throw a die", "input_schema": {"type": "object"}}
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps(TOOL))
    print(line, end="", flush=True)
    if message["type"] == "tool_call" and message["name"] == "Dice":
        throw = {"tool_use_id": message["tool_use_id"], "name": "Dice", "content": str(random.randint(1, 6))}
        print(json.dumps({"type": "tool_result", **throw}), flush=True)
