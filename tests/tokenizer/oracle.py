"""oracle.py - compares the tokens of tidemill.tokenizer with those of npm's @huggingface/tokenizers.

usage: oracle.py TIDEMILL [COUNT [FIRST]]

A case is a tokenizer.json with a random vocabulary, and 50 random texts in scripts of all kinds. It depends only on its
number: COUNT 1 and that number for FIRST repeat it. Both programs must give equal ids. Where npm's package differs from
the reference implementation in Rust, we do as the latter, so these texts leave out what the two see differently; README.md
lists it.
"""
import base64
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

TEXTS = 50
MARK = "\u2581"
KINDS = ["bert", "bert_cased", "bert_plain", "word_forms", "gpt2", "roberta", "gpt2_forms", "t5", "t5_raw", "albert"]
POOLS = [(0x20, 0x7E, 30), (0xA1, 0xFF, 8), (0x100, 0x24F, 6), (0x250, 0x2FF, 2), (0x300, 0x36F, 3), (0x370, 0x3FF, 4),
         (0x400, 0x52F, 4), (0x590, 0x6FF, 4), (0x900, 0xDFF, 4), (0xE00, 0x10FF, 3), (0x1100, 0x11FF, 1), (0x1200, 0x1DFF, 3),
         (0x1E00, 0x1FFF, 4), (0x2000, 0x206F, 4), (0x2070, 0x2BFF, 5), (0x2C00, 0x2FFF, 1), (0x3000, 0x33FF, 5),
         (0x3400, 0x9FFF, 5), (0xA000, 0xABFF, 2), (0xAC00, 0xD7A3, 3), (0xF900, 0xFFFC, 4), (0x10000, 0x1D7FF, 3),
         (0x1F000, 0x1FAFF, 4), (0x20000, 0x2FA1F, 1), (0, 0x1F, 1), (0x7F, 0xA0, 1), (0xE000, 0xE00F, 1)]
RANGES, WEIGHTS = [p[:2] for p in POOLS], [p[2] for p in POOLS]
BLANKS = [" "] * 12 + ["  ", "   ", "\t", "\n", "\r\n", " \n", "\u00a0", "\u3000", "\u2009", "\n\n", "    "]
SMALL = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "''", "``", "n't", ".", ",", "...", "!?", "--", "(", "100", "3.14",
         "2\u00bd", "\u0130", "\u212b", "\ufb01", "\u00df", "e\u0301", "\u1ec7", "\u1112\u1161\u11ab", "\u304c", "\u304b\u3099",
         "\U0001f468\u200d\U0001f469", "\u0e33", "\u0f77", MARK, "\u0958"]
STRANGE = "\u0085\ufeff"  # blanks of one of them only


def is_here(c):
    return unicodedata.category(c) not in ("Cn", "Cs")


def random_char(rnd):
    while True:
        first, last = rnd.choices(RANGES, WEIGHTS)[0]
        c = chr(rnd.randint(first, last))
        if is_here(c):
            return c


def random_word(rnd, alphabet):
    return "".join(rnd.choices(alphabet, k=rnd.choice([1, 2, 3, 4, 5, 6, 8, 12, 20])))


class Case:
    """What one case draws from: an alphabet, and words that come again."""

    def __init__(self, number):
        self.rnd = rnd = random.Random(number)
        self.kind = KINDS[number % len(KINDS)]
        first, last = rnd.choices(RANGES, WEIGHTS)[0]
        own = [c for c in map(chr, (rnd.randint(first, last) for _ in range(20))) if is_here(c)]
        self.alphabet = list("etaoinshrdlu") + own + [random_char(rnd) for _ in range(10)]
        self.words = [random_word(rnd, self.alphabet) for _ in range(60)] + SMALL
        self.added = []

    def usable(self, text):
        if any(c in STRANGE for c in text):
            return False
        if self.kind.startswith("bert") and any(ord(c) >= 0x20000 for c in text):
            return False  # npm's package sees no ideographs there
        if "lower" in self.steps() and "\u03a3" in text:
            return False  # a final sigma
        if self.kind == "word_forms" and self.is_ascii and not text.isascii():
            return False  # \w of JavaScript
        return self.kind not in ("t5", "t5_raw", "albert") or is_plain(text)

    def steps(self):
        return {"bert": "lower", "bert_plain": "lower", "word_forms": "lower", "albert": "lower"}.get(self.kind, "")

    def text(self):
        rnd = self.rnd
        while True:
            parts = []
            for _ in range(rnd.choice([0, 1, 2, 4, 8, 16, 40])):
                draw = rnd.random()
                if draw < 0.55:
                    parts.append(rnd.choice(self.words))
                elif draw < 0.7:
                    parts.append(random_word(rnd, self.alphabet))
                elif draw < 0.78:
                    parts.append("".join(random_char(rnd) for _ in range(rnd.randint(1, 4))))
                elif draw < 0.84 and self.added:
                    parts.append(rnd.choice(self.added))
                elif draw < 0.87:
                    parts.append(rnd.choice("abcxyz") * rnd.randint(1, 120))
                if rnd.random() < 0.7:
                    parts.append(rnd.choice(BLANKS))
            if self.kind == "word_forms" and self.is_ascii or rnd.random() < 0.1:
                parts = [p for p in parts if p.isascii()]
            text = "".join(p for p in parts if self.usable(p))
            if self.usable(text):
                return text


