"""decode.lua with Pillow and numpy in a multiprocessing.Pool: pool.py LIST OUTPUT WORKERS RESIZE CROP"""
import functools
import multiprocessing
import os
import sys

import numpy
from PIL import Image

MEAN = numpy.array([0.485, 0.456, 0.406], numpy.float32)
STD = numpy.array([0.229, 0.224, 0.225], numpy.float32)


def tensor(path, resize, crop):
    image = Image.open(path).convert("RGB")
    shorter = min(image.size)
    width, height = (size * resize // shorter for size in image.size)
    image = image.resize((width, height), Image.BILINEAR)
    left, top = round((width - crop) / 2), round((height - crop) / 2)
    image = image.crop((left, top, left + crop, top + crop))
    pixels = numpy.asarray(image, numpy.float32) * numpy.float32(1 / 255)
    return numpy.ascontiguousarray(((pixels - MEAN) / STD).transpose(2, 0, 1))


def row(path, resize, crop):
    element = tensor(path, resize, crop)[1, crop // 2 - 1, crop // 2 - 1]
    return "%s: %.4f\n" % (os.path.basename(path), element)


def main():
    paths, output, workers, resize, crop = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    with open(paths) as lines:
        paths = lines.read().split("\n")[:-1]
    with multiprocessing.Pool(workers) as pool, open(output, "w") as out:
        out.writelines(pool.imap_unordered(functools.partial(row, resize=resize, crop=crop), paths, chunksize=8))


main()
