# SPDX-License-Identifier: MIT OR Apache-2.0
"""The daemon as a process: how it starts, what it refuses to start with, and how it ends."""
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

import daemon
import harness
import rpc
from rpc import eventually

TOY = dict(partitions=2, rows=6)


def forty_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))


def shape(document):
    """A JSON document without its values."""
    if isinstance(document, dict):
        return {k: shape(v) for k, v in document.items()}
    return [shape(v) for v in document] if isinstance(document, list) else None


class Case(daemon.Case):
    """Daemons on a unix socket in the test's folder; `line` waits for a line of the log."""

    def setUp(self):
        super().setUp()
        self.socket = self.dir / "s"

    def serve(self, settings=None, **more):
        d = self.daemon({"daemon.listen": f"unix://{self.socket}", "daemon.status_listen": "", **(settings or {})},
                        start=False, **more)
        d.start(wait=False)
        self.line(d, "daemon: ready")
        d.grpc = str(self.socket)
        return d

    def line(self, d, words):
        def look():
            if words in d.text():
                return True
            if d.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {d.process.returncode}:\n{d.text()}")
        eventually(f"'{words}' in the log", look, 30)

    def prove(self, d, partitions=1, seed=1):
        with d.rpc() as c:
            return c.prove(partitions=partitions, rows=6, seed=seed)

    def ends(self, d, code, seconds=20):
        self.assertEqual(d.process.wait(seconds), code, d.text())

    def starts_not(self, words, settings, code):
        d = self.daemon({"daemon.listen": f"unix://{self.socket}", "daemon.status_listen": "", **settings}, start=False)
        d.start(wait=False)
        self.ends(d, code)
        last = d.text().strip().splitlines()[-1]
        self.assertTrue(last.startswith("cuzk: "), d.text())
        for w in words:
            self.assertIn(w, last)
        return last


