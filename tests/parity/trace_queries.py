#!/usr/bin/env python3
"""Asks a trace of the program what docs/trace.md asks: trace_queries.py SPILLWAY DOCS/TRACE.MD.

Perfetto's trace processor answers where SPILLWAY_TRACE_PROCESSOR names its program and the package
`perfetto` is there. Else tables of the same names do, filled by the same rules as far as traces of
the program have to do with them: events in the order of time, slices on the stack of their thread,
ends of arrows at the slice that is open there.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

INPUT = """
model: {{family: gpt, layers: 3, hidden: 64, heads: 2, vocab: 257}}
data: {{train: {dir}/train.h5, sequence: 64}}
batch: {{sequences: 4, micro: 1}}
memory: {{device: 1GiB, nvme: {{path: {dir}, size: 1GiB}}}}
plan: {{activations: nvme, replan: false}}
run: {{steps: 6, threads: 1, dir: {dir}/run, trace: [2, 3, 6]}}
debug: {{machine: {machine}}}
"""

TABLES = """
create table process (upid, pid, name);
create table thread (utid, tid, name, upid);
create table thread_track (id, utid);
create table slice (id, ts, dur, track_id, name, category, depth, arg_set_id);
create table flow (id, slice_out, slice_in);
create table process_counter_track (id, upid, name);
create table counter (id, track_id, ts, value);
"""


def expect(holds, what):
    if not holds:
        sys.exit(f"does not hold: {what}")


class Tables:
    """What the trace processor makes of a trace, as tables of SQLite."""

    def __init__(self, events):
        self.base = sqlite3.connect(":memory:")
        self.base.executescript(TABLES)
        self.args = []
        self.base.create_function("extract_arg", 2, self.extract_arg)
        self.processes, self.threads, self.open, self.begun, self.tracks = {}, {}, {}, {}, {}
        self.slices = self.flows = 0
        for event in sorted(events, key=lambda e: round(1000 * e["ts"])):
            getattr(self, "take_" + event["ph"])(event)
        expect(not self.begun, f"arrows without an end: {self.begun}")

    def query(self, text):
        return self.base.execute(text).fetchall()

    def extract_arg(self, number, key):
        return self.args[number].get(key.removeprefix("args."))

    def insert(self, table, *values):
        marks = ",".join("?" * len(values))
        self.base.execute(f"insert into {table} values ({marks})", values)

    def process(self, event):
        if event["pid"] not in self.processes:
            self.processes[event["pid"]] = len(self.processes)
            self.insert("process", self.processes[event["pid"]], event["pid"], None)
        return self.processes[event["pid"]]

    def thread(self, event):
        process, key = self.process(event), (event["pid"], event["tid"])
        if key not in self.threads:
            self.threads[key] = len(self.threads)
            self.insert("thread", self.threads[key], event["tid"], None, process)
            self.insert("thread_track", self.threads[key], self.threads[key])
        return self.threads[key]

    def take_M(self, event):
        name = event["args"].get("name")
        if event["name"] == "process_name":
            self.base.execute(
                "update process set name = ? where upid = ?", (name, self.process(event)))
        if event["name"] == "thread_name":
            self.base.execute(
                "update thread set name = ? where utid = ?", (name, self.thread(event)))

    def take_X(self, event):
        thread = self.thread(event)
        ts, dur = round(1000 * event["ts"]), round(1000 * event["dur"])
        stack = self.open.setdefault(thread, [])
        while stack and stack[-1][1] <= ts:
            stack.pop()
        expect(not stack or ts + dur <= stack[-1][1], f"a slice ends in its parent: {event}")
        self.insert("slice", self.slices, ts, dur, thread, event["name"], event["cat"],
                    len(stack), len(self.args))
        stack.append((self.slices, ts + dur))
        self.slices += 1
        self.args.append(event["args"])

    def slice_at(self, event):
        stack = self.open.get(self.thread(event), [])
        while stack and stack[-1][1] <= round(1000 * event["ts"]):
            stack.pop()
        expect(stack, f"a slice is open at the end of an arrow: {event}")
        return stack[-1][0]

    def take_s(self, event):
        expect(event["id"] not in self.begun, f"an arrow begins once: {event}")
        self.begun[event["id"]] = self.slice_at(event)

    def take_f(self, event):
        expect(event["id"] in self.begun, f"an arrow begins before it ends: {event}")
        self.insert("flow", self.flows, self.begun.pop(event["id"]), self.slice_at(event))
        self.flows += 1

    def take_C(self, event):
        (key, value), = event["args"].items()
        name = event["name"] if key == "value" else f"{event['name']} {key}"
        track = self.tracks.setdefault((event["pid"], name), len(self.tracks))
        if not self.query(f"select 1 from process_counter_track where id = {track}"):
            self.insert("process_counter_track", track, self.process(event), name)
        self.insert("counter", track, track, round(1000 * event["ts"]), value)


class Perfetto:
    """The trace processor itself."""

    def __init__(self, path, program):
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
        self.trace = TraceProcessor(trace=path, config=TraceProcessorConfig(bin_path=program))
        bad = self.query("select name, value from stats where value > 0 and severity != 'info'")
        expect(not bad, f"all events are taken: {bad}")

    def query(self, text):
        return [tuple(row.__dict__.values()) for row in self.trace.query(text)]


def run(program, folder, machine):
    text, settings = os.path.join(folder, "text.txt"), os.path.join(folder, "in.yaml")
    with open(text, "w", encoding="utf-8") as file:
        file.write("All work and no play. " * 500)
    with open(settings, "w", encoding="utf-8") as file:
        file.write(INPUT.format(dir=folder, machine=machine))
    tokens = os.path.join(folder, "train.h5")
    subprocess.run([program, "tokenize", "-o", tokens, text], check=True, capture_output=True)
    subprocess.run([program, "train", settings], check=True, capture_output=True)
    return os.path.join(folder, "run", "trace.json")


def answers(path, events):
    shell = os.environ.get("SPILLWAY_TRACE_PROCESSOR")
    return Perfetto(path, shell) if shell else Tables(events)


def queries_of(page):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return re.findall(r'trace\.query\("""(.*?)"""\)', text, re.S), re.findall(
        r"```sql\n(.*?)```", text, re.S)


def main():
    program, page, machine = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = run(program, folder, machine)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        trace = answers(path, events)
        (lanes,), (waits,) = queries_of(page)
        items = {}
        for event in events:
            if event["ph"] == "X" and event["cat"] not in ("step", "repeat"):
                lane = event["tid"] // 100 - 1
                items[event["pid"], lane] = items.get((event["pid"], lane), 0) + 1
        found = trace.query(lanes)
        expect(sum(row[2] for row in found) == sum(items.values()), "each item is on a lane")
        expect({row[0] for row in found} == {"measured, rank 0", "predicted"}, f"{found}")
        expect({"compute", "nvme_read", "nvme_write"} <= {row[1] for row in found}, f"{found}")
        longest = trace.query(waits)
        expect(1 <= len(longest) <= 10, f"compute has waited: {longest}")
        times = [row[2] for row in longest]
        expect(times == sorted(times, reverse=True) and times[-1] > 0, f"{longest}")
        expect(trace.query("select count(*) from flow") ==
               [(sum(event["ph"] == "s" for event in events),)], "all arrows are found")
        backward = """select count(*) from flow join slice as a on slice_out = a.id
            join slice as b on slice_in = b.id where a.ts > b.ts"""
        expect(trace.query(backward) == [(0,)], "arrows go forward")
    print("holds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
