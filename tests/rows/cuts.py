"""cuts.py - reads files of random bytes at four cut sizes, and compares with Python's csv and json modules.

usage: cuts.py DUMP_ROWS [COUNT [FIRST]]

While oracle.py writes tables as programs do, this draws bytes from an alphabet of mostly quotes, separators and line
breaks, and lines of JSON that are often damaged. At every size, each file must give the same rows as the module. A case
depends only on its number, as in oracle.py.
"""
import csv
import gzip
import io
import json
import os
import random
import re
import sys
import tempfile

import oracle

SIZES = ["bytes=1", "bytes=61", "rows=3", "bytes=10000000"]
ALPHABET = [(b'"', 9), (b",", 9), (b"\n", 7), (b"\r\n", 4), (b"a", 6), (b"17", 3), (b" ", 2), (b'""', 3), (b'",', 4),
            (b'\n"', 2), (b"\rx", 1), (b"\xc3\xa9", 2), (b"\xff", 1), (b"\0", 1), (b"x" * 70, 1), (b"-2.5", 2), (b"\t", 1)]


def random_bytes(rnd):
    tokens, weights = zip(*ALPHABET)
    return b"".join(rnd.choices(tokens, weights, k=rnd.choice([0, 1, 5, 40, 300, 3000])))


def write_file(rnd, path, data):
    packed = rnd.random() < 0.3
    with open(path, "wb") as f:
        f.write(gzip.compress(data) if packed else data)
    return ["index=%s.index" % path, "spacing=100"] if packed else []


def csv_rows(text, separator, multi_line):
    if not multi_line:
        return [row for row in oracle.read_lines(text, separator) if row]
    # The csv module treats a lone CR as the end of a row; here it is a character.
    marked = re.sub("\r(?!\n)", "\ue000", text)
    rows = csv.reader(io.StringIO(marked, newline=""), delimiter=separator)
    return [[field.replace("\ue000", "\r") for field in row] for row in rows if row]


def csv_case(rnd, path):
    data = random_bytes(rnd)
    separator = rnd.choice([",", ",", "\t", "a"])
    multi_line, header = rnd.random() < 0.6, rnd.random() < 0.5
    rows = csv_rows(data.decode("utf-8", "replace"), separator, multi_line)
    columns = len(rows[0]) if rows else 0
    want = [(row + [""] * columns)[:columns] for row in rows[header:]]
    options = ["separator=" + separator, "infer=0", "header=" + ("true" if header else "none"),
               "multi_line=%d" % multi_line] + write_file(rnd, path, data)
    return options, want


def read_csv(program, path, options):
    return oracle.dump(program, path, options)


def random_value(rnd, depth):
    kind = rnd.randrange(9 if depth < 3 else 7)
    if kind < 2:
        return str(rnd.choice([0, -1, 7, rnd.getrandbits(40), -rnd.getrandbits(63), 1 << 64]))
    if kind == 2:
        return rnd.choice(["0.5", "-2.50", "1e3", "3.0", "-0", "12E-2", "%r" % rnd.uniform(-1e6, 1e6)])
    if kind == 3:
        return rnd.choice(["true", "false", "null"])
    if kind < 7:
        text = "".join(rnd.choices(["a", "b c", '"', "\\", "\n", "\u00e9", "\U0001f40b", "\t", "{", "]", ","], k=rnd.randrange(6)))
        return json.dumps(text, ensure_ascii=rnd.random() < 0.5)
    if kind == 7:
        return "[" + ", ".join(random_value(rnd, depth + 1) for _ in range(rnd.randrange(3))) + "]"
    return "{" + ",".join('"k%d":%s' % (i, random_value(rnd, depth + 1)) for i in range(rnd.randrange(3))) + "}"


def random_line(rnd, keys):
    blank = rnd.choice(["", "", " ", "\t"])
    members = [json.dumps(rnd.choice(keys)) + blank + ":" + blank + random_value(rnd, 0) for _ in range(rnd.randrange(5))]
    line = blank + "{" + (blank + "," + blank).join(members) + blank + "}"
    if rnd.random() < 0.1:
        at = rnd.randrange(len(line))
        line = line[:at] + rnd.choice(["", '"', "}", "x"]) + line[at + 1:]
    return line.encode()


def parse_line(line):
    """The object, or None."""
    try:
        value = json.loads(line.decode("utf-8"), parse_constant=lambda name: json.loads("x"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def as_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_read_as(printed, kind, value):
    """Whether dump_rows prints this of the value in a column of that type."""
    if kind == "string" and value is not None:
        if printed[0] != "s":
            return False
        text = bytes.fromhex(printed[1:]).decode("utf-8")
        if isinstance(value, str):  # half of a surrogate pair cannot be printed
            value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text == value if isinstance(value, str) else json.loads(text) == value
    want = "-"
    if kind == "bool" and isinstance(value, bool):
        want = "b%d" % value
    elif kind == "double" and as_number(value):
        want = "d%.17g" % (value or 0)
    elif kind == "long" and as_number(value) and -(1 << 63) <= value < 1 << 63 and value == int(value):
        want = "l%d" % value
    return want == ("d0" if printed == "d-0" else printed)  # to Python, the integer -0 is 0


def json_case(rnd, path):
    keys = rnd.choice([["id", "x", "", "note"], ["a", "b", "c", "d", "e", "f", "\u00e9"]])
    lines = [random_line(rnd, keys) for _ in range(rnd.choice([1, 5, 50, 400]))]
    if len(lines) == 400:
        lines += [b'{"late":1,"id":2}'] * 3
    data = b"".join(line + rnd.choice([b"\n", b"\r\n", b"\n\n"]) for line in lines)
    objects = [o for o in map(parse_line, lines) if o is not None]
    return ["format=json", "drop_invalid=1"] + write_file(rnd, path, data), objects


def read_json(program, path, options, objects):
    """True if the rows equal the objects, with the keys of the first 200 as columns."""
    columns, rows = oracle.run_dump_all(program, path, options)
    names = list(dict.fromkeys(key for o in objects[:200] for key in o))
    if [name for name, _ in columns] != names:
        return False
    if not names:
        return True
    if len(rows) != len(objects):
        return False
    return all(len(row) == len(columns) and
               all(is_read_as(printed, kind, o.get(name)) for printed, (name, kind) in zip(row, columns))
               for row, o in zip(rows, objects))


def run_case(program, folder, number):
    """How many of the four readings differ."""
    rnd = random.Random(number)
    path = os.path.join(folder, "file%d" % number)
    options, want = (json_case if number % 3 == 2 else csv_case)(rnd, path)
    differ = 0
    for size in SIZES:
        if options[0] == "format=json":
            same = read_json(program, path, options + [size], want)
        else:
            same = read_csv(program, path, options + [size]) == want
        if not same:
            differ += 1
            print("case %d: %s" % (number, " ".join(options + [size])))
    os.remove(path)
    return differ


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 6000 if os.environ.get("TM_LONG") else 150
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with tempfile.TemporaryDirectory() as folder:
        differ = sum(run_case(program, folder, number) for number in range(first, first + count))
    print("%d readings, %d differ" % (count * len(SIZES), differ))
    return differ > 0


if __name__ == "__main__":
    sys.exit(main())