# ---- the parts of a file ----

def added_token(content, number, **flags):
    token = {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
             "special": True}
    token.update(flags)
    return token


def template(before, after, ids):
    def special(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    single = [special(n) for n in before] + [{"Sequence": {"id": "A", "type_id": 0}}] + [special(n) for n in after]
    names = set(before + after)
    return {"type": "TemplateProcessing", "single": single, "pair": single,
            "special_tokens": {n: {"id": n, "ids": [ids[n]], "tokens": [n]} for n in names}}


def pieces_of(rnd, words, count):
    found = []
    for _ in range(count):
        word = rnd.choice(words)
        start = rnd.randrange(len(word))
        found.append((start, word[start:start + rnd.randint(1, 6)]))
    return found


def words_after(words, change):
    return [w for w in (change(w) for w in words) if w] or ["a"]


def word_piece(case, change):
    rnd, tokens = case.rnd, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = words_after(case.words + case.alphabet, change)
    for start, piece in pieces_of(rnd, words, 150):
        tokens.append(piece if start == 0 else "##" + piece)
    for c in sorted(set("".join(words))):
        tokens += [t for t in (c, "##" + c) if rnd.random() < 0.8]
    tokens += list("abcxyz") + ["##a", "##b", "##x", "aa", "##aa"]
    tokens = [t for t in tokens if "\0" not in t]  # no key of our JSON has a NUL
    vocab = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    return {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": rnd.choice([100, 100, 10]), "vocab": vocab}


def byte_alphabet():
    plain = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    shown, other = {}, 0x100
    for byte in range(256):
        shown[byte] = chr(byte) if byte in plain else chr(other)
        other += byte not in plain
    return shown


BYTES = byte_alphabet()


def byte_pairs(case, specials, with_lists):
    """Merges of neighbours in words, each of which may come anywhere in the list."""
    rnd = case.rnd
    tokens, merges = specials + list(BYTES.values()), []
    words = [[BYTES[b] for b in (rnd.choice(["", " "]) + w).encode()] for w in case.words + ["aaaaaa", "abcabc"]]
    for _ in range(250):
        word = rnd.choice(words)
        if len(word) < 2:
            continue
        at = rnd.randrange(len(word) - 1)
        pair = [word[at], word[at + 1]]
        if pair not in merges:
            merges.append(pair)
            tokens.append(pair[0] + pair[1])
        word[at:at + 2] = [pair[0] + pair[1]]
    if rnd.random() < 0.3:
        rnd.shuffle(merges)
    vocab = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": False, "byte_fallback": False, "vocab": vocab,
            "merges": merges if with_lists else [" ".join(m) for m in merges]}


def unigram(case, change):
    rnd, tokens = case.rnd, ["<pad>", "</s>", "<unk>"]
    words = [MARK + w.replace(MARK, "") for w in words_after(case.words, change)]
    tokens += [p for _, p in pieces_of(rnd, words, 200)] + [MARK]
    tokens += [c for c in sorted(set("".join(words))) if rnd.random() < 0.85]
    # Sums of these are exact: npm's package adds in another order, and would break a tie by its
    # rounding.
    vocab = [[t, 0.0 if i < 3 else -rnd.randint(2000, 15000) / 1024] for i, t in enumerate(dict.fromkeys(tokens))]
    return {"type": "Unigram", "unk_id": 2, "vocab": vocab}


# ---- sentencepiece's rules, as npm's package has them in its code ----

REMOVED = "".join(map(chr, [*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F]))
BLANKED = "".join(map(chr, [9, 0xA, 0xC, 0xD, 0xA0, 0x1680, *range(0x2000, 0x2010), 0x2028, 0x2029, 0x202F, 0x205F, 0x2581,
                            0x3000, 0xFFFD]))


def replacement(c):
    if c in REMOVED:
        return ""
    if c in BLANKED:
        return " "
    return c if c == "\uff5e" else unicodedata.normalize("NFKC", c)


def is_plain(text):
    """Whether the rules may be applied one by one: no characters that join their neighbours."""
    if "\r\n" in text or "\0" in text:
        return False
    for c in text:
        point = ord(c)
        if (unicodedata.category(c)[0] == "M" or unicodedata.category(c) == "Cf" or 0x1100 <= point < 0x1200
                or 0xA960 <= point < 0xA980 or 0xD7B0 <= point < 0xD800 or 0x1F1E6 <= point < 0x1F200
                or 0x1F3FB <= point <= 0x1F3FF or point in (0x200C, 0x200D, 0xD4E, 0xE33, 0xEB3, 0xFF9E, 0xFF9F)):
            return False
    whole = unicodedata.normalize("NFKC", text)
    return whole == "".join(unicodedata.normalize("NFKC", c) for c in text)


def double_array(rules):
    """A Darts-clone array of {bytes: number}."""
    units, used, bases, end = [None], {0}, set(), object()
    tree = {}
    for key, value in rules.items():
        node = tree
        for byte in key:
            node = node.setdefault(byte, {})
        node[end] = value

    def put(node, at):
        labels = sorted(b for b in node if b is not end)
        offset = 1
        all_labels = ([0] if end in node else []) + labels
        while (at ^ offset) in bases or any((at ^ offset ^ b) in used for b in all_labels):
            offset += 1
        base = at ^ offset
        bases.add(base)
        for b in all_labels:
            used.add(base ^ b)
            units.extend([None] * ((base ^ b) + 1 - len(units)))
        label = units[at] or 0
        units[at] = label | offset << 10 | (1 << 8 if end in node else 0)
        if end in node:
            units[base] = node[end] | 1 << 31
        for b in labels:
            units[base ^ b] = b
            put(node[b], base ^ b)

    put(tree, 0)
    units.extend([None] * (-len(units) % 256))  # as Darts-clone does, whose readers rely on it
    return struct.pack("<%dI" % len(units), *((1 << 31) - 1 if u is None else u for u in units))


def charsmap(chars):
    rules, texts = {}, bytearray()
    for c in sorted(chars):
        if replacement(c) != c:
            rules[c.encode()] = len(texts)
            texts += replacement(c).encode() + b"\0"
    array = double_array(rules)
    return base64.b64encode(struct.pack("<I", len(array)) + array + bytes(texts)).decode()


# ---- the kinds ----

def make_bert(case):
    rnd = case.rnd
    lower = case.kind != "bert_cased"
    change = (lambda w: "".join(c for c in unicodedata.normalize("NFD", w.lower()) if unicodedata.category(c) != "Mn")) \
        if lower else (lambda w: w)
    model = word_piece(case, change)
    ids = model["vocab"]
    added = [added_token(t, ids[t]) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")]
    added.append(added_token("[MASK]", ids["[MASK]"], lstrip=rnd.random() < 0.5, rstrip=rnd.random() < 0.3))
    added.append(added_token("New Word", len(ids), normalized=True, special=False))
    normalizer = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                  "lowercase": lower}
    if case.kind == "bert_plain":
        normalizer.update(strip_accents=rnd.choice([True, False]), clean_text=rnd.random() < 0.5,
                          handle_chinese_chars=rnd.random() < 0.5)
    post = template(["[CLS]"], ["[SEP]"], ids)
    if case.kind == "bert_plain":
        post = {"type": "BertProcessing", "sep": ["[SEP]", ids["[SEP]"]], "cls": ["[CLS]", ids["[CLS]"]]}
    return normalizer, {"type": "BertPreTokenizer"}, model, post, added


def make_word_forms(case):
    rnd = case.rnd
    case.is_ascii = rnd.random() < 0.5
    form = rnd.choice(["NFC", "NFD", "NFKC", "NFKD"])
    steps = [{"type": form}, {"type": "Lowercase"}] + ([{"type": "StripAccents"}] if rnd.random() < 0.5 else [])
    model = word_piece(case, lambda w: unicodedata.normalize(form, w).lower())
    ids = model["vocab"]
    words = {"type": "Whitespace"} if case.is_ascii else {"type": "WhitespaceSplit"}
    return ({"type": "Sequence", "normalizers": steps}, words, model, None,
            [added_token("[UNK]", ids["[UNK]"]), added_token("Q[", len(ids), normalized=True, special=False)])


def make_byte_level(case):
    rnd = case.rnd
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<|endoftext|>", "<mask>"]
    model = byte_pairs(case, specials, case.kind == "gpt2_forms")
    ids = model["vocab"]
    added = [added_token(t, ids[t], normalized=rnd.random() < 0.5) for t in specials[:5]]
    added.append(added_token("<mask>", ids["<mask>"], lstrip=True))
    prefix = case.kind == "roberta" and rnd.random() < 0.5
    words = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True}
    post = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}
    if case.kind == "roberta":
        post = {"type": "RobertaProcessing", "sep": ["</s>", ids["</s>"]], "cls": ["<s>", ids["<s>"]], "trim_offsets": True,
                "add_prefix_space": prefix}
    normalizer = {"type": rnd.choice(["NFC", "NFKC"])} if case.kind == "gpt2_forms" else None
    if case.kind == "gpt2_forms":
        words["use_regex"] = rnd.random() < 0.8
    return normalizer, words, model, post, added


