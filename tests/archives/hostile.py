"""Builds hostile archives, and sound ones to damage, byte by byte.

hostile(): archives that must fail, with their messages; sound(): one of each kind; damaged(): one with random changes.
"""
import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib

MB = 1 << 20


# ---- zip ----

def zip_entry(name, packed, size, crc, method=8, at=0, mode=0, flags=0, extra=b""):
    """The local header, and the entry of the directory."""
    clip = min(size, 0xffffffff)
    numbers = struct.pack("<HHIIIIHH", flags, method, 0, crc, min(packed, 0xffffffff), clip, len(name), len(extra))
    return (b"PK\3\4\x14\0" + numbers + name + extra,
            b"PK\1\2\x14\3\x14\0" + numbers + struct.pack("<HHHII", 0, 0, 0, mode << 16, at) + name + extra)


def zip_end(body, directory, count):
    body, directory = b"".join(body), b"".join(directory)
    return body + directory + b"PK\5\6\0\0\0\0" + struct.pack("<HHIIH", count & 0xffff, count & 0xffff,
                                                              len(directory), len(body), 0)


def deflate(data):
    z = zlib.compressobj(9, zlib.DEFLATED, -15)
    return z.compress(data) + z.flush()


def zip_of(members):
    """members: (name, contents, mode)"""
    body, directory, at = [], [], 0
    for name, data, mode in members:
        packed = deflate(data)
        local, central = zip_entry(name, len(packed), len(data), zlib.crc32(data), at=at, mode=mode)
        body += [local, packed]
        directory.append(central)
        at += len(local) + len(packed)
    return zip_end(body, directory, len(members))


def zip_full_overlap(count):
    data = b"a" * MB
    packed = deflate(data)
    body, directory = [], []
    for i in range(count):
        local, central = zip_entry(b"%04d" % i, len(packed), len(data), zlib.crc32(data))
        body = body or [local, packed]
        directory.append(central)
    return zip_end(body, directory, count)


def zip_quoted_overlap(count):
    """The data of each entry hold the next local header as a stored block, and continue like the data of the next entry."""
    data = b"a" * MB
    packed = deflate(data)
    crc, size, length = zlib.crc32(data), len(data), len(packed)
    body, directory, quoted = [packed], [], None
    entries = []
    for i in reversed(range(count)):
        if quoted is not None:
            block = b"\0" + struct.pack("<HH", len(quoted), len(quoted) ^ 0xffff)
            body[:0] = [block, quoted]
            data = quoted + data
            crc, size, length = zlib.crc32(data), len(data), length + len(block) + len(quoted)
        quoted, _ = zip_entry(b"%04d" % i, length, size, crc)
        entries.append((i, length, size, crc, sum(map(len, body)) + len(quoted)))
    body[:0] = [quoted]
    whole = sum(map(len, body))
    for i, length, size, crc, behind in reversed(entries):
        directory.append(zip_entry(b"%04d" % i, length, size, crc, at=whole - behind)[1])
    return zip_end(body, directory, count)


def zip64_claims(entries):
    end = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, entries, entries, 0, 0)
    return (b"PK\3\4" + bytes(26) + end + b"PK\6\7" + struct.pack("<IQI", 0, 30, 1)
            + b"PK\5\6" + b"\0\0\0\0" + b"\xff" * 12 + b"\0\0")


def zip64_sizes(size):
    extra = struct.pack("<HHQQ", 1, 16, size, size)
    local, central = zip_entry(b"huge", 1 << 40, 1 << 40, 0, extra=extra)
    return zip_end([local], [central], 1)


# ---- tar ----

def octal(n, width):
    return b"%0*o\0" % (width - 1, n)


def base256(n, width):
    return (n & ((1 << 8 * width) - 1) | 0x80 << 8 * (width - 1)).to_bytes(width, "big")


def tar_head(name, size=0, kind=b"0", link=b"", field=None, magic=b"ustar\x0000", rest=b""):
    size = field if field is not None else octal(size, 12)
    head = (name[:100].ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + size + b"00000000000\0" + b" " * 8 + kind
            + link.ljust(100, b"\0") + magic + rest).ljust(512, b"\0")
    return head[:148] + b"%06o\0 " % sum(head) + head[156:]


def padded(data):
    return data + bytes(-len(data) % 512)


def tar_of(*parts):
    return b"".join(parts) + bytes(1024)


def tar_file(name, data=b"x", **more):
    return tar_head(name, len(data), **more) + padded(data)


