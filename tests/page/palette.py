"""The colours of report.css: six meanings that everybody can tell apart, and text and marks that
stand out from what is behind them, in both themes.

    python3 palette.py CSS [SVG_C]

Differences are CIEDE2000, over normal, protan, deutan and tritan sight (matrices of Machado,
Oliveira and Fernandes 2009, on linear light). Contrasts are those of WCAG 2.2. SVG_C: the table of
svg.c, whose colours have to be those of the light theme.
"""
import itertools
import math
import re
import sys

MEANINGS = ["done", "failed", "died", "loading", "init", "nothing"]
LEAST_DIFFERENCE = 10
SIGHTS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
               (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
               (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
               (0.004733, 0.691367, 0.303900)),
}
# What is written on what; what is a mark on what. A pale mark has an edge of the colour "edge".
TEXT = [("ink", "bg"), ("ink", "paper"), ("ink", "soft"), ("ink", "nothing"), ("dim", "bg"),
        ("dim", "paper"), ("dim", "soft"), ("link", "bg"), ("link", "paper"), ("failed", "bg"),
        ("warn", "bg"), ("bg", "died"), ("on-tone", "failed"), ("on-tone", "good"),
        ("on-tone", "warn"), ("on-tone", "done"), ("bg", "dim")]
MARKS = [("done", "bg"), ("failed", "bg"), ("died", "bg"), ("edge", "bg"), ("edge", "paper"),
         ("link", "bg"), ("good", "bg"), ("warn", "bg")]


def variables(block):
    return {name: tuple(int(value[i:i + 2], 16) for i in (0, 2, 4))
            for name, value in re.findall(r"--([\w-]+):\s*#([0-9a-f]{6})", block)}


def themes(css):
    """The variables of :root, and those of each block for the dark theme, which must be equal."""
    screen = css.split("@media print")[0]
    light = variables(re.search(r"^:root \{(.*?)\n\}", screen, re.S | re.M).group(1))
    system = re.search(r":root:not\(\[data-theme=light\]\) \{(.*?)\}", screen, re.S).group(1)
    chosen = re.search(r":root\[data-theme=dark\] \{(.*?)\}", screen, re.S).group(1)
    if variables(system) != variables(chosen):
        sys.exit("the dark theme of the system and the chosen one differ")
    dark = dict(light, **variables(chosen))
    if set(variables(chosen)) != set(light):
        sys.exit("a colour has no dark variant: %s" % sorted(set(light) ^ set(variables(chosen))))
    return {"light": light, "dark": dark}


def linear(colour):
    return [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
            for c in colour]


def seen(colour, sight):
    light = linear(colour)
    return [min(1, max(0, sum(m * c for m, c in zip(row, light)))) for row in SIGHTS[sight]]


def lab(light):
    r, g, b = light
    xyz = ((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
           0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
           (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883)
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def hue(a, b):
    return math.degrees(math.atan2(b, a)) % 360


def difference(one, other):
    """CIEDE2000."""
    l1, a1, b1 = one
    l2, a2, b2 = other
    mean7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - math.sqrt(mean7 / (mean7 + 25 ** 7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2, h1, h2 = math.hypot(a1, b1), math.hypot(a2, b2), hue(a1, b1), hue(a2, b2)
    dh = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    h = h1 + h2 if c1 * c2 == 0 else ((h1 + h2) / 2 if abs(h1 - h2) <= 180 else
                                      (h1 + h2 + 360) / 2 if h1 + h2 < 360 else (h1 + h2 - 360) / 2)
    l, c = (l1 + l2) / 2, (c1 + c2) / 2

    def cos(degrees):
        return math.cos(math.radians(degrees))
    t = 1 - 0.17 * cos(h - 30) + 0.24 * cos(2 * h) + 0.32 * cos(3 * h + 6) - 0.20 * cos(4 * h - 63)
    sl = 1 + 0.015 * (l - 50) ** 2 / math.sqrt(20 + (l - 50) ** 2)
    sc, sh = 1 + 0.045 * c, 1 + 0.015 * c * t
    rotation = -2 * math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) * math.sin(
        math.radians(60 * math.exp(-((h - 275) / 25) ** 2)))
    dl, dc = (l2 - l1) / sl, (c2 - c1) / sc
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh) / 2) / sh
    return math.sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh)


def contrast(one, other):
    def luminance(colour):
        r, g, b = linear(colour)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    a, b = sorted((luminance(one), luminance(other)))
    return (b + 0.05) / (a + 0.05)


def check_formula():
    """Pairs of Sharma, Wu and Dalal 2005."""
    for one, other, expected in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                                 ((50, 2.5, 0), (73, 25, -18), 27.1492),
                                 ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)):
        if abs(difference(one, other) - expected) > 0.0001:
            sys.exit("difference() computes %.4f, not %.4f" % (difference(one, other), expected))


def main(css_path, svg_path=None):
    check_formula()
    faults = []
    with open(css_path, encoding="utf-8") as f:
        found = themes(f.read())
    for theme, colours in found.items():
        least = min((difference(lab(seen(colours[a], s)), lab(seen(colours[b], s))), a, b, s)
                    for a, b in itertools.combinations(MEANINGS, 2) for s in SIGHTS)
        print("%s: the least difference is %.1f: %s and %s, %s sight" % ((theme,) + least))
        if least[0] < LEAST_DIFFERENCE:
            faults.append("%s: %s and %s are too near" % (theme, least[1], least[2]))
        for pairs, needed in ((TEXT, 4.5), (MARKS, 3)):
            for front, back in pairs:
                got = contrast(colours[front], colours[back])
                if got < needed:
                    faults.append("%s: %s on %s: contrast %.2f, needed %.1f"
                                  % (theme, front, back, got, needed))
    if svg_path:
        with open(svg_path, encoding="utf-8") as f:
            paints = re.findall(r'\{ "([\w-]+)", "#([0-9a-f]{6})" \}', f.read())
        for name, value in paints:
            if found["light"].get(name) != tuple(bytes.fromhex(value)):
                faults.append("svg.c: %s is #%s, which is not report.css's" % (name, value))
        if len(paints) < len(MEANINGS):
            faults.append("svg.c: only %d colours found" % len(paints))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
