# SPDX-License-Identifier: MIT OR Apache-2.0
"""What goes wrong around a daemon: it is killed at any stage, clients are slow, silent, noisy or too big, disks are full,
descriptors run out. Nothing hangs, nothing half-made is trusted, and other clients are served."""
import base64
import json
import os
import resource
import signal
import socket
import threading
import time

import harness
import rpc
from daemon import Case
from rpc import Rpc, eventually

MIB = 1 << 20


def served(test, d):
    """Another client is served, promptly, over both wires."""
    begin = time.monotonic()
    with d.rpc(timeout=30) as c:
        status, text, r = c.prove(partitions=1, seed=int(begin * 1e6) & 0xffff)
    test.assertEqual((status, r["status"], len(r["proof"])), (rpc.OK, rpc.COMPLETED, 192), text)
    test.assertEqual(d.get("/healthz")[0], 200)
    test.assertLess(time.monotonic() - begin, 20)


def crowd_leaves(test, d, connections, *seconds):
    """The daemon has outlived them, and serves again once they are closed."""
    test.assertIsNone(d.process.poll(), d.text())
    for s in connections:
        s.close()

    def again():
        try:
            served(test, d)
            return True
        except (OSError, rpc.Broken):
            return False
    eventually("service after the crowd has left", again, *seconds)


class Killed(Case):
    """kill -9, then the same daemon again at the same address; the client comes again with the same id."""

    def killed(self, event, kind="sim:kernel=1s", **request):
        d = self.daemon({"gpus.backend": [kind], "timeline.path": self.dir / "timeline.log"})
        request = {"id": "again", "partitions": 2, **request}
        with d.rpc() as c:
            status, text, job = c.submit(**request)
            self.assertEqual((status, job), (rpc.OK, "again"), text)
            eventually(f"{event} in the timeline", lambda: any(f",{event}," in line for line in d.timeline()["lines"]), 60)
            d.kill()
            with self.assertRaises(rpc.Broken):
                c.wait(job)
        d.configure({"daemon.listen": "%s:%d" % d.grpc, "daemon.status_listen": "%s:%d" % d.http, "timeline.path": self.dir / "timeline.log"})
        d.start()
        with d.rpc(timeout=60) as c:
            begin = time.monotonic()
            status, text, _ = c.wait(job)
            self.assertEqual(status, rpc.NOT_FOUND, text)
            self.assertLess(time.monotonic() - begin, 5)
            status, text, r = c.prove(**request)
            self.assertEqual((status, r["status"], len(r["proof"])), (rpc.OK, rpc.COMPLETED, 2 * 192), text + r["error"])
        self.assertEqual(d.stop(), 0)
        # Two runs in one file, and the analyser knows.
        self.assertEqual((self.dir / "timeline.log").read_text().count(",EPOCH,"), 2)
        harness.run("waterfall", self.dir / "timeline.log")

    def test_key_load(self):
        self.killed("SRS_LOAD_START", rows=15)

    def test_synthesis(self):
        self.killed("SYNTH_START", rows=15)

    def test_device(self):
        self.killed("GPU_START")

    def test_reply(self):
        self.killed("JOB_DONE", "cpu")

    def test_stale_socket(self):
        path = self.dir / "cuzk.sock"
        d = self.daemon({"daemon.listen": f"unix://{path}"}, start=False)
        d.start(wait=False)
        d.http = d.listening("http")
        eventually("the socket", path.exists)
        d.kill()
        self.assertTrue(path.exists())
        d.start(wait=False)
        d.http = d.listening("http")

        def answers():
            try:
                with Rpc(str(path)) as c:
                    return c.prove()[2]["status"] == rpc.COMPLETED
            except (OSError, rpc.Broken):
                return False
        eventually("an answer over the socket that was left behind", answers)
        # A live one is not taken.
        other = harness.run("--config", d.config, "--status-listen", "127.0.0.1:0", timeout=30)
        self.assertNotEqual(other.returncode, 0)
        with Rpc(str(path)) as c:
            self.assertEqual(c.prove()[2]["status"], rpc.COMPLETED)
        self.assertEqual(d.stop(), 0)
        self.assertFalse(path.exists())