def pax(*records):
    lines = b""
    for key, value in records:
        n = len(key) + len(value) + 3
        while len(b"%d" % n) + len(key) + len(value) + 3 != n:
            n = len(b"%d" % n) + len(key) + len(value) + 3
        lines += b"%d %s=%s\n" % (n, key, value)
    return tar_file(b"pax", lines, kind=b"x")


def sparse_map(blocks):
    one = octal(1, 12) * 2
    more = (one * 21 + b"\1").ljust(512, b"\0")
    rest = (bytes(386 - 265) + one * 4 + b"\1")
    return tar_head(b"sparse", kind=b"S", magic=b"ustar  \0", rest=rest) + more * blocks


# ---- cpio ----

def cpio_file(name, data=b"", mode=0x81a4, links=1, number=1, size=None, name_len=None):
    name += b"\0"
    numbers = (number, mode, 0, 0, links, 0, len(data) if size is None else size, 0, 0, 0, 0,
               len(name) if name_len is None else name_len, 0)
    head = b"070701" + b"".join(b"%08x" % n for n in numbers) + name
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


CPIO_END = cpio_file(b"TRAILER!!!")


# ---- 7z ----

def number(n):
    for more in range(8):
        if n < 1 << 7 * (more + 1):
            return bytes([0xff << (8 - more) & 0xff | n >> 8 * more]) + (n & (1 << 8 * more) - 1).to_bytes(more, "little")
    return b"\xff" + n.to_bytes(8, "little")


def seven(header, body=b""):
    where = struct.pack("<QQI", len(body), len(header), zlib.crc32(header))
    return b"7z\xbc\xaf\x27\x1c\0\4" + struct.pack("<I", zlib.crc32(where)) + where + body + header


def seven_packed(header, claimed=None, body=b"", window=MB):
    packed = lzma.compress(header, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "dict_size": MB}])
    outside = (b"\x17\6" + number(len(body)) + b"\1\x09" + number(len(packed)) + b"\0\7\x0b\1\0\1\x23\3\1\1\5\x5d"
               + struct.pack("<I", window) + b"\x0c" + number(claimed or len(header)) + b"\x0a\1"
               + struct.pack("<I", zlib.crc32(header)) + b"\0\0")
    return seven(outside, body + packed)


def bits(values):
    text = "".join("1" if v else "0" for v in values)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


def column(kind, data):
    return bytes([kind]) + number(len(data)) + data


def seven_header(members):
    """members: (name, contents or None for a folder, mode); contents are stored in one run."""
    full = [m for m in members if m[1]]
    empty = [not m[1] for m in members]
    size = number(sum(len(m[1]) for m in full))
    out = b"\1"
    if full:
        out += (b"\4\6\0\1\x09" + size + b"\0\7\x0b\1\0\1\1\0\x0c" + size + b"\0\x08\x0d" + number(len(full))
                + (b"\x09" + b"".join(number(len(m[1])) for m in full[:-1]) if len(full) > 1 else b"")
                + b"\x0a\1" + b"".join(struct.pack("<I", zlib.crc32(m[1])) for m in full) + b"\0\0")
    out += b"\5" + number(len(members))
    if any(empty):
        out += column(14, bits(empty)) + column(15, bits(m[1] is not None for m in members if not m[1]))
    out += column(17, b"\0" + b"".join(m[0].encode("utf-16-le") + b"\0\0" for m in members))
    out += column(21, b"\1\0" + b"".join(struct.pack("<I", m[2] << 16 | 0x8000) for m in members))
    return out + b"\0\0"


def seven_of(members, pack=seven):
    return pack(seven_header(members), body=b"".join(m[1] or b"" for m in members))


def seven_folders(count, files):
    """Folders that each claim `files` files, but have none."""
    return (b"\1\4\6\0" + number(count) + b"\x09" + bytes(count) + b"\0\7\x0b" + number(count) + b"\0" + b"\1\1\0" * count
            + b"\x0c" + bytes(count) + b"\0\x08\x0d" + number(files) * count + b"\x0a\1\0\0\0")


# ---- all of them ----

