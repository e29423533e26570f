"""oracle.py - compares how Python's csv module and dump_rows read delimited files.

usage: oracle.py DUMP_ROWS [COUNT [FIRST]]

Random tables with every nasty field, written by hand with the deviations of common programs, and cut at random sizes: the
rows of all ranges together equal the rows of the csv module. Every fourth table has typed columns, whose values equal those
of Python's int(), float() and datetime. A case depends only on its number: COUNT 1 and that number for FIRST repeat it.
"""
import bz2
import csv
import datetime
import gzip
import io
import lzma
import math
import os
import random
import subprocess
import sys
import tempfile

csv.field_size_limit(1 << 30)

NASTY = ["", " ", "a", "0", "-17", "3.25", "x y", "a,b", "a;b", "a\tb", "a|b", '"', '""', 'say "hi"', '12" lcd',
         'a"', '"a', "line\nbreak", "line\r\nbreak", "\n", "cr\rcr", "\u00e9t\u00e9", "\u20ac 5", "nul\0nul", "'", "\\",
         '\\"', ",", ",,", "-", "null", "2026-01-31", "true", "x" * 70, 'q"' * 40, "\n" * 3, '","', '"\n"', " lead", "trail "]
WIDE = ["\u65e5\u672c", "\U0001f40b", "\u0416"]


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def write_field(rnd, text, separator, end, multi_line):
    """A field as some program would write it: quoted when it must be, and often when it need not be."""
    if not multi_line:
        text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    must = any(c in text for c in (separator, "\n", "\r")) or text.startswith('"')
    if must or rnd.random() < 0.3:
        text = quoted(text)
        if rnd.random() < 0.02:
            text += rnd.choice(["tail", 'ta"il', " "])
    return text


def make_text(rnd, case):
    end = rnd.choice(["\n", "\r\n"])
    fields = NASTY + (WIDE if case["encoding"] in ("utf8", "utf16") else [])
    if case["encoding"] == "ascii":
        fields = [f for f in fields if f.isascii()]
    if case["encoding"] in ("latin1",):
        fields = [f for f in fields if "\u20ac" not in f]
    lines = []
    if case["header"]:
        lines.append(case["separator"].join("c%d" % i for i in range(case["columns"])))
    for _ in range(rnd.choice([0, 1, 2, 5, 30, 200])):
        count = case["columns"]
        if rnd.random() < 0.05:
            count = max(1, count + rnd.choice([-1, 1, 2]))
        row = [write_field(rnd, rnd.choice(fields), case["separator"], end, case["multi_line"]) for _ in range(count)]
        lines.append(case["separator"].join(row))
        if rnd.random() < 0.03:
            lines.append("")
    if not case["multi_line"] and rnd.random() < 0.3:
        lines.append('open,"quote')
    text = end.join(lines)
    if rnd.random() < 0.7 and text:
        text += end
    return text


def make_case(rnd):
    case = {
        "separator": rnd.choice([",", ",", ";", "\t", "|"]),
        "multi_line": rnd.random() < 0.6,
        "columns": rnd.choice([1, 2, 3, 5, 12]),
        "encoding": rnd.choice(["utf8", "utf8", "utf8", "latin1", "windows1252", "utf16", "ascii"]),
        "header": rnd.random() < 0.5,
        "ragged": rnd.choice(["null", "drop"]),
        "pack": rnd.choice(["", "", "", "gz", "gz2", "bz2", "xz"]),
    }
    case["text"] = make_text(rnd, case)
    return case


def encode(rnd, case):
    text = case["text"]
    codec = {"windows1252": "cp1252", "utf8": rnd.choice(["utf-8", "utf-8-sig"]),
             "utf16": rnd.choice(["utf-16-le", "utf-16-be"])}.get(case["encoding"], case["encoding"])
    if codec == "utf-16-le" and rnd.random() < 0.5 or codec == "utf-16-be":
        text = "\ufeff" + text
    data = text.encode(codec)
    if case["pack"] == "gz":
        data = gzip.compress(data, rnd.choice([1, 6, 9]))
    elif case["pack"] == "gz2":
        cut = rnd.randrange(len(data) + 1)
        data = gzip.compress(data[:cut]) + gzip.compress(data[cut:])
    elif case["pack"] == "bz2":
        data = bz2.compress(data)
    elif case["pack"] == "xz":
        data = lzma.compress(data)
    return data


def read_lines(text, separator):
    """Every line break ends a row, even within quotes."""
    for line in text.split("\n"):
        if line.endswith("\r"):
            line = line[:-1]
        # The csv module treats a lone CR as the end of a row; here it is a character.
        row = next(csv.reader([line.replace("\r", "\ue000")], delimiter=separator), [])
        yield [f.replace("\ue000", "\r") for f in row]


def expected_rows(case):
    """A row of None: null, or no such field."""
    if case["multi_line"]:
        rows = csv.reader(io.StringIO(case["text"], newline=""), delimiter=case["separator"])
    else:
        rows = read_lines(case["text"], case["separator"])
    rows = [row for row in rows if row]
    if not rows:
        return []
    columns = len(rows[0])
    if case["header"]:
        rows = rows[1:]
    if case["ragged"] == "drop":
        return [row for row in rows if len(row) == columns]
    return [(row + [""] * columns)[:columns] for row in rows]


def parse_field(field):
    if field == "-":
        return ""
    assert field[0] == "s", field
    return bytes.fromhex(field[1:]).decode("utf-8")


EPOCH = datetime.datetime(1970, 1, 1)


