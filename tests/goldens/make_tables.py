#!/usr/bin/env python3
"""make_tables.py [FOLDER]: records as tables of Parquet, written by pyarrow, and the same as JSONL.
`records_v2.parquet` has data pages of version 2, zstd, and texts without dictionaries; the others
are written as pandas and datasets do it (snappy, dictionaries, version 1), `chats.parquet` with
gzip. All have two row groups, but for `chats` pages of a few rows (pyarrow then leaves one without
a value there, which carquet does not take), and no statistics, which nobody reads here. `many` has
more rows than are read at a time."""
import decimal
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEXT = pa.string()
CALL = pa.struct([("name", TEXT), ("arguments", pa.map_(TEXT, pa.float64()))])
TURN = pa.struct([("role", TEXT), ("content", TEXT), ("calls", pa.list_(CALL))])
RECORD = pa.schema([
    ("id", pa.int64()), ("seen", pa.uint32()), ("score", pa.float32()), ("good", pa.bool_()),
    ("body", TEXT), ("text", TEXT), ("turns", pa.list_(TURN)), ("words", pa.list_(pa.list_(TEXT))),
    ("made", pa.struct([("key", pa.binary(16)), ("name", TEXT)])), ("image", pa.binary()),
    ("day", pa.date32()), ("cost", pa.decimal128(30, 2)), ("nothing", pa.null())])
UNKNOWN = {"image": b"\xff\x00", "day": 20000, "cost": decimal.Decimal("1.25")}


def turns(i):
    return [{"role": ("user", "assistant")[k % 2], "content": f"turn {k} of {i}: é\t\"\\\x01",
             "calls": [None, [], [{"name": "f", "arguments": {"x": k + 0.5}}, None]][(i + k) % 3]}
            for k in range(i % 4)]


def record(i):
    """Each fifth has no text, each seventh no turns, and lists of any length lie in lists."""
    return {"id": i - 3, "seen": 2**32 - 1 - i, "score": i / 4,
            "good": None if i % 4 == 1 else i % 2 == 0, "body": f"body {i}" if i % 9 else "",
            "text": None if i % 5 == 4 else f"text {i}\n" + "long " * (i % 6),
            "turns": None if i % 7 == 6 else turns(i),
            "words": None if i % 4 == 3 else [None if k == 1 else ["w"] * k for k in range(i % 4)],
            "made": None if i % 3 == 2 else {"key": None, "name": f"name {i}"},
            "image": None, "day": None, "cost": None, "nothing": None}


def chat(i):
    return {"messages": [{"role": role, "content": text} for role, text in (
        ("user", f"What is {i}?"), ("assistant", "A number.\n"), ("user", "Which?"),
        ("assistant", ["One.", "Two.", "Many."][i % 3]))[:2 + 2 * (i % 2)]]}


def prompt(i):
    return {"prompt": f"What is {i}?\n", "completion": ["One.", "Two.", "Many."][i % 3]}


def as_json(record):
    """Maps are lists of their pairs, and what is no text, number or truth value is null."""
    record = json.loads(json.dumps(record))
    calls = [call for turn in record.get("turns") or [] for call in turn["calls"] or []]
    for call in filter(None, calls):
        call["arguments"] = [{"key": k, "value": v} for k, v in call["arguments"].items()]
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"


def main(folder):
    def write(name, rows, schema=None, page=256, **options):
        table = pa.Table.from_pylist(rows, schema=schema)
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=len(rows) * 2 // 3,
                       data_page_size=page, write_batch_size=8, write_statistics=False,
                       store_schema=False, **options)

    records, chats, prompts = ([row(i) for i in range(30)] for row in (record, chat, prompt))
    for name, rows in ("records", records), ("chats", chats), ("prompts", prompts):
        (folder / f"{name}.jsonl").write_text("".join(map(as_json, rows)))
    rows = [{**row, **UNKNOWN, "made": row["made"] and {**row["made"], "key": bytes(range(16))}}
            for row in records]
    write("records", rows, RECORD)
    write("records_v2", rows, RECORD, compression="zstd", data_page_version="2.0",
          use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"})
    write("chats", chats, page=1 << 20, compression="gzip")
    write("prompts", prompts)
    write("many", [{"text": f"text {i}", "words": [f"{i}.{k}" for k in range(i % 3)]}
                   for i in range(4000)], page=4096, compression="zstd", use_dictionary=False)


main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