def hostile(outside, slow):
    """name -> (bytes, message of a failed item); None: any result is accepted. `outside`: the target of absolute names;
    `slow`: also archives that take seconds."""
    slips = [b"../" * i + b"slipped%d" % i for i in range(1, 9)] + [outside.encode() + b"/slipped", b"a/../../slipped"]
    zeros = bytes(24 * MB)
    many = [(b"%d" % i, b"", 0o100644) for i in range(70000 if slow else 0)]
    names_7z = "".join("%d\0" % i for i in range(40)).encode("utf-16-le")
    link = tar_head(b"to", kind=b"2", link=outside.encode())
    out = {
        "overlap.zip": (zip_full_overlap(2000), "overlap"),
        "quoted.zip": (zip_quoted_overlap(100), "overlap"),
        "zeros.zip": (zip_of([(b"zeros", zeros, 0)]), "max_ratio"),
        "nested.zip": (zip_of([(b"in.zip", zip_of([(b"zeros", zeros, 0)]), 0), (b"../x", b"", 0)]), "leads out"),
        "slips.zip": (zip_of([(n, b"slipped", 0o100644) for n in slips]), "leads out"),
        "nul.zip": (zip_of([(b"a\0b", b"x", 0)]), "NUL"),
        "link.zip": (zip_of([(b"l", outside.encode(), 0o120777), (b"l/slipped", b"x", 0)]), "symbolic link"),
        "device.zip": (zip_of([(b"null", b"", 0o020666)]), "device"),
        "many.zip": (zip_end([b"PK\3\4" + bytes(26)], [zip_entry(b"x", 0, 0, 0)[1]], 0xffff), "directory"),
        "claims.zip": (zip64_claims(1 << 62), None),
        "sizes.zip": (zip64_sizes(1 << 63), "directory is damaged"),
        "long.zip": (zip_of([(b"n" * 65000, b"x", 0)]), "longer than 4096"),
        "zeros.tar.gz": (gzip.compress(tar_of(tar_head(b"zeros", len(zeros)), zeros), 9), "max_ratio"),
        "twice.tar.gz": (gzip.compress(gzip.compress(zeros)), "not an archive"),
        "zeros.tar.xz": (lzma.compress(tar_of(tar_head(b"zeros", len(zeros)), zeros), preset=0), "max_ratio"),
        "slips.tar": (tar_of(*(tar_file(n, b"slipped") for n in slips)), "leads out"),
        "links.tar": (tar_of(link, tar_file(b"to/slipped"), tar_head(b"up", kind=b"2", link=b"../../.."),
                             tar_file(b"up/slipped"), tar_head(b"hard", kind=b"1", link=outside.encode())), "leads out"),
        "devices.tar": (tar_of(*(tar_head(b"d" + k, kind=k) for k in (b"3", b"4", b"6"))), "device"),
        "paxnul.tar": (tar_of(pax((b"path", b"a\0b")), tar_file(b"x")), None),
        "paxslip.tar": (tar_of(pax((b"path", b"../slipped")), tar_file(b"x")), "leads out"),
        "paxsize.tar": (tar_of(pax((b"size", b"%d" % (1 << 63))), tar_file(b"x")), None),
        "paxlong.tar": (tar_of(pax((b"path", b"n" * 100000)), tar_file(b"x")), "longer than 4096"),
        "pax.tar": (tar_of(tar_head(b"p", 1 << 40, kind=b"x")), "cannot be listed"),
        "negative.tar": (tar_of(tar_head(b"x", field=base256(-1, 12))), None),
        "huge.tar": (tar_of(tar_head(b"x", field=base256(1 << 60, 12))), "times its own"),
        "chain.tar": (tar_of(*[pax((b"comment", b"x"))] * 1000, tar_file(b"x")), None),
        "sparse.tar.gz": (gzip.compress(sparse_map(50000)), "more than 16 MB"),
        "long.tar.gz": (gzip.compress(tar_head(b"n", 64 * MB, kind=b"L") + bytes(MB)), "cannot be listed"),
        "name.cpio": (cpio_file(b"x", name_len=0xffffffff) + CPIO_END, "cannot be listed"),
        "name.cpio.gz": (gzip.compress(cpio_file(b"x", name_len=0x7fffffff) + bytes(20 * MB)), "more than 16 MB"),
        "size.cpio": (cpio_file(b"x", size=0xffffffff) + CPIO_END, None),
        "slips.cpio": (b"".join(cpio_file(n) for n in slips) + CPIO_END, "leads out"),
        "files.7z": (seven(b"\1\5" + number(99999999) + b"\x0e\1\xff\0\0"), "header is damaged"),
        "packed.7z": (seven_packed(b"\1\5" + number(99999999) + column(14, b"\xff" * 12500000) + b"\0\0"), "is damaged"),
        "claimed.7z": (seven_packed(b"\1\5\0\0\0", claimed=1 << 40), "more than 128 MB"),
        "window.7z": (seven_packed(seven_header([("../x", b"", 0o100644)]), window=0xffffffff), "leads out"),
        "few.7z": (seven_packed(b"\1\5" + number(60) + column(17, b"\0" + names_7z) + b"\0\0"), "is damaged"),
        "folders.7z": (seven(seven_folders(80, 99999999)), "is damaged"),
        "costly.7z": (seven_packed(seven_folders(1200000, 0)), "header"),
        "coder.7z": (seven(b"\1\4\6\0\1\x09\0\0\7\x0b\1\0\1\x11\0" + number(99999999) + number(99999998)), "is damaged"),
        "link.7z": (seven(seven_header([("l", b"x", 0o120777)]).replace(b"\x0c\1\0", b"\x0c\xe0\0\0\x20\0"), b"x"), "1 MB"),
        "links.7z": (seven_of([("l", outside.encode(), 0o120777), ("l/slipped", b"x", 0o100644)]), "symbolic link"),
        "slips.7z": (seven_of([(n.decode(), b"slipped", 0o100644) for n in slips]), "leads out"),
    }
    if slow:
        out["70000.zip"] = (zip_of(many), None)
        linked = b"".join(cpio_file(b"%d" % i, links=2, number=i) for i in range(30001))
        out["names.cpio"] = (linked + CPIO_END, "several names")
    return out


