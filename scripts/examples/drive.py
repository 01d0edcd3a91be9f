#!/usr/bin/env python3
"""A program that drives an agent: commands go to it as lines of JSON, events come back as lines of JSON.

    scripts/examples/drive.py --mode read-only -- "what does this project do?" "and what is missing?"

In front of -- stand options of agentpipe, behind it prompts, each a turn. What the model says is printed, and each call of a tool on
standard error. Where the runner asks for permission (--ask Bash), it is given for a few commands that only look.
"""
import json
import subprocess
import sys

HARMLESS = ("ls", "git status", "git diff", "git log")


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, prompts = sys.argv[1:at], sys.argv[at + 1 :]
    if not prompts:
        print(__doc__)
        return 64
    command = ["agentpipe", *options, "--input-format=stream-json", "--output-format=stream-json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as agent:

        def send(**command):
            agent.stdin.write(json.dumps(command) + "\n")

        send(type="user_input", text=prompts.pop(0))
        for line in agent.stdout:
            event = json.loads(line)
            if event["type"] == "text":
                print(event["text"], end="", flush=True)
            elif event["type"] == "tool_call":
                print(f"{event['name']} {json.dumps(event['input'])}", file=sys.stderr)
            elif event["type"] == "permission_request":
                harmless = json.loads(event["input"]).get("command") in HARMLESS
                send(type="permission", tool_use_id=event["tool_use_id"], decision="allow" if harmless else "deny")
            elif event["type"] == "error":
                print(f"error: {event['message']}", file=sys.stderr)
            elif event["type"] == "stop":
                print()
                send(**({"type": "user_input", "text": prompts.pop(0)} if prompts else {"type": "end"}))
    return agent.returncode


sys.exit(main())
