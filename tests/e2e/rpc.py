# SPDX-License-Identifier: MIT OR Apache-2.0
"""gRPC by hand, for tests that must do what a well-behaved client never does: HTTP/2 frames over a socket (RFC 9113),
headers without Huffman coding or indexing (RFC 7541), messages as numbered fields. One call at a time a connection."""
import socket
import struct
import threading
import time

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS = range(7)
RESOURCE_EXHAUSTED, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL, UNAVAILABLE = 8, 9, 12, 13, 14
POREP, TOY = 1, 1000
COMPLETED, FAILED, JOB_CANCELLED, TIMEOUT = 1, 2, 3, 4

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS = 1, 4
# RFC 7541, appendix A: names with the values that some have.
STATIC = [tuple((e + "=").split("=")[:2]) for e in (
    ":authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|:status=200|:status=204|"
    ":status=206|:status=304|:status=400|:status=404|:status=500|accept-charset|accept-encoding=gzip, deflate|"
    "accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|cache-control|"
    "content-disposition|content-encoding|content-language|content-length|content-location|content-range|content-type|"
    "cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|if-unmodified-since|"
    "last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|"
    "server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate").split("|")]


class Broken(Exception):
    """The connection ended, or the peer reset the stream."""


# --- messages ---

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def message(fields):
    """{number: int | bytes | str | list of these}; zero and empty are left out, as proto3 does."""
    out = bytearray()
    for number, value in fields.items():
        for v in value if isinstance(value, list) else [value]:
            if isinstance(v, int):
                if v:
                    out += varint(number << 3) + varint(v)
            else:
                v = v.encode() if isinstance(v, str) else v
                if v:
                    out += varint(number << 3 | 2) + varint(len(v)) + v
    return bytes(out)


def fields(data):
    """The inverse for varints and bytes: {number: [values]}."""
    out, at = {}, 0

    def number():
        nonlocal at
        v = shift = 0
        while True:
            v |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                return v
    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 2:
            n = number()
            value, at = data[at:at + n], at + n
        else:
            raise ValueError(f"wire type {key & 7}")
        out.setdefault(key >> 3, []).append(value)
    return out


def one(f, number, default=0):
    return f.get(number, [default])[-1]


# --- headers ---

def literal(text):
    b = text.encode()
    if len(b) < 127:
        return bytes([len(b)]) + b
    return b"\x7f" + varint(len(b) - 127) + b


def headers_block(pairs):
    return b"".join(b"\0" + literal(n) + literal(v) for n, v in pairs)


class HeaderReader:
    def __init__(self):
        self.dynamic = []

    def read(self, block):
        out, at = [], 0

        def integer(bits):
            nonlocal at
            v = block[at] & (1 << bits) - 1
            at += 1
            if v < (1 << bits) - 1:
                return v
            shift = 0
            while True:
                b = block[at]
                at += 1
                v += (b & 127) << shift
                shift += 7
                if b < 128:
                    return v

        def text():
            nonlocal at
            huffman = block[at] & 128
            n = integer(7)
            raw = block[at:at + n]
            at += n
            return "?" if huffman else raw.decode(errors="replace")

        def entry(i):
            return STATIC[i - 1] if i <= len(STATIC) else self.dynamic[i - len(STATIC) - 1]
        while at < len(block):
            b = block[at]
            if b & 128:
                out.append(entry(integer(7)))
            elif b & 0xe0 == 0x20:
                integer(5)
            else:
                keep = b & 64
                i = integer(6 if keep else 4)
                name = entry(i)[0] if i else text()
                out.append((name, text()))
                if keep:
                    self.dynamic.insert(0, out[-1])
        return out


# --- the connection ---

