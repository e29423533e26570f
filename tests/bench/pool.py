"""The same with multiprocessing.Pool: mini-batches of 10 paths, one line per path, in one file."""
import multiprocessing
import sys
import time


def run(mini_batch):
    return [path for path in mini_batch]


def mini_batches(path, size):
    with open(path) as lines:
        paths = []
        for line in lines:
            paths.append(line[:-1])
            if len(paths) == size:
                yield paths
                paths = []
        if paths:
            yield paths


def main():
    manifest, output, workers, chunksize = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    begin = time.monotonic()
    with multiprocessing.Pool(workers) as pool, open(output, "w") as out:
        for rows in pool.imap_unordered(run, mini_batches(manifest, 10), chunksize=chunksize):
            for row in rows:
                out.write(row)
                out.write("\n")
    print("%.6f" % (time.monotonic() - begin))


main()
