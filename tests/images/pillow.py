"""Compares the pixels of random pictures with those that Pillow decodes: pillow.py DUMP [COUNT [FIRST]].

Not one byte may differ, but in PNG of 16 bits: there the high bytes are expected. Pictures are also
cut, and read with the missing rows filled, as Pillow does with LOAD_TRUNCATED_IMAGES. TM_LONG makes
more pictures. Each is made from its number."""
import io
import os
import random
import subprocess
import sys
import tempfile
import warnings

import pictures
from PIL import Image, ImageFile

MODES = {1: "L", 3: "RGB", 4: "RGBA"}


class Dump:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "picture")

    def read(self, data, channels, scale=1, fills=False):
        """(size, channels, orientation, bytes), or the message of an error."""
        with open(self.path, "wb") as f:
            f.write(data)
        self.process.stdin.write(f"{channels} {scale} {fills:d} {self.path}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        if line.startswith("error: "):
            return line
        width, height, channels, orientation = map(int, line.split())
        return (width, height), channels, orientation, self.process.stdout.read(width * height * channels)

    def close(self):
        self.process.stdin.close()
        self.folder.cleanup()
        return self.process.wait()


def pillow(data, channels, fills=False):
    ImageFile.LOAD_TRUNCATED_IMAGES = fills
    try:
        image = Image.open(io.BytesIO(data))
        orientation = image.getexif().get(0x0112, 1)
        image.load()
        return image.size, channels, orientation, image.convert(MODES[channels]).tobytes()
    except Exception as error:
        return f"error: {error!r}"


def high_bytes(size, channels, samples, has):
    """What 16 bits become: the high byte of each."""
    out = bytearray()
    for row in samples:
        for at in range(0, len(row), has):
            s = [v >> 8 for v in row[at:at + has]]
            rgb = s[:3] if has > 2 else s[:1] * 3
            grey = s[0] if has < 3 else (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16
            alpha = s[-1] if has in (2, 4) else 255
            out += bytes([grey] if channels == 1 else rgb if channels == 3 else rgb + [alpha])
    return bytes(out)


class Comparison:
    def __init__(self, dump):
        self.dump, self.count, self.faults = dump, 0, []

    def compare(self, number, label, got, want):
        self.count += 1
        if isinstance(got, str) and isinstance(want, str):
            return
        if isinstance(got, str) or isinstance(want, str):
            self.faults.append(f"{number}: {label}: {got if isinstance(got, str) else 'read'}, "
                               f"Pillow: {want if isinstance(want, str) else 'read'}")
        elif got != want:
            differ = sum(a != b for a, b in zip(got[3], want[3]))
            self.faults.append(f"{number}: {label}: {got[:3]} for {want[:3]}, {differ} of {len(want[3])} bytes differ")

    def picture(self, number, most):
        r = random.Random(number)
        make = [pictures.jpeg, pictures.png, pictures.jpeg, pictures.webp, pictures.png, pictures.pnm][number % 6]
        label, data, *more = make(r, most)
        wide = more and more[0][0] == 16
        for channels in MODES:
            got, want = self.dump.read(data, channels), pillow(data, channels)
            if wide and not isinstance(want, str):
                if more[0][3]:
                    continue  # Pillow compares the transparent colour with 8 bits
                want = want[:3] + (high_bytes(want[0], channels, more[0][2], more[0][1]),)
            self.compare(number, f"{label} as {MODES[channels]}", got, want)
        # Pillow gives no rows of a PNM that ends early, and of a picture of 16 bits other ones.
        ends = pictures.ends_in_pixels(data)
        if ends and not wide and make is not pictures.pnm:
            cut = data[:r.choice(ends)]
            for fills in (False, True):
                self.compare(number, f"{label} cut at {len(cut)} fills {fills}",
                             self.dump.read(cut, 3, 1, fills), pillow(cut, 3, fills))


def main(program, count=None, first=0):
    warnings.simplefilter("ignore")
    is_long = bool(os.environ.get("TM_LONG"))
    count = int(count or (500 if is_long else 40))
    comparison = Comparison(Dump(program))
    for number in range(int(first), int(first) + count):
        comparison.picture(number, 600 if is_long else 60)
    status = comparison.dump.close()
    print(*comparison.faults, sep="\n")
    print(f"{count} pictures, {comparison.count} comparisons, {len(comparison.faults)} faults")
    return 1 if comparison.faults or status != 0 else 0


sys.exit(main(*sys.argv[1:]))
