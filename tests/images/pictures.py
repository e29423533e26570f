"""Random pictures as bytes of files: JPEG and WebP made by Pillow, PNG and PNM written here, so that
they have every kind of pixel. Each function takes a random.Random and returns (label, bytes)."""
import io
import random
import struct
import zlib

from PIL import Image

JPEG_MODES = ["L", "RGB", "RGB", "CMYK", "YCCK", "plain RGB"]


def size_of(r, most):
    return (r.randint(1, most), r.randint(1, most)) if r.random() < 0.8 else (r.choice([1, 7, 8, 9, 16, 17]), 1)


def smooth(r, mode, size):
    """Neither noise nor one colour: a small picture, enlarged."""
    bands = len(Image.new(mode, (1, 1)).getbands())
    few = (r.randint(1, 12), r.randint(1, 12))
    image = Image.frombytes(mode, few, r.randbytes(few[0] * few[1] * bands))
    return image.resize(size, r.choice([Image.BICUBIC, Image.NEAREST]))


def with_adobe_mark(data, transform):
    """Its colour space as Adobe's mark says it, in place of JFIF's mark."""
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([transform])
    if data[2:4] == b"\xff\xe0":
        length = struct.unpack(">H", data[4:6])[0]
        return data[:2] + adobe + data[4 + length:]
    at = data.index(b"\xff\xee")
    return data[:at] + adobe + data[at + 16:]


def jpeg(r, most):
    mode = r.choice(JPEG_MODES)
    image = smooth(r, {"YCCK": "CMYK", "plain RGB": "RGB"}.get(mode, mode), size_of(r, most))
    exif = Image.Exif()
    exif[0x0112] = r.randint(1, 8)
    options = {"quality": r.choice([5, 50, 75, 90, 100]), "progressive": r.random() < 0.5,
               "subsampling": r.randint(0, 2), "optimize": r.random() < 0.3, "exif": exif}
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    data = out.getvalue()
    if mode == "YCCK":
        data = with_adobe_mark(data, 2)
    elif mode == "plain RGB":
        data = with_adobe_mark(data, 0)
    return f"JPEG {mode} {image.size} {options['quality']} {options['subsampling']} {options['progressive']}", data


def part(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def filtered(r, rows, step):
    """Rows of bytes, each with a random filter."""
    out, above = bytearray(), bytes(len(rows[0]) if rows else 0)
    for row in rows:
        kind = r.randint(0, 4)
        out.append(kind)
        for i, byte in enumerate(row):
            a, b = row[i - step] if i >= step else 0, above[i]
            c = above[i - step] if i >= step else 0
            guess = [0, a, b, (a + b) // 2, paeth(a, b, c)][kind]
            out.append((byte - guess) & 255)
        above = row
    return bytes(out)


def packed(samples, bits):
    """A row of numbers of so many bits, as bytes."""
    if bits == 16:
        return struct.pack(f">{len(samples)}H", *samples)
    out = bytearray((len(samples) * bits + 7) // 8)
    for i, s in enumerate(samples):
        out[i * bits // 8] |= s << (8 - bits - i * bits % 8)
    return bytes(out)


PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_data(r, samples, width, height, channels, bits, interlaced):
    step = max(1, channels * bits // 8)
    data = b""
    for x0, y0, dx, dy in PASSES if interlaced else [(0, 0, 1, 1)]:
        rows = []
        for y in range(y0, height, dy):
            row = [s for x in range(x0, width, dx) for s in samples[y][x * channels:(x + 1) * channels]]
            rows.append(packed(row, bits))
        if rows and rows[0]:
            data += filtered(r, rows, step)
    return zlib.compress(data, r.choice([0, 1, 9]))


def png(r, most):
    """Also the samples, by row, to compare those of 16 bits."""
    kind, bits = r.choice([(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4),
                           (3, 8), (4, 8), (4, 16), (6, 8), (6, 16)])
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[kind]
    width, height = size_of(r, most)
    few = r.random() < 0.5  # so that some pixels have the transparent colour
    top = (1 << bits) - 1
    values = [0, top, min(1, top), min(200, top)] if few else range(top + 1)
    samples = [r.choices(values, k=width * channels) for _ in range(height)]
    interlaced = r.random() < 0.4
    out = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, interlaced))
    if kind == 3:
        entries = 1 << bits if r.random() < 0.7 else r.randint(1, 1 << bits)
        out += part(b"PLTE", r.randbytes(3 * entries))
    clear = r.random() < 0.4
    if clear and kind == 3:
        out += part(b"tRNS", r.randbytes(r.randint(1, entries)))
    elif clear and kind in (0, 2):
        out += part(b"tRNS", struct.pack(f">{channels}H", *r.choices(values, k=channels)))
    if r.random() < 0.3:
        out += part(b"tEXt", b"Comment\0" + r.randbytes(40))
    data = png_data(r, samples, width, height, channels, bits, interlaced)
    cuts = sorted(r.choices(range(len(data)), k=r.randint(0, 3)))
    for a, b in zip([0] + cuts, cuts + [len(data)]):
        out += part(b"IDAT", data[a:b])
    label = f"PNG kind {kind} bits {bits} {width}x{height} interlaced {interlaced} clear {clear}"
    return label, out + part(b"IEND", b""), (bits, channels, samples, clear)


def ends_in_pixels(data):
    """Where a file can be cut so that its header is whole and some pixels are missing: in a PNG, within an IDAT and
    before the check sum of all of them."""
    if not data.startswith(b"\x89PNG"):
        return range(len(data) // 3, len(data))
    ends, at = [], 8
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        if data[at + 4:at + 8] == b"IDAT":
            ends += range(at + 9, at + 8 + length)
        at += 12 + length
    return ends[:-8]


def webp(r, most):
    mode = r.choice(["RGB", "RGBA"])
    images = [smooth(r, mode, size_of(r, most))]
    options = {"lossless": r.random() < 0.4, "quality": r.choice([10, 80, 100]), "method": r.randint(0, 4)}
    if r.random() < 0.3:
        images += [smooth(r, mode, images[0].size) for _ in range(2)]
        options.update(save_all=True, append_images=images[1:])
    out = io.BytesIO()
    images[0].save(out, "WEBP", **options)
    return f"WebP {mode} {images[0].size} lossless {options['lossless']} of {len(images)}", out.getvalue()


def pnm(r, most):
    kind = r.randint(1, 6)
    width, height = size_of(r, most)
    channels = 3 if kind in (3, 6) else 1
    top = 1 if kind in (1, 4) else r.choice([1, 7, 100, 254, 255, 255] + ([256, 1000, 65535] if channels == 3 else []))
    samples = [[r.randint(0, top) for _ in range(width * channels)] for _ in range(height)]
    blank = lambda: r.choice([b" ", b"\n", b"\t", b"\r\n", b"\n# a comment\n"])
    out = b"P%d" % kind + r.choice([b" ", b"\n", b"\t"]) + b"%d" % width + blank() + b"%d" % height
    if kind not in (1, 4):
        out += blank() + b"%d" % top
    out += b"\n"
    for row in samples:
        if kind == 4:
            out += packed(row, 1)
        elif kind > 4:
            out += packed(row, 8 if top < 256 else 16)
        elif kind == 1:
            out += b"".join(b"%d" % s + (b" " if r.random() < 0.2 else b"") for s in row) + b"\n"
        else:
            out += b" ".join(b"%d" % s for s in row) + r.choice([b"\n", b"\r\n", b" # more\n "])
    return f"PNM P{kind} {width}x{height} maximum {top}", out
