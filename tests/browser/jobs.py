# SPDX-License-Identifier: MIT OR Apache-2.0
"""jobs.py HOST:PORT JOBS PARTITIONS PAUSE [NAME]: submits so many toy jobs, PAUSE seconds between two of them, and waits
for the last. Names are NAME-0, NAME-1, ..."""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import rpc  # noqa: E402

host, port = sys.argv[1].rsplit(":", 1)
jobs, partitions, pause = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
name = sys.argv[5] if len(sys.argv) > 5 else "sector"
with rpc.Rpc((host, int(port))) as c:
    for i in range(jobs):
        status, text, job = c.submit(id=f"{name}-{i}", partitions=partitions, seed=i + 1, priority=2 + i % 2)
        if status != rpc.OK:
            sys.exit(f"{name}-{i}: {status} {text}")
        if i + 1 < jobs:
            time.sleep(pause)
    while c.wait(job, 1000)[2]["status"] == rpc.TIMEOUT:
        pass