class Clients(Case):
    def test_one_byte_a_second(self):
        d = self.daemon()
        payload = rpc.message({1: rpc.submit_fields(id="slow", partitions=1)})
        slow = []
        for _ in range(10):
            c = d.rpc()
            self.addCleanup(c.close)
            c.open(Rpc.SERVICE + "Prove")
            slow.append(c)
        web = socket.create_connection(d.http)
        self.addCleanup(web.close)
        data = b"\0" + len(payload).to_bytes(4, "big") + payload
        for at in range(3):
            for c in slow:
                c.frame(rpc.DATA, 0, c.stream, data[at:at + 1])
            web.sendall(b"GET /status HTTP/1.1\r\n"[at:at + 1])
            served(self, d)
            time.sleep(1)
        # One of them finishes after all, and gets its answer.
        slow[0].frame(rpc.DATA, rpc.END_STREAM, slow[0].stream, data[3:])
        status, text, answer = slow[0].answer()
        self.assertEqual(status, rpc.OK, text)
        self.assertEqual(rpc.result(rpc.one(rpc.fields(answer), 1))["status"], rpc.COMPLETED)
        for c in slow[1:]:
            c.close()
        served(self, d)
        self.assertEqual(d.stop(), 0)

    def test_half_open(self):
        d = self.daemon({"daemon.max_connections": 64})
        silent = []
        for address in [d.grpc, d.http]:
            for _ in range(40):
                silent.append(socket.create_connection(address))
        served(self, d)
        # Closed for writing, never read.
        for s in silent[::2]:
            s.shutdown(socket.SHUT_WR)
        served(self, d)
        for s in silent[1::4]:  # gone with a reset
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        for s in silent:
            s.close()
        served(self, d)
        self.assertEqual(d.stop(), 0)

    def test_more_connections_than_allowed(self):
        d = self.daemon({"daemon.max_connections": 16})
        many = []
        for address in [d.grpc, d.http]:
            for _ in range(60):
                try:
                    many.append(socket.create_connection(address, timeout=5))
                except OSError:
                    pass
        time.sleep(0.5)
        crowd_leaves(self, d, many)
        self.assertEqual(d.stop(), 0)

    def test_garbage(self):
        d = self.daemon()
        served(self, d)
        before = d.resident()
        noise = os.urandom(MIB) * 10
        starts = [b"", rpc.PREFACE, rpc.PREFACE + b"\0\0\0\4\0\0\0\0\0", b"GET /status HTTP/1.1\r\nX: ", b"POST /status HTTP/1.1\r\nContent-Length: 1099511627776\r\n\r\n",
                  b"GET /timeline?since=" + b"9" * 100000 + b" HTTP/1.1\r\n\r\n"]
        for address in [d.grpc, d.http]:
            for start in starts:
                with socket.create_connection(address, timeout=20) as s:
                    try:
                        s.sendall(start + noise)
                        s.shutdown(socket.SHUT_WR)
                        while s.recv(65536):
                            pass
                    except OSError:
                        pass  # it hung up, as it should
        served(self, d)
        self.assertLess(d.resident() - before, 64 * MIB)
        self.assertEqual(d.stop(), 0)

    def test_http_body_that_never_comes(self):
        d = self.daemon()
        with socket.create_connection(d.http, timeout=20) as s:
            s.sendall(b"POST /status HTTP/1.1\r\nHost: x\r\nContent-Length: 1099511627776\r\n\r\n")
            served(self, d)
        self.assertEqual(d.stop(), 0)

    def test_message_limit(self):
        limit = MIB
        d = self.daemon({"daemon.max_message": limit})

        def of(size):
            """A SubmitProofRequest of exactly so many bytes, which is a toy with a seed that is too long."""
            head = len(rpc.submit_fields(vanilla=b"x" * (size - 64))) - (size - 64)
            payload = rpc.submit_fields(vanilla=b"x" * (size - head))
            self.assertEqual(len(payload), size)
            return payload
        for size, code in [(limit - 1, rpc.INVALID_ARGUMENT), (limit, rpc.INVALID_ARGUMENT), (limit + 1, rpc.RESOURCE_EXHAUSTED)]:
            with d.rpc() as c:
                status, text, _ = c.call(Rpc.SERVICE + "SubmitProof", of(size))
                self.assertEqual(status, code, f"{size} bytes: {text}")
                if status == rpc.RESOURCE_EXHAUSTED:
                    self.assertIn(str(limit), text)
                    self.assertIn(str(size), text)
        # A length of 1 GiB and as much as is taken of it: refused long before it is there.
        before = d.resident()
        with d.rpc(timeout=30) as c:
            c.open(Rpc.SERVICE + "SubmitProof")
            peak = 0
            try:
                c.raw(b"\0\x40\0\0\0", end=False)
                for _ in range(1024):
                    c.raw(b"x" * MIB, end=False)
                    peak = max(peak, d.resident())
                self.fail("1 GiB was taken where 1 MiB is the limit")
            except rpc.Broken:
                pass
            status, text, _ = c.answer()
            self.assertEqual(status, rpc.RESOURCE_EXHAUSTED, text)
        self.assertLess(peak - before, 128 * MIB)
        served(self, d)
        self.assertEqual(d.stop(), 0)

    def test_gone_in_the_middle(self):
        d = self.daemon({"gpus.backend": ["sim:kernel=300ms"]})
        base = d.status()["memory"]["used_bytes"]
        for i in range(50):
            c = d.rpc()
            c.open(Rpc.SERVICE + "Prove")
            payload = rpc.message({1: rpc.submit_fields(id=f"gone-{i}", partitions=4)})
            c.send(payload if i % 3 else payload[:-3], end=i % 2 == 0)
            if i % 5 == 0:
                time.sleep(0.05)
            c.close()

        def quiet():
            counts = d.status()["cuzk"]["counts"]
            return counts["queued"] + counts["running"] == 0
        eventually("jobs that nobody waits for are cancelled", quiet, 30)
        served(self, d)
        keys = sum(k["bytes"] for k in d.status()["allocations"]["srs"])
        eventually("the budget holds keys alone", lambda: d.status()["memory"]["used_bytes"] <= base + keys)
        self.assertEqual(d.stop(), 0)


