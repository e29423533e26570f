"""reference.py - compares the tokens of tidemill.tokenizer with those of the reference implementation, in Rust.

usage: reference.py TIDEMILL NODE_PATH [COUNT [FIRST]]

The cases are those of oracle.py, with all that npm's @huggingface/tokenizers does otherwise, and with added tokens of all
kinds. NODE_PATH is a folder node_modules with npm's package "tokenizers" (28 MB, so no test gets it):
npm install --ignore-scripts tokenizers@0.23.2. Characters are those of Unicode 8, because that package has tables of
several versions. Perl says which these are.
"""
import random
import subprocess
import sys

import oracle


def known_chars():
    code = r'for (0 .. 0xD7FF, 0xE000 .. 0x10FFFF) { print "$_\n" if chr =~ /\p{Present_In: 8.0}/ }'
    return set(map(int, subprocess.run(["perl", "-e", code], stdout=subprocess.PIPE, check=True).stdout.split()))


def make(number):
    case, rnd = oracle.make(number), random.Random(number)
    for token in case["tokenizer"]["added_tokens"]:
        if rnd.random() < 0.4:
            token.update(single_word=rnd.random() < 0.3, lstrip=rnd.random() < 0.4, rstrip=rnd.random() < 0.4,
                         normalized=rnd.random() < 0.5)
    return case


def main():
    program, node_path = sys.argv[1:3]
    count, first = (int(n) for n in (sys.argv[3:] + ["400", "0"][len(sys.argv) - 3:])[:2])
    known, is_here = known_chars() - {0x166D}, oracle.is_here  # was punctuation then
    oracle.is_here = lambda c: ord(c) in known and is_here(c)
    oracle.Case.usable = lambda case, text: True
    oracle.compare(program, "reference.cjs", node_path, count, first, make)


if __name__ == "__main__":
    main()