class Life(Case):
    def test_serves_and_ends(self):
        d = self.serve()
        with d.rpc() as c:
            status, text, r = c.prove(**TOY)
            self.assertEqual((status, r["status"], len(r["proof"])), (rpc.OK, rpc.COMPLETED, 2 * 192), text)
        self.assertEqual(d.stop(), 0)
        self.assertFalse(self.socket.exists())
        self.assertIn("daemon: ended", d.text())
        self.assertIn("0 GPUs" if "0 GPUs" in d.text() else "devices by name", d.text())

    def test_both_wires(self):
        d = self.daemon()  # TCP, ports that are free
        with d.rpc() as c:
            self.assertEqual(c.prove(id="shown", **TOY)[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.get("/healthz")[0], 200)
        addr, http = "%s:%d" % d.grpc, "%s:%d" % d.http
        documents = []
        for where in (("--http", "http://" + http), ("--addr", addr)):
            text = self.ok("status", *where).stdout.decode()
            for word in ("1 done", "toy-6", "shown", "[##] 2/2", "good"):
                self.assertIn(word, text, where)
            documents.append(json.loads(self.ok("status", *where, "--json").stdout))
        over_http, over_grpc = documents
        self.assertEqual(shape(over_grpc), shape(over_http))
        self.assertEqual(over_grpc["cuzk"]["jobs"], over_http["cuzk"]["jobs"])
        second = self.daemon({"daemon.listen": addr}, start=False)
        second.start(wait=False)
        self.ends(second, 1)
        self.assertIn(addr, second.text())
        self.assertEqual(d.stop(), 0)
        for host in (d.grpc, d.http):
            with socket.socket() as s:
                self.assertNotEqual(s.connect_ex(host), 0)

    def test_test_parameters_show(self):
        """Whoever looks on hears that proofs are worth nothing, also when the files come after the start."""
        folder = self.dir / "params"
        folder.mkdir()
        marker = next(harness.PARAMS.glob("*.insecure"))
        for file in harness.PARAMS.glob(marker.stem + ".*"):
            if file != marker:
                (folder / file.name).symlink_to(file)
        d = self.daemon({"srs.param_cache": folder})
        http = "%s:%d" % d.http
        self.assertEqual(d.status()["cuzk"]["insecure"], [])
        self.assertIn(b"\ncuzk_insecure 0\n", d.get("/metrics")[1])
        self.assertNotIn("INSECURE", self.ok("status", "--http", http).stdout.decode() + d.text())
        (folder / marker.name).symlink_to(marker)
        with d.rpc() as c:
            self.assertEqual(c.preload("porep-2k")[0], rpc.OK)
            self.assertEqual(c.preload("porep-2k")[0], rpc.OK)
        reasons = d.status()["cuzk"]["insecure"]
        self.assertEqual(len(reasons), 1)
        self.assertRegex(reasons[0], 'parameters for 2KiB sectors in .*/params are test parameters with label "cuzk test"')
        self.assertIn(b"\ncuzk_insecure 1\n", d.get("/metrics")[1])
        self.assertIn("INSECURE: " + reasons[0], self.ok("status", "--http", http).stdout.decode())
        self.assertEqual(d.text().count("INSECURE: " + reasons[0]), 1)
        self.assertEqual(d.stop(), 0)
        d.start()  # they are there from the start
        self.assertEqual(d.status()["cuzk"]["insecure"], reasons)
        self.assertIn("INSECURE: " + reasons[0], d.text())

    def test_watching(self):
        d = self.serve()
        import pty
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(harness.CUZK, [harness.CUZK, "status", "--watch", "--addr", f"unix://{self.socket}"])
        seen = b""
        while seen.count(b"\x1b[H\x1b[J") < 2 or b"q ends" not in seen.split(b"\x1b[J")[-1]:
            seen += os.read(terminal, 4096)
        self.assertIn(b"0 running", seen)
        os.write(terminal, b"q")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)
        self.assertEqual(d.stop(), 0)

    def test_sigint_is_the_same(self):
        d = self.serve()
        d.process.send_signal(signal.SIGINT)
        self.ends(d, 0)

    def test_a_running_proof_may_finish(self):
        d = self.serve({"gpus.backend": ["sim:kernel=500ms"], "daemon.shutdown_timeout": "30s"})
        got = []
        t = threading.Thread(target=lambda: got.append(self.prove(d, partitions=3)))
        t.start()
        with d.rpc() as c:
            eventually("work on the device", lambda: b"GPU_START" in self.timeline(c))
        d.process.send_signal(signal.SIGTERM)
        self.line(d, "no more requests are accepted")
        with d.rpc() as late:
            self.assertEqual(late.submit(**TOY)[0], rpc.UNAVAILABLE)
        t.join(30)
        self.assertEqual(got[0][2]["status"], rpc.COMPLETED, got)
        self.ends(d, 0)

    def test_what_does_not_finish_is_cancelled(self):
        d = self.serve({"gpus.backend": ["sim:kernel=20s"], "daemon.shutdown_timeout": "300ms"})
        got = []
        threads = [threading.Thread(target=lambda i=i: got.append(self.prove(d, seed=i)))
                   for i in range(10)]
        for t in threads:
            t.start()
        with d.rpc() as c:
            eventually("ten jobs", lambda: self.timeline(c).count(b"JOB_SUBMIT") == 10)
        d.process.send_signal(signal.SIGTERM)
        self.ends(d, 0)
        for t in threads:
            t.join(10)
        self.assertEqual(len(got), 10)
        for status, text, r in got:
            self.assertTrue(status == rpc.CANCELLED or r["status"] == rpc.JOB_CANCELLED, (status, text, r))
        self.assertFalse(self.socket.exists())

    def test_a_key_that_nobody_needs_is_not_waited_for(self):
        d = self.serve({"daemon.shutdown_timeout": "1h"})
        got = []

        def preload():
            with d.rpc(timeout=120) as c:
                got.append(c.preload("toy-18"))
        t = threading.Thread(target=preload)
        t.start()
        with d.rpc() as c:
            eventually("a key on its way", lambda: b"SRS_LOAD_START" in self.timeline(c))
        d.process.send_signal(signal.SIGTERM)
        t.join(60)
        self.assertEqual(got[0][0], rpc.UNAVAILABLE, got)
        self.ends(d, 0)
        self.assertNotIn("something does not stop", d.text())

    def test_the_second_signal_ends_it_at_once(self):
        d = self.serve({"gpus.backend": ["sim:hang@0+"], "daemon.shutdown_timeout": "1h"})
        with d.rpc() as c:
            self.assertEqual(c.submit(**TOY)[0], rpc.OK)
        d.process.send_signal(signal.SIGTERM)
        self.line(d, "a second signal ends this at once")
        time.sleep(0.3)  # it drains, and would for an hour
        self.assertIsNone(d.process.poll())
        d.process.send_signal(signal.SIGTERM)
        self.ends(d, 128 + signal.SIGTERM)

    def test_killed_and_back(self):
        d = self.serve({"gpus.backend": ["sim:kernel=20s"]})
        with d.rpc() as c:
            status, _, job = c.submit(id="again", **TOY)
            self.assertEqual(status, rpc.OK)
        d.kill()
        self.assertTrue(self.socket.exists())
        d.configure({"daemon.listen": f"unix://{self.socket}", "daemon.status_listen": ""})
        d.start(wait=False)
        self.line(d, "daemon: ready")  # the socket of a dead daemon is replaced
        with d.rpc() as c:
            self.assertEqual(c.wait(job, 1000)[0], rpc.NOT_FOUND)
            status, text, r = c.prove(id="again", **TOY)
            self.assertEqual((status, r["status"]), (rpc.OK, rpc.COMPLETED), text)
        self.assertEqual(d.stop(), 0)

    def test_a_socket_in_use_is_refused(self):
        first = self.serve()
        self.starts_not(["another program answers"], {}, 1)
        with first.rpc() as c:  # and the first one was not disturbed
            self.assertEqual(c.prove(**TOY)[2]["status"], rpc.COMPLETED)

    def test_what_the_service_manager_hears(self):
        path = self.dir / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(str(path))
            s.settimeout(20)
            d = self.serve(env={"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "200000"})
            heard = []
            while not any("WATCHDOG=1" in h for h in heard):
                heard.append(s.recv(4096).decode())
            self.assertEqual(heard[0], "READY=1")
            self.assertTrue(any(h.startswith("STATUS=serving: 0 running") for h in heard), heard)
            d.process.send_signal(signal.SIGTERM)
            while not heard[-1].startswith("STOPPING=1"):
                heard.append(s.recv(4096).decode())
            self.ends(d, 0)

    def timeline(self, c):
        return c.call(c.SERVICE + "GetTimeline", b"")[2]


class Scarce(Case):
    def test_few_open_files(self):
        d = self.serve(preexec=forty_files)
        held = []
        for _ in range(60):  # more connections than there are descriptors
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(0.2)
            try:
                s.connect(str(self.socket))
            except OSError:
                pass
            held.append(s)
        self.line(d, "a connection was sent away")
        for s in held:
            s.close()

        def proves():
            try:
                with d.rpc(timeout=3) as c:
                    return c.prove(**TOY)[2]["status"] == rpc.COMPLETED
            except (OSError, rpc.Broken):
                return False
        eventually("a proof once descriptors are free again", proves, 60)
        self.assertEqual(d.stop(), 0)

    def test_full_disk_for_the_timeline(self):
        d = self.serve({"timeline.path": "/dev/full"})
        with d.rpc() as c:
            self.assertEqual(c.prove(**TOY)[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)
        self.assertIn("timeline", d.text())

    def test_a_timeline_that_cannot_be_opened(self):
        d = self.serve({"timeline.path": str(self.dir / "no" / "such")})
        with d.rpc() as c:
            self.assertEqual(c.prove(**TOY)[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)
        self.assertIn("the timeline is kept in memory alone", d.text())

    def test_a_log_nobody_reads(self):
        """Its reader is gone: the daemon lives on."""
        d = self.daemon({"daemon.listen": f"unix://{self.socket}", "daemon.status_listen": "", "logging.level": "trace"},
                        start=False)
        r, w = os.pipe()
        d.process = harness.subprocess.Popen([harness.CUZK, "--config", d.config], stdin=harness.subprocess.DEVNULL,
                                             stdout=w, stderr=w)
        os.close(w)
        eventually("the socket", self.socket.exists, 30)
        os.close(r)
        with rpc.Rpc(str(self.socket)) as c:
            self.assertEqual(c.prove(**TOY)[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)


@unittest.skipUnless(shutil.which("openssl"), "no openssl program here")
class Secure(Case):
    """TLS, with a certificate asked of clients."""

    def setUp(self):
        super().setUp()
        for name, subject in [("server", "localhost"), ("client", "somebody"), ("other", "stranger")]:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", f"{name}.key",
                            "-out", f"{name}.pem", "-subj", f"/CN={subject}", "-addext", "subjectAltName=IP:127.0.0.1"],
                           cwd=self.dir, check=True, capture_output=True)

    def secure(self, **more):
        d = self.daemon({"daemon.status_listen": "", "daemon.tls_cert": self.dir / "server.pem", "daemon.tls_key": self.dir / "server.key",
                         "daemon.tls_client_ca": self.dir / "client.pem"}, start=False, **more)
        d.start(wait=False)
        self.line(d, "daemon: ready")
        d.grpc = d.listening("grpc")
        self.assertIn(", with TLS", d.text())
        return d

    def visit(self, d, name, timeout=20):
        trust = ssl.create_default_context(cafile=self.dir / "server.pem")
        trust.set_alpn_protocols(["h2"])
        if name is not None:
            trust.load_cert_chain(self.dir / f"{name}.pem", self.dir / f"{name}.key")
        sock = trust.wrap_socket(socket.create_connection(d.grpc, timeout=timeout), server_hostname="127.0.0.1")
        c = rpc.Rpc.over(sock)
        try:
            c.hello()
            return c.prove(**TOY)
        finally:
            c.close()

    def test_clients_with_and_without_certificates(self):
        d = self.secure()
        self.assertEqual(self.visit(d, "client")[2]["status"], rpc.COMPLETED)
        self.line(d, "certificate of somebody")
        for stranger in ["other", None]:
            with self.assertRaises((OSError, rpc.Broken)):
                self.visit(d, stranger)
        with self.assertRaises((OSError, rpc.Broken)):
            self.prove(d)  # without TLS
        self.assertEqual(self.visit(d, "client")[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)

    def fails(self, words, *args, code=1):
        r = harness.run(*args)
        text = r.stderr.decode()
        self.assertEqual(r.returncode, code, text)
        for word in words:
            self.assertIn(word, text)

    def test_the_program_as_a_client(self):
        d = self.secure()
        address, c1 = "https://127.0.0.1:%d" % d.grpc[1], self.dir / "c1.json"
        c1.write_text("{}")
        ca = ("--ca", self.dir / "server.pem")
        own, other = [("--cert", self.dir / f"{name}.pem", "--key", self.dir / f"{name}.key") for name in ("client", "other")]
        toy = ("--kind", "toy", "--toy-log-rows", 6, "--toy-partitions", 1)
        prove = ("prove", "--kind", "porep", "--c1", c1, "--out", self.dir / "proof")
        for command in [("status",), ("bench", "status"), ("bench", "metrics"), ("bench", "preload", "-c", "toy-6"),
                        ("bench", "single", *toy)]:
            with self.subTest(command=command):
                self.ok(*command, "--addr", address, *ca, *own)
                self.fails(["UNAVAILABLE"], *command, "--addr", address, *ca)
        # Here the daemon's answer is that the C1 is none.
        self.fails([address, "INVALID_ARGUMENT"], *prove, "--addr", address, *ca, *own)
        self.fails([address, "UNAVAILABLE"], *prove, "--addr", address, *ca)
        self.fails([address, "UNAVAILABLE"], "status", "--addr", address, *ca, *other)  # of another authority
        self.fails([address, "UNAVAILABLE"], "status", "--addr", address, *own)  # which this machine does not trust
        self.line(d, "certificate of somebody")
        # Nothing secret goes over a connection that is plain.
        plain = "127.0.0.1:%d" % d.grpc[1]
        for target in (plain, "http://" + plain):
            for flags in (ca, own):
                self.fails(["https://"], "status", "--addr", target, *flags, code=2)
                self.fails(["https://"], *prove, "--addr", target, *flags, code=2)
        self.fails(["https://"], "bench", "single", *toy, *ca, code=2)  # its own daemon's socket
        self.fails(["--addr"], *prove, "--params", self.dir, *own, code=2)
        self.fails(["--http"], "status", "--http", plain, *ca, code=2)
        for command in [("status",), ("bench", "single", *toy), prove]:
            self.fails(["--cert and --key"], *command, "--addr", address, *ca, *own[:2], code=2)
            self.fails(["none.pem"], *command, "--addr", address, "--ca", self.dir / "none.pem")
        self.assertEqual(d.stop(), 0)

    def test_few_open_files(self):
        d = self.secure(preexec=forty_files)
        with contextlib.ExitStack() as held:
            for _ in range(60):  # more connections than there are descriptors
                try:
                    held.enter_context(socket.create_connection(d.grpc, timeout=0.2)).sendall(b"\x16\x03\x01\x02\0\x01\0")
                except OSError:
                    pass
            self.line(d, "a connection was sent away")

        def proves():
            try:
                return self.visit(d, "client", 3)[2]["status"] == rpc.COMPLETED
            except (OSError, rpc.Broken):
                return False
        eventually("a proof once descriptors are free again", proves, 60)
        self.assertEqual(d.stop(), 0)


class Refusals(Case):
    def test_configurations(self):
        self.starts_not(["cuzk.toml:", "gpus.use", "a GPU is required; 0 GPUs were found"],
                        {"gpus.backend": [], "gpus.use": "required"}, 2)
        self.starts_not(["gpus.devices", "there is no GPU 7"], {"gpus.backend": [], "gpus.devices": [7]}, 2)
        self.starts_not(["memory.total_budget", "nothing fits into the budget of 0.0 MiB", "a toy circuit"],
                        {"memory.total_budget": "1KiB", "srs.param_cache": self.dir}, 2)
        self.starts_not(["daemon.tls_cert", "belong together"], {"daemon.tls_cert": "x.pem"}, 2)
        self.starts_not(["pipeline.policy", "needs pipeline.slot_size"], {"pipeline.policy": "slotted"}, 2)
        self.starts_not(["no device \"gpu9\""], {"gpus.backend": ["gpu9"]}, 2)
        self.starts_not(["daemon.lisen", "did you mean daemon.listen?"], {"daemon.lisen": "x"}, 2)

    def test_files(self):
        self.refused("/nonexistent.toml", "--config", "/nonexistent.toml", code=2)
        self.refused(["unknown option", "--frob"], "--frob", code=2)
        self.refused(["--log-level", "logging.level", "loud"], "--log-level", "loud", code=2)

    def test_check_config(self):
        (self.dir / "a.toml").write_text("[srs]\npreload = [\"porep-32g\"]\n[pipeline]\nslot_size = 0\n")
        r = self.ok("--config", self.dir / "a.toml", "--check-config", "--json", "--listen", "127.0.0.1:1",
                    env={"CUZK_LOGGING_LEVEL": "debug", "CUZK_DAEMON_PORT": "1"})
        j = json.loads(r.stdout)
        self.assertEqual(j["config"]["daemon"]["listen"], {"value": "127.0.0.1:1", "source": "flag"})
        self.assertEqual(j["config"]["logging"]["level"], {"value": "debug", "source": "environment CUZK_LOGGING_LEVEL"})
        self.assertEqual(j["config"]["pipeline"]["slot_size"], {"value": 0, "source": f"{self.dir}/a.toml:4"})
        self.assertEqual(j["config"]["memory"]["total_budget"], {"value": "auto", "source": "default"})
        self.assertEqual(j["derived"]["policy"], "standard")  # slot_size is set, and 0
        self.assertEqual(j["derived"]["devices"], "0 GPUs: CPU backend")
        self.assertIn("environment CUZK_DAEMON_PORT: there is no such key", j["warnings"])
        self.assertIn(f"{self.dir}/a.toml:2: srs.preload is deprecated and has no effect", j["warnings"])
        # What it prints as text is TOML, and says the same.
        text = self.ok("--config", self.dir / "a.toml", "--check-config").stdout
        (self.dir / "b.toml").write_bytes(text)
        again = self.ok("--config", self.dir / "b.toml", "--check-config").stdout
        strip = [line.split("#")[0].rstrip() for line in text.decode().splitlines() if "=" in line.split("#")[0]]
        self.assertEqual(strip, [line.split("#")[0].rstrip() for line in again.decode().splitlines()
                                 if "=" in line.split("#")[0]])

    def test_policies(self):
        for settings, policy in [({}, "partition"), ({"pipeline.slot_size": 3}, "slotted"),
                                 ({"pipeline.enabled": "no"}, "standard"), ({"scheduler.max_batch_size": 2}, "batch"),
                                 ({"pipeline.policy": "standard", "pipeline.slot_size": 3}, "standard"),
                                 ({"pipeline.slot_size": 0, "scheduler.max_batch_size": 2}, "batch")]:
            sets = [w for k, v in settings.items() for w in ("--set", f"{k}={v}")]
            j = json.loads(self.ok("--check-config", "--json", *sets).stdout)
            self.assertEqual(j["derived"]["policy"], policy, settings)


class Bench(Case):
    def test_private_daemon(self):
        out = self.dir / "w.html"
        r = self.ok("bench", "--kind", "toy", "--toy-partitions", 2, "--toy-log-rows", 6, "-n", 6, "-j", 2, "--json",
                    "--waterfall", out, env={"TMPDIR": str(self.dir)})
        j = json.loads(r.stdout)
        self.assertEqual((j["done"], j["failed"], j["cancelled"], j["proofs"], j["proof_bytes"]), (6, 0, 0, 6, 384))
        cold, warm = j["cold"] or {"proofs": 0}, j["warm"] or {"proofs": 0}
        self.assertEqual(cold["proofs"] + warm["proofs"], 6)
        self.assertGreaterEqual(cold["proofs"], 1)
        for part in (cold, warm):
            for name, v in part.items():
                if name != "proofs":
                    self.assertLessEqual(v["min"], v["median"], name)
                    self.assertLessEqual(v["median"], v["p95"], name)
        self.assertGreater(j["proofs_per_minute"], 0)
        self.assertIn("<canvas", out.read_text()[:20000])
        self.assertNotIn("without their END", out.read_text())
        self.assertEqual([p.name for p in self.dir.iterdir()], ["w.html"])  # the private socket is gone

    def test_an_ending_that_no_waterfall_has(self):
        """Said before anything is proven."""
        self.refused(["w.png", "no waterfall has the ending .png"], "bench", "--kind", "toy", "--waterfall", self.dir / "w.png", code=2)

    def test_through_a_daemon(self):
        d = self.serve({"daemon.max_pending": 2, "gpus.backend": ["sim:wrong@0"]})
        addr = f"unix://{self.socket}"
        toy = ["--kind", "toy", "--toy-partitions", 1, "--toy-log-rows", 6]
        j = json.loads(self.ok("bench", "--addr", addr, *toy, "-n", 5, "-j", 5, "--json").stdout)
        self.assertEqual((j["done"], j["failed"]), (5, 0))  # a full queue is waited for
        text = self.ok("bench", "single", "-a", addr, *toy).stdout.decode()
        self.assertIn("1 done, 0 failed", text)
        self.assertIn("machine", text)
        self.assertNotIn("queue was full", text)  # only where it was
        self.assertIn("toy-6", self.ok("status", "--addr", addr).stdout.decode())
        s = json.loads(self.ok("bench", "status", "-a", addr, "--json").stdout)
        self.assertEqual(s["cuzk"]["counts"]["completed"], 6)
        for flag in ("-c", "--circuit-id"):
            self.assertIn("was loaded already", self.ok("bench", "preload", "-a", addr, flag, "toy-6").stdout.decode())
        self.ok("bench", "-a", addr, *toy, "-n", 5, "-j", 2)
        text = self.ok("status", "-a", addr).stdout.decode()  # of those that ended the newest
        self.assertEqual((text.count(" done "), text.count("1/1"), text.count("and 3 more that have ended")), (8, 8, 1), text)
        self.assertIn(b"# TYPE cuzk_", self.ok("bench", "metrics", "-a", addr).stdout)
        r = harness.run("bench", "-a", addr, "--kind", "winning", "--vanilla", "-", "-n", 1, stdin=b'["AAAA"]')
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"UNIMPLEMENTED", r.stderr)
        self.assertEqual(d.stop(), 0)
        r = harness.run("bench", "-a", addr, *toy, "-n", 3)
        self.assertEqual(r.returncode, 1)
        self.assertIn(b"UNAVAILABLE", r.stderr)

    def test_stress(self):
        j = json.loads(self.ok("bench", "stress", "--kind", "toy", "--toy-partitions", 1, "--toy-log-rows", 6, "-n", 40,
                               "-j", 4, "--json").stdout)
        self.assertEqual(j["failed"], 0)
        self.assertEqual(j["done"] + j["cancelled"], 40)

    def test_interrupted(self):
        p = harness.subprocess.Popen([harness.CUZK, "bench", "--kind", "toy", "--set", "gpus.backend=sim:kernel=20s;",
                                      "--toy-partitions", "1", "-n", "100", "-j", "2", "--json", "--log-level", "debug"],
                                     stdout=harness.subprocess.PIPE, stderr=harness.subprocess.PIPE)
        self.addCleanup(lambda: p.poll() is None and p.kill())
        time.sleep(1)
        while b"toy" not in p.stderr.readline():
            pass
        time.sleep(1)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=30)
        self.assertEqual(p.returncode, 1)
        self.assertTrue(json.loads(out)["stopped"])

    def test_refusals(self):
        self.refused("--c1 is needed", "bench", "-n", 1, code=2)
        self.refused(["unknown kind 'frob'", "porep, snap"], "bench", "--kind", "frob", code=2)
        self.refused("unknown sub-command 'frob'", "bench", "frob", code=2)
        self.refused("gen-vanilla", "bench", "gen-vanilla", "winning-post", "--sealed", "x", code=2)
        self.refused(["--randomness", "64 hex"], "bench", "--kind", "winning", "--vanilla", "x", "--randomness", "12", code=2)
        self.refused("cannot open", "bench", "--c1", "/nonexistent", code=1)
        c1 = harness.c1_path("porep-2k-a")
        self.refused(["127.0.0.1:1", "UNAVAILABLE"], "prove", "--kind", "porep", "--addr", "127.0.0.1:1", "--c1", c1, "--out",
                     self.dir / "proof")
        self.refused("--params", "prove", "--kind", "porep", "--addr", "127.0.0.1:1", "--params", "x", "--c1", c1, "--out",
                     self.dir / "proof", code=2)
        self.refused(["127.0.0.1:1", "UNAVAILABLE"], "status", "--addr", "127.0.0.1:1")
        self.refused("127.0.0.1:1", "status", "--http", "127.0.0.1:1")
        self.refused("HOST:PORT", "status", "--http", "frob", code=2)


class Strangers(Case):
    """cuzk status and what is not this daemon."""

    def test_the_public_daemon(self):
        """It has no call for the document; devices, keys and queues are shown all the same."""
        def status(_):
            gpu = rpc.message({1: 0, 2: "RTX 5090", 5: "job-7", 6: "porep"})
            key = rpc.message({1: "porep-32g", 3: 45 << 30, 4: 1})
            queue = rpc.message({1: "porep", 2: 3, 3: 1})
            return rpc.message({1: gpu, 2: key, 3: queue, 4: 41, 5: 2, 6: 90, 7: 1 << 30, 8: 2 << 30})
        with rpc.Server({"GetStatus": status}) as server:
            addr = "%s:%d" % server.address
            text = self.ok("status", "--addr", addr).stdout.decode()
            for word in ("1 running, 3 queued, 41 done, 2 failed", "RTX 5090", "job-7", "porep-32g", "45.0 GiB", "does not tell which"):
                self.assertIn(word, text)
            self.assertNotIn("jobs", json.loads(self.ok("status", "--addr", addr, "--json").stdout)["cuzk"])
        self.assertEqual(server.asked, ["GetStatusJson", "GetStatus"] * 2)

    def ask(self, answer, words):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def serve():
                c, _ = server.accept()
                with c:
                    c.recv(4096)
                    try:
                        c.sendall(answer)
                    except OSError:
                        pass
            t = threading.Thread(target=serve)
            t.start()
            self.refused(words, "status", "--http", "127.0.0.1:%d" % server.getsockname()[1])
            t.join()

    def test_answers(self):
        self.ask(b"", "was cut")
        self.ask(b"HTTP/1.1 200 OK\r\nContent-Le", "was cut")
        self.ask(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", "was cut")
        self.ask(b"HTTP/1.1 500 Oh no\x1b[2J\r\n\r\n{}", "500 Oh no?[2J")
        self.ask(b"SSH-2.0-OpenSSH\r\n\r\n", "SSH-2.0")
        self.ask(b"HTTP/1.1 200 OK\r\n\r\n[1, 2]", "no JSON object")
        self.ask(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}", "was cut")
        self.ask(b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * (65 << 20), "too large")


class Params(Case):
    def test_parameters_that_come_later(self):
        params = self.dir / "params"
        params.mkdir()
        d = self.serve({"srs.param_cache": params, "testing.toy_circuits": True})
        c1 = harness.c1_path("porep-2k-a").read_bytes()
        with d.rpc(timeout=600) as c:
            status, text, _ = c.prove(kind=rpc.POREP, partitions=2048, rows=0, vanilla=c1)
            self.assertNotEqual(status, rpc.OK)
            self.assertIn(str(params), text)
            self.assertEqual(c.prove(**TOY)[2]["status"], rpc.COMPLETED)  # others are not harmed
            for f in harness.PARAMS.iterdir():
                if harness.POREP_2K in f.name and not f.name.endswith(".checked"):
                    (params / f.name).symlink_to(f)
        proof = self.dir / "proof"
        said = self.ok("prove", "--addr", f"unix://{self.socket}", "--kind", "porep", "--c1", harness.c1_path("porep-2k-a"),
                       "--out", proof)
        self.assertIn(b"192 bytes", said.stderr)
        self.ok("verify", "--kind", "porep", "--c1", harness.c1_path("porep-2k-a"), "--params", params, "--proof", proof)
        self.assertEqual(d.stop(), 0)


if __name__ == "__main__":
    harness.main()