class Full(Case):
    def test_timeline_on_a_full_disk(self):
        d = self.daemon({"timeline.path": "/dev/full"})
        served(self, d)
        eventually("lines in memory all the same", lambda: any(",JOB_DONE," in line for line in d.timeline()["lines"]))
        eventually("a word about it", lambda: "No space left" in d.text())
        self.assertEqual(d.stop(), 0, d.text())

    def test_timeline_that_cannot_be_opened(self):
        (self.dir / "file").write_text("")
        d = self.daemon({"timeline.path": self.dir / "file" / "timeline.log"})
        served(self, d)
        self.assertIn("timeline", d.text().lower())
        self.assertEqual(d.stop(), 0)

    def test_files_may_not_grow(self):
        """ulimit -f: writes fail with EFBIG and SIGXFSZ, for the timeline and every cache."""
        (self.dir / "pce").mkdir()

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
        d = self.daemon({"timeline.path": self.dir / "timeline.log", "srs.pce_cache": self.dir / "pce"}, preexec=limit)
        for _ in range(4):
            served(self, d)
        self.assertLessEqual((self.dir / "timeline.log").stat().st_size, 512)
        self.assertEqual(d.stop(), 0, d.text())
        # Nothing half-made is left under a final name.
        self.assertEqual([p.name for p in (self.dir / "pce").iterdir() if p.stat().st_size == 512], [])

    def test_no_descriptors(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))
        d = self.daemon({"daemon.max_connections": 1024}, preexec=limit)
        served(self, d)
        crowd = []
        for i in range(200):
            try:
                s = socket.create_connection(d.grpc if i % 2 else d.http, timeout=2)
                crowd.append(s)
            except OSError:
                break
        time.sleep(1)
        crowd_leaves(self, d, crowd, 30)
        self.assertEqual(d.stop(), 0)


class Devices(Case):
    """Devices that fail as they are told."""

    def on(self, plan, **more):
        return self.daemon({"gpus.backend": [f"sim:{plan}"], "gpus.gpu_workers_per_device": 1, **more})

    def ends(self, d, partitions, status, words=(), seed=1):
        with d.rpc(timeout=60) as c:
            code, text, r = c.prove(partitions=partitions, seed=seed)
        self.assertEqual((code, r["status"]), (rpc.OK, status), text + r["error"])
        self.assertEqual(len(r["proof"]), 192 * partitions if status == rpc.COMPLETED else 0)
        for w in words:
            self.assertIn(w, r["error"].lower())

    def test_wrong_once(self):
        d = self.on("wrong@4")
        self.ends(d, 10, rpc.COMPLETED)
        own = d.status()["cuzk"]
        self.assertEqual((own["engine"]["wrong_proofs"], own["engine"]["retries"], own["devices"][0]["runs"]), (1, 1, 11))

    def test_wrong_always(self):
        d = self.on("wrong@1+", **{"pipeline.max_attempts": 2})
        self.ends(d, 4, rpc.FAILED, ["partition"])
        self.assertEqual(d.status()["cuzk"]["counts"]["failed"], 1)

    def test_hang(self):
        d = self.on("hang@0", **{"scheduler.stage_timeout": "1s"})
        self.ends(d, 1, rpc.FAILED, ["device", "time"])
        self.ends(d, 1, rpc.COMPLETED, seed=2)
        self.assertEqual(d.status()["cuzk"]["engine"]["stage_timeouts"], 1)

    def test_out_of_memory(self):
        d = self.on("oom@0")
        self.ends(d, 2, rpc.COMPLETED)
        d.stop()
        d = self.on("oom@0+")
        self.ends(d, 2, rpc.FAILED, ["memory"])

    def test_driver_that_always_fails(self):
        d = self.on("abort@0+", **{"gpus.failure_limit": 2, "gpus.retry_after": 0, "pipeline.max_attempts": 2})
        self.ends(d, 1, rpc.FAILED)
        eventually("the device is shown unhealthy", lambda: not d.status()["cuzk"]["devices"][0]["healthy"])
        with d.rpc() as c:
            self.assertEqual(c.prove(partitions=1, seed=2)[0], rpc.UNAVAILABLE)

    def test_nothing_is_poisoned(self):
        d = self.on("wrong%3,abort%7,oom%11")
        for i in range(20):
            self.ends(d, 1, rpc.COMPLETED, seed=i)
        counts = d.status()["cuzk"]["counts"]
        self.assertEqual((counts["accepted"], counts["completed"]), (20, 20))


