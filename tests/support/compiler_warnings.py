"""Checks every file that was compiled in a build folder with clang, which writes no output:

    compiler_warnings.py BUILD_FOLDER CLANG

Warnings are errors. A complete build would take three times as long, and nobody would run its programs.

The start of clang takes as long as a file of usual size, so one process reads many files: -Xclang adds a file to those of
the compiler proper. After a file with an error clang looks less closely at the next ones. So if there are errors, each
file of the process is read again alone. A pragma for warnings lasts until the process ends; if the tree has any, every
file is read alone.
"""
import concurrent.futures
import itertools
import json
import os
import re
import shlex
import subprocess
import sys

FILES_AT_ONCE = 16
PRAGMA = re.compile(r"^\s*#\s*pragma\b|\b_Pragma\b", re.MULTILINE)
FOLDERS = ("core", "lua", "tests")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def words(entry, compiler):
    """The command of a file for the other compiler, without the file and the options that write an object file."""
    given = shlex.split(entry["command"])
    after = next(i for i, word in enumerate(given) if word.startswith("-"))
    kept = [compiler]
    skip = False
    for word in given[after:]:
        if not skip and word not in ("-c", "-MD", "-o", "-MT", "-MF", entry["file"]):
            kept.append(word)
        skip = word in ("-o", "-MT", "-MF")
    return kept + ["-fsyntax-only", "-Werror"]


def have_pragmas():
    for folder in FOLDERS:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith((".c", ".h")):
                    with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                        if PRAGMA.search(file.read()):
                            return True
    return False


def batches(entries, compiler, at_once):
    """(directory, command, files): files that are compiled in the same way, so many at once."""
    def way(entry):
        return entry["directory"], words(entry, compiler)

    for (directory, command), group in itertools.groupby(sorted(entries, key=way), way):
        files = [entry["file"] for entry in group]
        for i in range(0, len(files), at_once):
            yield directory, command, files[i:i + at_once]


def read(directory, command, files):
    more = [word for file in files[1:] for word in ("-Xclang", file)]
    return subprocess.run(command + files[:1] + more, cwd=directory, capture_output=True, text=True)


def look(batch):
    """How many files of a batch have warnings, and the compiler's text."""
    directory, command, files = batch
    run = read(directory, command, files)
    if run.returncode == 0 or len(files) == 1:
        return int(run.returncode != 0), run.stderr
    alone = [read(directory, command, [file]) for file in files]
    failed = sum(one.returncode != 0 for one in alone)
    return max(failed, 1), "".join(one.stderr for one in alone) if failed else run.stderr


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        entries = json.load(file)
    at_once = 1 if have_pragmas() else FILES_AT_ONCE
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for count, text in pool.map(look, batches(entries, sys.argv[2], at_once)):
            failed += count
            sys.stdout.write(text)
    print("%d files, %d with warnings of %s" % (len(entries), failed, sys.argv[2]))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