def typed_value(rnd):
    """Pairs of a written text and what dump_rows prints for it, one for each type; None: it does not fit."""
    i = rnd.choice([0, 1, -1, rnd.getrandbits(10), -rnd.getrandbits(33), rnd.getrandbits(63), (1 << 63) - 1, -(1 << 63), 1 << 63])
    x = rnd.choice([0.0, rnd.random(), rnd.uniform(-1e6, 1e6), rnd.uniform(-1, 1) * 10 ** rnd.randrange(-300, 300),
                    round(rnd.uniform(0, 1e4), 2), float(rnd.getrandbits(53)), 5e-324, 1.7976931348623157e308])
    text = rnd.choice(["%r", "%.3f", "%.17g", "%.20e", "%.30f", "%.0f", "%e"]) % x
    t = EPOCH + datetime.timedelta(microseconds=rnd.randrange(-10 ** 16, 10 ** 17))
    us = (t - EPOCH) // datetime.timedelta(microseconds=1)
    day = datetime.date(rnd.randrange(1, 10000), rnd.randrange(1, 13), rnd.randrange(1, 29))
    b = rnd.choice(["true", "False", "TRUE"])
    value = float(text)
    yield str(i), "l%d" % i if -(1 << 63) <= i < 1 << 63 else None
    yield text, None if math.isinf(value) else "d" + "%.17g" % value
    yield t.isoformat(rnd.choice("T ")) + rnd.choice(["", "Z"]), "t%d" % us
    yield "%d/%d/%04d" % (day.month, day.day, day.year), "t%d" % ((day.toordinal() - 719163) * 86400 * 10 ** 6)
    yield b, "b%d" % (b.lower() == "true")
    yield "x", "s78"


def typed_row(rnd):
    fields, want = [], []
    for text, printed in typed_value(rnd):
        if rnd.random() < 0.03:
            text, printed = rnd.choice([("", "-"), ("?!", None)])
            printed = "s3f21" if text and len(fields) == 5 else "-"
        if printed is None:
            printed = "-"
        if rnd.random() < 0.1 and text:
            text = rnd.choice([quoted(text), " " + text if len(fields) < 5 else text, text + "\t" if len(fields) < 5 else text])
        fields.append(text)
        want.append(printed)
    return ",".join(fields), want


def run_typed_case(program, folder, number):
    rnd = random.Random(number)
    rows = [typed_row(rnd) for _ in range(rnd.choice([1, 10, 300]))]
    path = os.path.join(folder, "typed")
    with open(path, "w", newline="") as f:
        f.write("i,x,t,d,b,s\n" + "".join(text + "\n" for text, _ in rows))
    lines = run_dump(program, path, ["types=i:long,x:double,t:datetime,d:datetime:%m/%d/%Y,b:bool",
                                     "bytes=%d" % rnd.choice([1, 100, 100000])])
    got = [line.split("\t") for line in lines]
    want = [row for _, row in rows]
    for i, pair in enumerate(zip(got, want)):
        if pair[0] != pair[1]:
            print("case %d, row %d: %r\n got  %r\n want %r" % (number, i, rows[i][0], pair[0], pair[1]))
            return None
    return len(want) if len(got) == len(want) else None


def run_dump_all(program, path, options):
    """The columns, as pairs of a name and a type, and the rows as they are printed."""
    done = subprocess.run([program, path] + options, stdout=subprocess.PIPE, timeout=300)
    out = done.stdout.decode("ascii", "replace")
    assert done.returncode == 0, out
    lines = out.split("\n")[:-1]
    columns = [one.split(":") for one in lines[0].split(" ")[1:]]
    columns = [(bytes.fromhex(name).decode("utf-8"), kind) for name, kind in columns]
    return columns, [line.split("\t") for line in lines if line[0] not in "#@!"] if columns else []


def run_dump(program, path, options):
    done = subprocess.run([program, path] + options, stdout=subprocess.PIPE, timeout=300)
    out = done.stdout.decode("ascii", "replace")
    assert done.returncode == 0, out
    return [line for line in out.split("\n")[:-1] if line[0] not in "#@!"]


def dump(program, path, options):
    return [[parse_field(f) for f in line.split("\t")] for line in run_dump(program, path, options)]


def run_case(program, folder, number):
    rnd = random.Random(number)
    case = make_case(rnd)
    path = os.path.join(folder, "table")
    with open(path, "wb") as f:
        f.write(encode(rnd, case))
    options = ["separator=" + case["separator"], "encoding=" + case["encoding"], "infer=0", "on_ragged=" + case["ragged"],
               "header=" + ("true" if case["header"] else "none"), "multi_line=%d" % case["multi_line"]]
    size = rnd.choice([1, 7, 64, 1000, 100000])
    options.append("rows=%d" % size if rnd.random() < 0.3 else "bytes=%d" % size)
    if case["pack"]:
        index = os.path.join(folder, "index%d" % number)
        options += ["index=" + index, "spacing=%d" % rnd.choice([100, 1000, 50000])]
    want = expected_rows(case)
    got = dump(program, path, options)
    if got != want:
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        print("case %d: %s" % (number, " ".join(options)))
        print("row %d of %d (%d expected)\n got  %r\n want %r" % (
            at, len(got), len(want), got[at] if at < len(got) else None, want[at] if at < len(want) else None))
        return None
    return len(want)


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000 if os.environ.get("TM_LONG") else 400
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    failed = rows = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, first + count):
            got = (run_typed_case if number % 4 == 3 else run_case)(program, folder, number)
            failed += got is None
            rows += got or 0
            if failed == 5:
                break
    print("%d tables, %d rows, %d tables differ" % (count, rows, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