def make_t5(case):
    rnd = case.rnd
    model = unigram(case, lambda w: "".join(map(replacement, w)).replace(" ", ""))
    ids = {t: i for i, (t, _) in enumerate(model["vocab"])}
    added = [added_token(t, ids[t]) for t in ("<pad>", "</s>", "<unk>")]
    added.append(added_token("<extra_id_0>", len(ids), lstrip=rnd.random() < 0.5, rstrip=rnd.random() < 0.5))
    mapped = {"type": "Precompiled", "precompiled_charsmap": None}  # see make()
    space = {"type": "Metaspace", "replacement": MARK, "add_prefix_space": True}
    if case.kind == "t5":
        words = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]}
        return mapped, words, model, template([], ["</s>"], ids), added
    if case.kind == "t5_raw":
        steps = [mapped, {"type": "Strip", "strip_left": rnd.random() < 0.5, "strip_right": rnd.random() < 0.5},
                 {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
        space = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": rnd.choice(["always", "never"])}
        return {"type": "Sequence", "normalizers": steps}, space, model, template([], ["</s>"], ids), added
    steps = [{"type": "Replace", "pattern": {"String": "``"}, "content": "\""},
             {"type": "Replace", "pattern": {"String": "''"}, "content": "\""}, {"type": "NFKD"}, {"type": "StripAccents"},
             {"type": "Lowercase"}]
    words = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]}
    return {"type": "Sequence", "normalizers": steps}, words, model, None, added