class Rpc:
    """target: (host, port) or the path of a socket."""

    def __init__(self, target, timeout=60, hello=True):
        family = socket.AF_UNIX if isinstance(target, str) else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.settimeout(timeout)
        sock.connect(target)
        self.begin(sock)
        if hello:
            self.hello()

    @classmethod
    def over(cls, sock):
        """The same frames on a connection that somebody else opened."""
        c = cls.__new__(cls)
        c.begin(sock)
        return c

    def begin(self, sock):
        self.sock = sock
        self.buffer = b""
        self.reader = HeaderReader()
        self.stream = -1
        self.held = []  # frames of an answer that came while the request was still being sent
        self.window = self.initial = 65535
        self.stream_window = 0

    def hello(self):
        self.sock.sendall(PREFACE)
        self.frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1 << 30))
        self.frame(WINDOW, 0, 0, struct.pack(">I", 1 << 30))

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def frame(self, kind, flags, stream, payload=b""):
        try:
            self.sock.sendall(struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload)
        except OSError as e:
            raise Broken(str(e)) from e

    def exactly(self, n):
        while len(self.buffer) < n:
            try:
                more = self.sock.recv(65536)
            except socket.timeout:
                raise
            except OSError as e:
                raise Broken(str(e)) from e
            if not more:
                raise Broken("the peer closed the connection")
            self.buffer += more
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def next_frame(self):
        """Reads a frame and does what every frame wants done."""
        head = self.exactly(9)
        length, kind, flags, stream = int.from_bytes(head[:3], "big"), head[3], head[4], int.from_bytes(head[5:], "big")
        payload = self.exactly(length)
        if kind == SETTINGS and not flags & 1:
            for i in range(0, length, 6):
                key, value = struct.unpack(">HI", payload[i:i + 6])
                if key == 4:
                    self.stream_window += value - self.initial
                    self.initial = value
            self.frame(SETTINGS, 1, 0)
        elif kind == PING and not flags & 1:
            self.frame(PING, 1, 0, payload)
        elif kind == WINDOW:
            n = int.from_bytes(payload, "big")
            if stream == 0:
                self.window += n
            elif stream == self.stream:
                self.stream_window += n
        return kind, flags, stream, payload

    def open(self, method, more=()):
        """Begins a call; returns its stream."""
        self.stream += 2
        self.stream_window = self.initial
        block = headers_block([(":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "cuzk"),
                               ("content-type", "application/grpc"), ("te", "trailers"), *more])
        self.frame(HEADERS, END_HEADERS, self.stream, block)
        return self.stream

    def send(self, payload, end=True):
        """One gRPC message in frames of 16 KiB, as fast as the windows allow."""
        self.raw(b"\0" + struct.pack(">I", len(payload)) + payload, end)

    def raw(self, data, end=True):
        at = 0
        while at < len(data) or (end and at == 0 and not data):
            n = min(16384, len(data) - at, self.window, self.stream_window)
            if n <= 0:
                got = self.next_frame()
                if got[0] == GOAWAY or (got[2] == self.stream and got[0] in (RST, HEADERS)):
                    self.held.append(got)
                    raise Broken("the peer answered before the request was whole")
                continue
            last = end and at + n == len(data)
            self.frame(DATA, END_STREAM if last else 0, self.stream, data[at:at + n])
            self.window -= n
            self.stream_window -= n
            at += n

    def answer(self):
        """(status, text, message) of the open call."""
        data, status, text = b"", None, ""
        self.retry_after = None
        while True:
            kind, flags, stream, payload = self.held.pop(0) if self.held else self.next_frame()
            if kind == GOAWAY and int.from_bytes(payload[:4], "big") < self.stream:
                raise Broken("the peer goes away")
            if stream != self.stream:
                continue
            if kind == RST:
                if status is None and int.from_bytes(payload, "big") == 11:  # ENHANCE_YOUR_CALM, as gRPC reads it
                    return RESOURCE_EXHAUSTED, "reset", b""
                if status is None:
                    raise Broken(f"the peer reset the stream: {int.from_bytes(payload, 'big')}")
                break
            if kind == DATA:
                data += payload
            if kind == HEADERS:
                for name, value in self.reader.read(payload):
                    if name == "grpc-status":
                        status = int(value)
                    elif name == "grpc-message":
                        text = value
                    elif name in ("grpc-retry-pushback-ms", "retry-after-ms"):
                        self.retry_after = value
            if flags & END_STREAM:
                break
        return (UNKNOWN if status is None else status), text, data[5:]

    def call(self, method, payload, timeout=None):
        more = () if timeout is None else (("grpc-timeout", f"{int(timeout * 1000)}m"),)
        self.open(method, more)
        try:
            self.send(payload)
        except Broken:
            pass  # there may be an answer to a request that was cut short
        return self.answer()

    # --- the service ---

    SERVICE = "/cuzk.v1.ProvingEngine/"

    def submit(self, **request):
        status, text, data = self.call(self.SERVICE + "SubmitProof", submit_fields(**request))
        f = fields(data)
        return status, text, one(f, 1, b"").decode()

    def wait(self, job, timeout_ms=0):
        status, text, data = self.call(self.SERVICE + "AwaitProof", message({1: job, 2: timeout_ms}))
        return status, text, result(data)

    def prove(self, **request):
        status, text, data = self.call(self.SERVICE + "Prove", message({1: submit_fields(**request)}))
        return status, text, result(one(fields(data), 1, b""))

    def cancel(self, job):
        status, text, data = self.call(self.SERVICE + "CancelProof", message({1: job}))
        return status, text, bool(one(fields(data), 1))

    def preload(self, key):
        status, text, _ = self.call(self.SERVICE + "PreloadSRS", message({1: key}))
        return status, text


def submit_fields(id="", kind=TOY, partitions=1, rows=6, seed=1, vanilla=None, priority=0):
    """A SubmitProofRequest, of a toy unless `vanilla` says otherwise."""
    return message({1: id, 2: kind, 3: partitions, 4: rows, 5: priority,
                    10: struct.pack("<Q", seed) if vanilla is None else vanilla})


def result(data):
    f = fields(data)
    return {"job": one(f, 1, b"").decode(), "status": one(f, 2), "proof": one(f, 3, b""), "error": one(f, 4, b"").decode(),
            "srs_load_ms": one(f, 11), "total_ms": one(f, 14)}


class Server:
    """{"Call": function from a request's bytes to the answer's}; any other call is UNIMPLEMENTED. As much of HTTP/2 as
    one client after the other needs whose requests and answers are small."""

    def __init__(self, calls):
        self.calls, self.asked = calls, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()
        self.thread = threading.Thread(target=self._accept)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with sock:
                try:
                    self._serve(Rpc.over(sock))
                except (Broken, OSError):
                    pass

    def _serve(self, c):
        c.exactly(len(PREFACE))
        c.frame(SETTINGS, 0, 0)
        paths, bodies = {}, {}
        while True:
            kind, flags, stream, payload = c.next_frame()
            if kind == HEADERS:
                paths[stream] = dict(c.reader.read(payload))[":path"].rsplit("/", 1)[-1]
            elif kind == DATA:
                bodies[stream] = bodies.get(stream, b"") + payload
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                self._answer(c, stream, paths.pop(stream), bodies.pop(stream, b"")[5:])

    def _answer(self, c, stream, name, body):
        self.asked.append(name)
        known = name in self.calls
        head = [(":status", "200"), ("content-type", "application/grpc")]
        if known:
            answer = self.calls[name](body)
            c.frame(HEADERS, END_HEADERS, stream, headers_block(head))
            c.frame(DATA, 0, stream, b"\0" + struct.pack(">I", len(answer)) + answer)
            head = []
        c.frame(HEADERS, END_HEADERS | END_STREAM, stream, headers_block(head + [("grpc-status", str(OK if known else UNIMPLEMENTED))]))


def eventually(what, condition, seconds=20):
    """Waits for condition() to be true, and returns what it returned."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
