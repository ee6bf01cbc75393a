# SPDX-License-Identifier: MIT OR Apache-2.0
"""A daemon of one test: its own folder, ports that are free, its log in a file."""
import http.client
import json
import os
import re
import select
import signal
import subprocess
import threading
from pathlib import Path

import harness
from rpc import Rpc, eventually

DEFAULTS = {
    "daemon.listen": "127.0.0.1:0",
    "daemon.status_listen": "127.0.0.1:0",
    "gpus.backend": ["cpu"],
    "testing.toy_circuits": True,
}


def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, default=str)


class Daemon:
    """Daemon(folder, **{"section.key": value}) writes folder/cuzk.toml; start() runs it and waits until it listens."""

    def __init__(self, folder, settings=None, env=None, before=(), preexec=None):
        self.folder = Path(folder)
        self.env, self.before, self.preexec = env or {}, list(before), preexec
        self.log = self.folder / "daemon.log"
        self.process = None
        self.configure(settings or {})

    def configure(self, settings):
        sections = {}
        for name, value in {**DEFAULTS, "srs.param_cache": harness.PARAMS, **settings}.items():
            section, key = name.split(".")
            sections.setdefault(section, []).append(f"{key} = {toml(value)}")
        text = "".join(f"[{s}]\n" + "".join(line + "\n" for line in lines) for s, lines in sections.items())
        self.config = self.folder / "cuzk.toml"
        self.config.write_text(text)

    def start(self, wait=True):
        self.start_of_log = self.log.stat().st_size if self.log.exists() else 0
        # Through a pipe, so that a limit on files is not one on the log.
        self.process = subprocess.Popen([*self.before, harness.CUZK, "--config", self.config], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env={**os.environ, **self.env}, preexec_fn=self.preexec)
        self.reader_goes = threading.Event()
        self.reader = threading.Thread(target=self._copy, args=(self.process.stdout,), daemon=True)
        self.reader.start()
        if wait:
            self.grpc = self.listening("grpc")
            self.http = self.listening("http")
        return self

    def _copy(self, pipe):
        with open(self.log, "ab", buffering=0) as log, pipe:
            while not self.reader_goes.is_set():
                if select.select([pipe], [], [], 0.1)[0]:
                    block = os.read(pipe.fileno(), 65536)
                    if not block:
                        break
                    log.write(block)

    def drop_log(self):
        """Whoever reads the daemon's log is gone."""
        self.reader_goes.set()
        self.reader.join()

    def text(self):
        """The log since the last start; all of it, once the daemon has ended."""
        if self.process is not None and self.process.poll() is not None:
            self.reader.join(10)
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as f:
            f.seek(self.start_of_log)
            return f.read().decode(errors="replace")

    def listening(self, what):
        def look():
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.text()}")
            m = re.search(what + r"\b.*?127\.0\.0\.1:(\d+)", self.text(), re.IGNORECASE)
            return m and ("127.0.0.1", int(m.group(1)))
        return eventually(f"a port of {what} in the log:\n", look, 30)

    def rpc(self, **more):
        return Rpc(self.grpc, **more)

    def get(self, path, timeout=10):
        c = http.client.HTTPConnection(*self.http, timeout=timeout)
        try:
            c.request("GET", path)
            r = c.getresponse()
            return r.status, r.read()
        finally:
            c.close()

    def status(self):
        code, body = self.get("/status")
        assert code == 200, (code, body)
        return json.loads(body)

    def timeline(self, since=0):
        code, body = self.get(f"/timeline?since={since}")
        assert code == 200, (code, body)
        return json.loads(body)

    def resident(self):
        """Resident bytes of the process."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no VmRSS")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, seconds=60):
        """SIGTERM; returns the exit code."""
        if self.process is None or self.process.poll() is not None:
            return self.process and self.process.returncode
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the daemon did not end within {seconds} s of SIGTERM:\n{self.text()[-3000:]}") from None


class Case(harness.Case):
    """A test with a folder and daemons, which are gone at its end."""

    def daemon(self, settings=None, start=True, **more):
        d = Daemon(self.dir, settings, **more)
        self.addCleanup(lambda: d.process and d.process.poll() is None and d.kill())
        return d.start() if start else d