MAKERS = {"bert": make_bert, "bert_cased": make_bert, "bert_plain": make_bert, "word_forms": make_word_forms,
          "gpt2": make_byte_level, "roberta": make_byte_level, "gpt2_forms": make_byte_level, "t5": make_t5, "t5_raw": make_t5,
          "albert": make_t5}


def make(number):
    case = Case(number)
    normalizer, words, model, post, added = MAKERS[case.kind](case)
    case.added = [t["content"] for t in added]
    texts = [case.text() for _ in range(TEXTS)]
    for step in (normalizer or {}).get("normalizers", [normalizer]):
        if step and step["type"] == "Precompiled":
            step["precompiled_charsmap"] = charsmap(set("".join(texts)) | set("\t\n"))
    return {"tokenizer": {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": normalizer,
                          "pre_tokenizer": words, "post_processor": post, "decoder": None, "model": model}, "texts": texts}


def lines_of(command, **variables):
    run = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, **variables}, check=True)
    return run.stdout.decode().splitlines()


def differences(case, number, got, wanted):
    """Prints them, and returns their number."""
    differ = 0
    for text, ours, theirs in zip(case["texts"], json.loads(got), json.loads(wanted)):
        if ours != theirs:
            differ += 1
            if differ <= 2:
                print("case %d (%s): %s\n  npm  %s\n  ours %s" % (number, KINDS[number % len(KINDS)], ascii(text), theirs, ours))
    return differ


def compare(program, script, node_path, count, first, make_case):
    """Ends the program: with the status 1 if there is a difference."""
    here = os.path.dirname(os.path.abspath(__file__))
    differ = texts = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases")
        for start in range(first, first + count, 100):  # no more than these in memory
            cases = [make_case(n) for n in range(start, min(start + 100, first + count))]
            with open(path, "w") as f:
                f.writelines(json.dumps(case) + "\n" for case in cases)
            wanted = lines_of(["node", os.path.join(here, script), path], NODE_PATH=node_path)
            got = lines_of([program, "lua", os.path.join(here, "encode.lua"), path, folder], TIDEMILL_WORKSPACE=folder)
            if len(got) != len(wanted) or len(got) != len(cases):
                sys.exit("%d cases, %d results of npm's package, %d of ours" % (len(cases), len(wanted), len(got)))
            for i, case in enumerate(cases):
                texts += len(case["texts"])
                differ += differences(case, start + i, got[i], wanted[i])
    print("%d texts, %d differ" % (texts, differ))
    sys.exit(1 if differ or texts == 0 else 0)


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2000 if os.environ.get("TM_LONG") else 40
    node_path = os.environ.get("TM_TEST_TOKENIZERS")
    if not node_path:
        print("npm's @huggingface/tokenizers is missing: run tests/support/onnxruntime/versions.sh get")
        sys.exit(77)
    compare(program, "encode.cjs", node_path, count, int(sys.argv[3]) if len(sys.argv) > 3 else 0, make)


if __name__ == "__main__":
    main()
