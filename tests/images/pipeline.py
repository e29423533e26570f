"""Compares images as models get them with Pillow and numpy: pipeline.py TIDEMILL [COUNT [FIRST]].

Random pictures (pictures.py) go through random options of image.load(). As uint8, not one byte may
differ. As float32, elements may differ by 1e-6 of their size. TM_LONG makes more pictures. Each is
made from its number."""
import io
import math
import os
import random
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pictures
from PIL import Image, ImageOps

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {"rgb": "RGB", "bgr": "RGB", "gray": "L", "rgba": "RGBA"}
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "lanczos": Image.LANCZOS, "box": Image.BOX,
           "nearest": Image.NEAREST}


class Loader:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        environment = dict(os.environ, TIDEMILL_WORKSPACE=self.folder.name)
        self.process = subprocess.Popen([program, "lua", os.path.join(HERE, "load.lua")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)
        self.path = os.path.join(self.folder.name, "picture")

    def load(self, data, options):
        """(array, place), or the message of an error."""
        with open(self.path, "wb") as f:
            f.write(data)
        self.process.stdin.write(f"{self.path}\t{as_lua(options)}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode()
        words = line.split()
        if len(words) != 7 or words[0] == "error:":
            return line or "the program has ended"
        shape, dtype = tuple(map(int, words[:3])), np.dtype(options.get("type", "uint8"))
        elements = self.process.stdout.read(math.prod(shape) * dtype.itemsize)
        return np.frombuffer(elements, dtype).reshape(shape), tuple(map(float, words[3:]))

    def close(self):
        self.process.stdin.close()
        status = self.process.wait()
        self.folder.cleanup()
        return status


def as_lua(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}={as_lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(as_lua, value)) + "}"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def center_crop(image, side, fill):
    """torchvision.transforms.CenterCrop"""
    width, height = image.size
    if side > width or side > height:
        left, top = max(0, side - width) // 2, max(0, side - height) // 2
        padded = Image.new(image.mode, (max(side, width), max(side, height)), fill)
        padded.paste(image, (left, top))
        image, (width, height) = padded, padded.size
    left, top = int(round((width - side) / 2.0)), int(round((height - side) / 2.0))
    return image.crop((left, top, left + side, top + side))


def sized(image, o):
    how, fill = FILTERS[o.get("filter", "bilinear")], tuple(o.get("fill", [0] * len(image.getbands())))
    fill = fill if len(fill) > 1 else fill[0]
    width, height = image.size
    if o.get("fit") == "cover":
        return ImageOps.fit(image, (o["width"], o["height"]), how)
    if o.get("fit") == "contain":
        wanted = image.width / image.height, o["width"] / o["height"]
        new = (o["width"], round(height / width * o["width"])) if wanted[0] > wanted[1] else \
            (round(width / height * o["height"]), o["height"]) if wanted[0] < wanted[1] else (o["width"], o["height"])
        if min(new) < 1:
            return None  # Pillow refuses it
        return ImageOps.pad(image, (o["width"], o["height"]), how, fill)
    if "width" in o:
        return image.resize((o["width"], o["height"]), how)
    if "resize" in o:
        s = o["resize"]
        new = (s, int(s * height / width)) if width <= height else (int(s * width / height), s)
        image = image.resize(new, how)
    return center_crop(image, o["crop"], fill) if "crop" in o else image


def reference(data, o):
    """The array that is expected; None: Pillow refuses these options; or the message of an error."""
    try:
        image = Image.open(io.BytesIO(data))
        image.load()
        if o.get("orient"):
            image = ImageOps.exif_transpose(image)
        mode = MODES[o["channels"]]
        if "background" in o and o["channels"] != "rgba":
            image = image.convert("RGBA")
            under = Image.new("RGB", image.size, tuple(o["background"]))
            under.paste(image, mask=image.getchannel("A"))
            image = under
        image = image.convert(mode)
    except Exception as error:
        return f"error: {error!r}"
    if o["channels"] == "bgr" and "fill" in o:
        o = dict(o, fill=o["fill"][::-1])
    image = sized(image, o)
    if image is None:
        return None
    a = np.asarray(image)
    a = a[:, :, None] if a.ndim == 2 else a
    a = a[:, :, ::-1] if o["channels"] == "bgr" else a
    if o.get("type") == "float32":
        values = [np.asarray(o[name], np.float32) for name in ("scale", "mean", "std")]
        a = ((a.astype(np.float32) * values[0]) - values[1]) / values[2]
    return a.transpose(2, 0, 1) if o.get("layout") == "NCHW" else a


def options_for(r, most):
    o = {"channels": r.choice(["rgb", "rgb", "bgr", "gray", "rgba"]), "filter": r.choice(list(FILTERS))}
    n = {"gray": 1, "rgba": 4}.get(o["channels"], 3)
    kind = r.randint(0, 5)
    if kind < 3:
        o.update(width=r.randint(1, most), height=r.randint(1, most), fit=["stretch", "cover", "contain"][kind])
    elif kind == 3:
        o["resize"] = r.randint(1, most)
        o["crop"] = r.randint(1, o["resize"])
    elif kind == 4:
        o["crop"] = r.randint(1, most)
    if r.random() < 0.3:
        o["background"] = [r.randint(0, 255) for _ in range(3)]
    if r.random() < 0.5:
        o["fill"] = [r.randint(0, 255) for _ in range(n)]
    if r.random() < 0.4:
        o["orient"] = True
    if r.random() < 0.4:
        o["layout"] = "NCHW"
    if r.random() < 0.3:
        o.update(type="float32", scale=r.choice([1.0, 1 / 255, 0.3]), mean=[r.uniform(-1, 1) for _ in range(n)],
                 std=[r.uniform(0.1, 2) for _ in range(n)])
    return o


def fault_of(got, want):
    """What is wrong, or None."""
    if isinstance(got, str) or isinstance(want, str):
        same = isinstance(got, str) and isinstance(want, str)
        return None if same else f"{got if isinstance(got, str) else 'loaded'}; Pillow: {want if isinstance(want, str) else 'read'}"
    array, place = got
    if array.shape != want.shape:
        return f"shape {array.shape} for {want.shape}"
    if not all(map(math.isfinite, place)):
        return f"place {place}"
    if array.dtype == np.uint8:
        count = int((array != want).sum())
    else:
        count = int((np.abs(array - want) > 1e-6 * np.maximum(1, np.abs(want))).sum())
    return f"{count} of {want.size} elements differ" if count else None


def main(program, count=None, first=0):
    warnings.simplefilter("ignore")
    is_long = bool(os.environ.get("TM_LONG"))
    count, most = int(count or (500 if is_long else 40)), 600 if is_long else 100
    loader, faults, compared = Loader(program), [], 0
    for number in range(int(first), int(first) + count):
        r = random.Random(number)
        make = [pictures.jpeg, pictures.png, pictures.jpeg, pictures.webp, pictures.png, pictures.pnm][number % 6]
        label, data, *more = make(r, most)
        options = options_for(r, most // 2)
        want = reference(data, options)
        if (more and more[0][0] == 16) or want is None:
            continue  # what Pillow does otherwise, or not at all
        compared += 1
        fault = fault_of(loader.load(data, options), want)
        if fault:
            faults.append(f"{number}: {label} {options}: {fault}")
    status = loader.close()
    print(*faults, sep="\n")
    print(f"{count} pictures, {compared} compared, {len(faults)} faults")
    return 1 if faults or status != 0 or compared < count / 2 else 0


sys.exit(main(*sys.argv[1:]))
