"""Files of 1 KB, and archives of them: generate.py FOLDER COUNT -> FOLDER/plain/, a.zip, a.tar, a.tar.gz."""
import os
import random
import sys
import tarfile
import zipfile

folder, count = sys.argv[1], int(sys.argv[2])
letters = "abcdefghijklmnop \n0123456789"
plain = os.path.join(folder, "plain")
pool = "".join(random.Random(7).choices(letters, k=1 << 20))
with zipfile.ZipFile(os.path.join(folder, "a.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
    for i in range(count):
        name = "d%03d/f%06d.txt" % (i // 1000, i)
        at = i * 7919 % (len(pool) - 1024)
        text = ("entry %06d " % i + pool[at:at + 1011]).encode()
        path = os.path.join(plain, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)
        packed.writestr(name, text)
for name, mode in ("a.tar", "w"), ("a.tar.gz", "w:gz"):
    options = {"compresslevel": 6} if mode == "w:gz" else {}
    with tarfile.open(os.path.join(folder, name), mode, **options) as archive:
        for below in sorted(os.listdir(plain)):
            archive.add(os.path.join(plain, below), below)
