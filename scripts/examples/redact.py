#!/usr/bin/env python3
"""A filter that takes secrets out of frames: what it masks in front of event-store reaches neither log nor model nor screen.

    agentpipe --after tool-runner='scripts/examples/redact.py' "what is in .env?"
    ... | tool-runner | scripts/examples/redact.py 'sesame-[0-9]+' | event-store | ...

Masked are keys of well-known makers, or what the regular expressions given match, in every field but the type. What a
model says comes in pieces, and so may a key: up to 512 bytes behind the last blank of a TEXT, THINKING or TOOL_OUTPUT
wait for the next frame. A pattern of your own that matches blanks is not found across such a cut.
"""
import os
import re
import select
import signal
import sys

KEYS = rb"""sk-[A-Za-z0-9_-]{20,}
(?:ghp|gho|ghs|ghr|glpat|github_pat)[_-][A-Za-z0-9_-]{20,}
AKIA[0-9A-Z]{16}
AIza[0-9A-Za-z_-]{35}
xox[abprs]-[0-9A-Za-z-]{10,}
-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)""".split(b"\n")
MASK = b"[redacted]"
STREAMED = {b"TEXT": 1, b"THINKING": 1, b"TOOL_OUTPUT": 2}  # which field is a piece of something longer
HELD_BYTES = 512
KEY_BYTES = 1 << 16  # a key that is longer than that goes on in parts
HEADER = re.compile(rb"([*$])(0|[1-9][0-9]{0,9})\r\n")
HEADER_BEGINS = re.compile(rb"[*$]?(?:0|[1-9][0-9]{0,9})?\r?\Z")


class Malformed(Exception):
    """Input that is not frames; says where."""


class Reader:
    """Cuts bytes, however they come in, into frames: lists of fields."""

    def __init__(self):
        self.buffer = bytearray()
        self.offset = 0  # of the buffer's first byte in the stream
        self.begin()

    def begin(self):
        self.fields, self.count, self.at, self.need = [], 0, 0, 0

    def frames(self, data):
        """Each frame that `data` completes, and the bytes that it was."""
        self.buffer += data
        while len(self.buffer) > self.need and self.scan():
            yield self.fields, bytes(self.buffer[: self.at])
            del self.buffer[: self.at]
            self.offset += self.at
            self.begin()

    def scan(self):
        if not self.count:
            self.count = self.number(b"*")
        while self.count and len(self.fields) < self.count:
            header = self.at
            length = self.number(b"$")
            if length is None:
                return False
            end = self.at + length
            if len(self.buffer) < end + 2:
                self.at, self.need = header, end + 1
                return False
            if self.buffer[end : end + 2] != b"\r\n":
                raise Malformed(f"expected CRLF after {length}-byte field at byte {self.offset + end}")
            self.fields.append(bytes(self.buffer[self.at : end]))
            self.at = end + 2
        return bool(self.count)

    def number(self, marker):
        line = HEADER.match(self.buffer, self.at)
        if line and line[1] == marker and (marker == b"$" or line[2] != b"0"):
            self.at = line.end()
            return int(line[2])
        start = bytes(self.buffer[self.at : self.at + 13])
        if start[:1] in (b"", marker) and HEADER_BEGINS.match(start):
            return None
        raise Malformed(f"expected {marker.decode()}, a number and CRLF at byte {self.offset + self.at}")

    def end(self):
        if self.buffer:
            raise Malformed(f"truncated at byte {self.offset + len(self.buffer)}: the input ends inside a frame")


class Redactor:
    """Frames in, the bytes of frames without secrets out."""

    def __init__(self, secrets):
        self.secrets = secrets
        self.held = {}  # streamed frames without their piece: the end of that piece, which has not gone on yet

    def frame(self, fields, raw):
        index = STREAMED.get(fields[0], len(fields))
        # A piece with attributes, THINKING with its signature, closes what it belongs to.
        if index >= len(fields) or (index == 1 and len(fields) > 2):
            return self.release(fields) + self.masked(fields, raw)
        stream = (index, *fields[:index], *fields[index + 1 :])
        # Outputs of several calls may alternate; all else is one stream of text at a time.
        before = b"" if stream in self.held or fields[0] == b"TOOL_OUTPUT" else self.release(fields)
        if not fields[index]:
            return before + raw
        piece = self.held.pop(stream, b"") + fields[index]
        ready = self.ready(piece)
        if ready < len(piece):
            self.held[stream] = piece[ready:]
        return before + self.streamed(stream, piece[:ready])

    def ready(self, piece):
        """How much of a piece of text can go on: no key that more text may belong to."""
        ready = max(len(piece) - HELD_BYTES, piece.rfind(b" ") + 1, piece.rfind(b"\n") + 1)
        for match in self.secrets.finditer(piece):
            if match.start() < ready < match.end() and len(piece) - match.start() < KEY_BYTES:
                ready = match.start()
        return ready

    def release(self, fields=()):
        """What is held, as frames; in front of a frame not the output of a call that may go on: only its own result ends it."""
        result = fields[1:2] if fields[:1] == [b"TOOL_RESULT"] else None
        ended = [stream for stream in self.held if not fields or stream[1] != b"TOOL_OUTPUT" or [stream[2]] == result]
        return b"".join(self.streamed(stream, self.held.pop(stream)) for stream in ended)

    def streamed(self, stream, piece):
        index, *rest = stream
        return encode([*rest[:index], self.secrets.sub(MASK, piece), *rest[index:]]) if piece else b""

    def masked(self, fields, raw):
        clean = fields[:1] + [self.secrets.sub(MASK, field) for field in fields[1:]]
        return raw if clean == fields else encode(clean)


def encode(fields):
    return b"*%d\r\n" % len(fields) + b"".join(b"$%d\r\n%s\r\n" % (len(field), field) for field in fields)


def read():
    """What there is to read, waiting only while there is nothing."""
    while True:
        try:
            return os.read(0, 1 << 16)
        except BlockingIOError:
            select.select([0], [], [])


def write(data):
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(1, view) :]
        except BlockingIOError:
            select.select([], [1], [])


def run(secrets):
    reader, redactor = Reader(), Redactor(secrets)
    while True:
        data = read()
        out = []
        try:
            for fields, raw in reader.frames(data):
                out.append(redactor.frame(fields, raw))
            if not data:
                reader.end()
        except Malformed as error:
            write(b"".join(out) + redactor.release())
            print(f"redact.py: {error}", file=sys.stderr)
            return 65
        if not data:
            out.append(redactor.release())
        write(b"".join(out))
        if not data:
            return 0


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # to the end of the input: nothing that was produced is lost
    patterns = [os.fsencode(pattern) for pattern in sys.argv[1:]] or KEYS
    if patterns in ([b"--help"], [b"-h"]):
        print(__doc__)
        return 0
    try:
        secrets = re.compile(b"|".join(b"(?:%s)" % pattern for pattern in patterns))
    except re.error as error:
        print(f"redact.py: not a regular expression: {error}", file=sys.stderr)
        return 64
    try:
        return run(secrets)
    except BrokenPipeError:
        return 0


sys.exit(main())
