"""Checks every file that was compiled in a build folder with another compiler, which writes no output:

    compiler_warnings.py BUILD_FOLDER COMPILER

Warnings are errors. A complete build would take three times as long, and nobody would run its programs.
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def words(entry, compiler):
    """The command of a file for the other compiler, without the options that write an object file."""
    given = shlex.split(entry["command"])
    after = next(i for i, word in enumerate(given) if word.startswith("-"))
    kept = [compiler]
    skip = False
    for word in given[after:]:
        if not skip and word not in ("-c", "-MD", "-o", "-MT", "-MF"):
            kept.append(word)
        skip = word in ("-o", "-MT", "-MF")
    return kept + ["-fsyntax-only", "-Werror"]


def look(entry):
    run = subprocess.run(words(entry, sys.argv[2]), cwd=entry["directory"], capture_output=True, text=True)
    return run.returncode, run.stderr


def main():
    with open(os.path.join(sys.argv[1], "compile_commands.json")) as file:
        entries = json.load(file)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for code, said in pool.map(look, entries):
            failed += code != 0
            sys.stdout.write(said)
    print("%d files, %d with warnings of %s" % (len(entries), failed, sys.argv[2]))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