class Looking(Case):
    def test_status_while_a_key_loads(self):
        d = self.daemon()
        answer = []

        def ask():
            with d.rpc(timeout=120) as c:
                answer.append(c.preload("toy-16"))
        thread = threading.Thread(target=ask)
        thread.start()
        loading, slowest = 0, 0
        while thread.is_alive():
            begin = time.monotonic()
            loading += any(k["loading"] for k in d.status()["cuzk"]["keys"])
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.02)
        thread.join()
        self.assertEqual(answer[0][0], rpc.OK, answer)
        self.assertGreater(loading, 0, "it was never seen loading")
        self.assertLess(slowest, 1.0)
        print(f"slowest status while a key of 2^16 rows was made: {slowest * 1e3:.1f} ms")

    def test_inputs_stay_private(self):
        """A mark in the input, at trace level, is found in no log, status, metric or timeline, whatever becomes of the job."""
        d = self.daemon({"logging.level": "trace", "timeline.path": self.dir / "timeline.log"})
        mark = bytes.fromhex("deadbeefcafef00d")
        c1 = harness.c1_path("porep-2k-a").read_bytes()
        # In a label, whose fault names it: the client that sent it is told, nobody else.
        label = mark * 3 + b"\x0d" * 8
        begin = c1.index(b'"parents":[[') + len(b'"parents":[')
        marked = c1[:begin] + json.dumps(list(label)).replace(" ", "").encode() + c1[c1.index(b"]", begin) + 1:]
        with d.rpc() as c:
            self.assertEqual(c.prove(seed=int.from_bytes(mark, "little"))[2]["status"], rpc.COMPLETED)
            self.assertEqual(c.prove(vanilla=mark * 2)[0], rpc.INVALID_ARGUMENT)
            status, text, _ = c.prove(kind=rpc.POREP, partitions=0, rows=0, vanilla=marked)
            self.assertEqual(status, rpc.INVALID_ARGUMENT, text)
            self.assertIn("vanilla_proof: partition 0, challenge 0", text)
            # In a value that is quoted because it is none.
            for value in ['"%s"' % mark.hex(), str(int.from_bytes(mark, "little"))]:
                status, text, _ = c.prove(kind=rpc.POREP, partitions=0, rows=0,
                                          vanilla=c1[:begin] + value.encode() + c1[c1.index(b"]", begin) + 1:])
                self.assertEqual(status, rpc.INVALID_ARGUMENT, text)
                self.assertIn(value, text)
        self.assertIn("refused, INVALID_ARGUMENT: vanilla_proof: partition 0", d.text())
        told = d.text() + (self.dir / "timeline.log").read_text()
        for path in ["/status", "/metrics", "/timeline", "/timeline.log"]:
            told += d.get(path)[1].decode()
        told = told.lower()
        for form in [mark.hex(), mark[::-1].hex(), str(int.from_bytes(mark, "little")), base64.b64encode(mark).decode().lower()[:10],
                     ",".join(map(str, mark)), ", ".join(map(str, mark))]:
            at = told.find(form)
            self.assertEqual(at, -1, told[max(at - 200, 0):at + 100])


class Signals(Case):
    def test_reader_of_the_log_goes_away(self):
        d = self.daemon()
        d.drop_log()
        served(self, d)
        self.assertEqual(d.stop(), 0)

    def test_hangup_and_pipe(self):
        d = self.daemon()
        d.process.send_signal(signal.SIGPIPE)
        served(self, d)
        self.assertEqual(d.stop(), 0)


if __name__ == "__main__":
    harness.main()
