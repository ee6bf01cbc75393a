# SPDX-License-Identifier: MIT OR Apache-2.0
"""A strict reader of Prometheus text, format 0.0.4: raises ValueError for whatever a scraper might trip over."""
import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}


def number(text):
    if not re.fullmatch(r"[+-]?(\d+(\.\d*)?([eE][+-]?\d+)?|Inf|NaN)", text):
        raise ValueError(f"not a number: {text}")
    return float(text.replace("Inf", "inf"))


def labels(text):
    out, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        if not m:
            raise ValueError(f"labels: {text}")
        if m[1] in out:
            raise ValueError(f"label {m[1]} twice: {text}")
        out[m[1]] = re.sub(r"\\(.)", lambda e: "\n" if e[1] == "n" else e[1], m[2])
        at = m.end()
        if at < len(text):
            if text[at] != "," or at + 1 == len(text):
                raise ValueError(f"labels: {text}")
            at += 1
    return out


class Family:
    def __init__(self, name):
        self.name, self.kind, self.help, self.samples = name, None, None, {}

    def take(self, name, found, value):
        suffix = name[len(self.name):]
        allowed = {"histogram": {"_bucket", "_sum", "_count"}, "summary": {"", "_sum", "_count"}}.get(self.kind, {""})
        if suffix not in allowed:
            raise ValueError(f"{name} is no sample of the {self.kind} {self.name}")
        if (suffix == "_bucket") != ("le" in found):
            raise ValueError(f"{name} {found}: le belongs to buckets")
        key = (suffix, tuple(sorted(found.items())))
        if key in self.samples:
            raise ValueError(f"{name} {found} twice")
        if self.kind == "counter" and not (value >= 0 and math.isfinite(value)):
            raise ValueError(f"{name} is a counter of {value}")
        self.samples[key] = value

    def check(self):
        if self.kind is None or self.help is None:
            raise ValueError(f"{self.name}: no HELP or no TYPE")
        if self.kind != "histogram":
            return
        series = {}
        for (suffix, found), value in self.samples.items():
            rest = tuple(l for l in found if l[0] != "le")
            le = dict(found).get("le")
            series.setdefault(rest, {})[suffix if le is None else number(le)] = value
        for rest, s in series.items():
            bounds = sorted(b for b in s if isinstance(b, float))
            if bounds[-1:] != [math.inf] or "_sum" not in s or "_count" not in s:
                raise ValueError(f"{self.name} {rest}: +Inf, _sum or _count is missing")
            values = [s[b] for b in bounds]
            if values != sorted(values) or values[-1] != s["_count"]:
                raise ValueError(f"{self.name} {rest}: buckets {values}, count {s['_count']}")


def parse(text):
    """The families by name."""
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    families, now = {}, None
    for line in text.split("\n")[:-1]:
        if line.startswith("#"):
            m = re.fullmatch(r"# (HELP|TYPE) (\S+) (.+)", line)
            if not m or not NAME.fullmatch(m[2]):
                raise ValueError(f"comment: {line}")
            if now is None or now.name != m[2]:
                if m[2] in families:
                    raise ValueError(f"{m[2]} comes in two places")
                now = families[m[2]] = Family(m[2])
            if m[1] == "TYPE":
                if now.kind or m[3] not in TYPES or now.samples:
                    raise ValueError(f"type: {line}")
                now.kind = m[3]
            else:
                if now.help or re.search(r"\\[^n\\]", m[3]):
                    raise ValueError(f"help: {line}")
                now.help = m[3]
            continue
        m = re.fullmatch(r"([^ {]+)(?:\{(.*)\})? (\S+)", line)
        if not m or not NAME.fullmatch(m[1]):
            raise ValueError(f"sample: {line}")
        if now is None or now.kind is None or not m[1].startswith(now.name):
            raise ValueError(f"{m[1]} is not where its family is")
        now.take(m[1], labels(m[2] or ""), number(m[3]))
    for f in families.values():
        f.check()
    return families


def only_grow(before, after):
    """Counters and histograms of the first are in the second, and are no smaller."""
    for f in before.values():
        if f.kind not in ("counter", "histogram"):
            continue
        for key, value in f.samples.items():
            if after[f.name].samples[key] < value:
                raise ValueError(f"{f.name}{key} went from {value} to {after[f.name].samples[key]}")
