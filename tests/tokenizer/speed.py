"""speed.py - texts per second of CPU time, of tidemill.tokenizer and of npm's @huggingface/tokenizers.

usage: speed.py TIDEMILL

For BERT, GPT-2 and T5: a vocabulary of 16,000 or 30,000 tokens, and 4,000 texts of 60 words on average,
drawn from 20,000 words as often as words of a language come.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import oracle

TEXTS, WORDS = 4000, 20000
SYLLABLES = [a + b + c for a in ["", "b", "d", "f", "k", "l", "m", "n", "p", "r", "s", "t", "st", "tr", "\u00e9l"]
             for b in "aeiou" for c in ["", "n", "r", "s", "l"]]


class Words:
    """As oracle.Case, with many words."""

    def __init__(self, rnd, kind):
        self.rnd, self.kind, self.is_ascii, self.added = rnd, kind, False, []
        self.words = ["".join(rnd.choices(SYLLABLES, k=rnd.randint(1, 4))) for _ in range(WORDS)]
        self.alphabet = sorted(set("".join(self.words)))

    def text(self):
        words = self.rnd.choices(self.words, [1 / (i + 10) for i in range(WORDS)], k=self.rnd.randint(20, 100))
        return "".join(w + self.rnd.choice([" "] * 9 + [", ", ". ", " 17 "]) for w in words).capitalize()


def with_pieces(case, made, count):
    """The vocabulary `made`, with pieces of words until it has so many tokens."""
    rnd, model = case.rnd, made[2]
    tokens = []
    for start, piece in oracle.pieces_of(rnd, case.words, 3 * count):
        if model["type"] == "WordPiece":
            tokens.append(piece if start == 0 else "##" + piece)
        elif model["type"] == "Unigram":
            tokens.append(oracle.MARK + piece if start == 0 else piece)
    known = {t for t, _ in model["vocab"]} if model["type"] == "Unigram" else set(model["vocab"])
    known |= {t["content"] for t in made[4]}
    for token in dict.fromkeys(tokens):
        if token in known or len(model["vocab"]) >= count:
            continue
        if model["type"] == "Unigram":
            model["vocab"].append([token, -rnd.randint(8000, 15000) / 1024])
        else:
            model["vocab"][token] = len(model["vocab"])
    return made


def byte_pairs(case, count):
    """Merges that make each word, from its front on."""
    tokens, merges = {t: i for i, t in enumerate(["<s>", "<pad>", "</s>", "<unk>", "<|endoftext|>", "<mask>"])}, []
    for byte in oracle.BYTES.values():
        tokens[byte] = len(tokens)
    for word in case.words:
        shown = [oracle.BYTES[b] for b in (" " + word).encode()]
        for i in range(1, len(shown)):
            whole = "".join(shown[:i + 1])
            if whole not in tokens and len(tokens) < count:
                tokens[whole] = len(tokens)
                merges.append([whole[:-1], shown[i]])
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": False, "byte_fallback": False, "vocab": tokens, "merges": merges}


def make(kind):
    case = Words(random.Random(7), kind)
    case.added = []
    if kind == "gpt2":
        model = byte_pairs(case, 30000)
        made = (None, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}, model, None,
                [oracle.added_token("<|endoftext|>", 4)])
    else:
        made = list(oracle.MAKERS[kind](case))
        made[4] = [t for t in made[4] if t["id"] < len(made[2]["vocab"])]
        made = with_pieces(case, made, 30000)
    normalizer, words, model, post, added = made
    texts = [case.text() for _ in range(TEXTS)]
    if normalizer and normalizer["type"] == "Precompiled":
        normalizer["precompiled_charsmap"] = oracle.charsmap(set("".join(texts)) | set("\t\n\ufb01\u00bd"))
    return {"tokenizer": {"added_tokens": added, "normalizer": normalizer, "pre_tokenizer": words, "post_processor": post,
                          "decoder": None, "model": model}, "texts": texts}


def main():
    here, program = os.path.dirname(os.path.abspath(__file__)), sys.argv[1]
    node_path = os.environ["TM_TEST_TOKENIZERS"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case")
        for kind in ("bert", "gpt2", "t5"):
            case = make(kind)
            with open(path, "w") as f:
                f.write(json.dumps(case) + "\n")
            commands = {"npm": ["node", os.path.join(here, "encode.cjs"), path, "timed"],
                        "ours": [program, "lua", os.path.join(here, "encode.lua"), path, folder, "timed"]}
            best = {"npm": 0, "ours": 0}
            for _ in range(3):
                for name, command in commands.items():
                    said = subprocess.run(command, stdout=subprocess.PIPE, check=True,
                                          env={**os.environ, "NODE_PATH": node_path, "TIDEMILL_WORKSPACE": folder})
                    best[name] = max(best[name], int(said.stdout.split()[-1]))
            print("%-5s %6d tokens: ours %7d texts/s, npm %7d: %.1f times" % (
                kind, len(case["tokenizer"]["model"]["vocab"]), best["ours"], best["npm"], best["ours"] / best["npm"]))


if __name__ == "__main__":
    main()
