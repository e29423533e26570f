"""The same with Python's csv module and multiprocessing: pool.py sum|score TABLE OUT WORKERS

The file is cut by bytes, each range is moved to the next end of a line: no field of this table holds one.
"""
import csv
import multiprocessing
import os
import sys

RANGE = 8 << 20


def lines_of(path, begin, end):
    with open(path, "rb") as file:
        file.seek(max(begin - 1, 0))
        if begin > 0:
            file.readline()
        while file.tell() < end:
            line = file.readline()
            if not line:
                return
            yield line.decode()


def rows_of(task):
    path, begin, end = task
    rows = csv.reader(lines_of(path, begin, end))
    if begin == 0:
        next(rows)
    return rows


def sum_range(task):
    sums = {}
    for row in rows_of(task):
        price, tax = sums.get(row[1], (0.0, 0.0))
        sums[row[1]] = (price + float(row[3]), tax + float(row[4]))
    return sums


def score_range(task):
    return "".join("%s,%r\n" % (row[0], float(row[3]) * int(row[2]) + float(row[4])) for row in rows_of(task))


def main(job, path, out, workers):
    size = os.path.getsize(path)
    tasks = [(path, at, min(at + RANGE, size)) for at in range(0, size, RANGE)]
    with multiprocessing.Pool(int(workers)) as pool, open(out, "w") as file:
        if job == "score":
            for text in pool.imap_unordered(score_range, tasks):
                file.write(text)
            return
        total = {}
        for sums in pool.imap_unordered(sum_range, tasks):
            for store, (price, tax) in sums.items():
                p, t = total.get(store, (0.0, 0.0))
                total[store] = (p + price, t + tax)
        for store in sorted(total):
            file.write("%s,%r,%r\n" % (store, *total[store]))


main(*sys.argv[1:])