def sound():
    members = [(b"a/%d.txt" % i, b"%d\n" % i * (50 * i), 0o100644) for i in range(12)]
    out = {"plain.zip": zip_of(members)}
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as z:
            for name, data, _ in members:
                z.writestr(name.decode(), data)
        out["method%d.zip" % method] = file.getvalue()
    for form, name in ((tarfile.USTAR_FORMAT, "ustar"), (tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax")):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w", format=form) as t:
            for member, data, _ in members:
                info = tarfile.TarInfo(member.decode() + ("n" * 120 if form != tarfile.USTAR_FORMAT else ""))
                info.size = len(data)
                info.mtime = 1.5 if form == tarfile.PAX_FORMAT else 1
                t.addfile(info, io.BytesIO(data))
            info = tarfile.TarInfo("link")
            info.type, info.linkname = tarfile.SYMTYPE, "a/3.txt"
            t.addfile(info)
        out[name + ".tar"] = file.getvalue()
    out["tar.gz"] = gzip.compress(out["gnu.tar"])
    out["tar.xz"] = lzma.compress(out["pax.tar"])
    out["tar.bz2"] = bz2.compress(out["ustar.tar"])
    out["new.cpio"] = b"".join(cpio_file(*m) for m in members) + CPIO_END
    out["cpio.gz"] = gzip.compress(out["new.cpio"])
    out["plain.7z"] = seven_of([(n.decode(), d, m) for n, d, m in members] + [("f", None, 0o40755), ("e", b"", 0o100644)])
    out["packed.7z"] = seven_of([(n.decode() + "\u00e4", d, m) for n, d, m in members], pack=seven_packed)
    return out


def repaired(name, data):
    """Corrects the check sums of a 7z's header, so that the damaged header is read."""
    if not name.endswith(".7z") or len(data) < 32:
        return data
    offset, size = struct.unpack("<QQ", data[12:28])
    header = data[32 + offset:32 + offset + size] if offset < len(data) else b""
    where = data[12:28] + struct.pack("<I", zlib.crc32(header))
    return data[:8] + struct.pack("<I", zlib.crc32(where)) + where + data[32:]


def damaged(random, name, data):
    """Changes some bits or bytes, removes or doubles some, or cuts off the end."""
    data = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5, 20))):
        if not data:
            break
        at, kind = random.randrange(len(data)), random.randrange(6)
        if kind == 0:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at] = random.choice((0, 1, 0x7f, 0x80, 0xff, random.randrange(256)))
        elif kind == 2:
            data[at:at + 4] = random.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"\0\0\0\x80"))
        elif kind == 3:
            del data[at:at + random.randrange(1, 64)]
        elif kind == 4:
            data[at:at] = data[max(0, at - random.randrange(1, 512)):at]
        elif random.randrange(4) == 0:
            del data[at:]
    return repaired(name, bytes(data)) if random.randrange(2) else bytes(data)
