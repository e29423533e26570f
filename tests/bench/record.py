"""Records the README's session on a terminal of its own, and draws it: record.py TIDEMILL OUT.svg [LINES]

The session is real: a shell runs the program over LINES lines in 20 files, one of which is bad. Times are those of the
recording; waits of more than a second are shortened to one. A viewer that does not animate shows the last screen. With
fewer than 100,000 lines nothing is typed slowly: that is for the test.
"""
import os
import re
import sys
import tempfile
import time
from html import escape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "terminal"))
from terminal import Screen, Terminal  # noqa: E402

COLUMNS, ROWS = 116, 30
CELL, LINE, EDGE = 7.8, 18, 14
WAIT_MAX, HOLD, STEP = 1.0, 6.0, 0.06  # seconds: of a wait, of the last screen, between two screens
COLORS = {"1": "bold", "31": "red", "32": "green", "33": "yellow", "36": "cyan", "2": "dim"}

SCRIPT = """function run(mini_batch)
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local sum = 0
    for line in io.lines(path) do sum = sum + tonumber(line) end
    rows[i] = path:match "[^/]+$" .. " " .. sum
  end
  return rows
end
"""
PIPELINE = """local tidemill = require "tidemill"
local sum = tidemill.ParallelRunStep {
  name = "sum",
  parallel_run_config = tidemill.ParallelRunConfig {
    entry_script = "sum.lua", mini_batch_size = 1, error_threshold = 0,
  },
  inputs = tidemill.Dataset.File.from_files "part-*",
}
return tidemill.Pipeline { name = "sums", steps = { sum } }
"""
SESSION = [
    "cat sum.lua",
    "tidemill run pipeline.lua",
    "tidemill replay latest --mini-batch 18",
    "sed -i /ten/d part-as",
    "tidemill resume latest --accept-changes",
    "sort .tidemill/jobs/*/sum/output/*.txt | head -n 3",
]


class Colored(Screen):
    """A screen of pairs: a character and its look."""

    def __init__(self, columns):
        super().__init__(columns)
        self.look = ""

    def text(self):
        return "\n".join("".join(c[0] for c in line).rstrip() for line in self.lines)

    def _put(self, char):
        for one in " " * (8 - self.column % 8) if char == "\t" else char:
            super()._put([(one, self.look)])

    def _control(self, numbers, final):
        if final == "m":
            looks = [COLORS[n] for n in numbers.split(";") if n in COLORS]
            self.look = " ".join(looks)
        else:
            super()._control(numbers, final)

    def rows(self):
        """The last rows as tuples of (text, look)."""
        rows = []
        for line in self.lines[-ROWS:]:
            runs = []
            for char in line:
                char, look = char if isinstance(char, tuple) else (char, "")
                if runs and runs[-1][1] == look:
                    runs[-1][0] += char
                else:
                    runs.append([char, look])
            rows.append(tuple((text, look) for text, look in runs))
        return rows


class Recording(Terminal):
    def __init__(self, argv, cwd, env):
        super().__init__(argv, cwd, env, columns=COLUMNS)
        self.screen, self.frames, self.began = Colored(COLUMNS), [], time.monotonic()

    def _read(self, limit):
        is_open = super()._read(limit)
        rows, now = self.screen.rows(), time.monotonic() - self.began
        if not self.frames or self.frames[-1][1] != rows:
            if self.frames and now - self.frames[-1][0] < STEP:
                self.frames[-1] = (self.frames[-1][0], rows)
            else:
                self.frames.append((now, rows))
        return is_open

    def type(self, words, pause):
        """Types a line, and waits for each character on the screen; `pause`: seconds between two."""
        for i, char in enumerate(words):
            self.send(char)
            self.expect(r"^\$ " + re.escape(words[:i + 1].rstrip()) + r"\Z")
            if pause:
                time.sleep(pause)


def record(program, folder, pause):
    env = {"PS1": "$ ", "PATH": os.path.dirname(program) + ":" + os.environ["PATH"]}
    with Recording(["/bin/bash", "--norc", "--noprofile", "--noediting"], folder, env) as terminal:
        terminal.expect(r"^\$ \Z|^\$\Z")
        for command in SESSION:
            terminal.type(command, pause)
            before = len(terminal.screen.lines)
            terminal.send("\n")
            terminal.expect(r"(.*\n){%d}(.*\n)*\$ ?\Z" % before)
        text = terminal.screen.text()
        terminal.send("exit\n")
        frames = terminal.frames
    return frames, text


def shorten(frames):
    """The frames with times from 0, and with waits of at most WAIT_MAX."""
    out, at, last = [], 0.0, frames[0][0]
    for now, rows in frames:
        at += min(now - last, WAIT_MAX)
        last = now
        out.append((at, rows))
    return out, at + HOLD


def intervals(frames, end):
    """(row, runs) -> the intervals in which that row shows them."""
    shown, open_rows = {}, {}
    for at, rows in frames + [(end, [])]:
        for row in set(open_rows) | set(range(len(rows))):
            runs = rows[row] if row < len(rows) else None
            began = open_rows.get(row)
            if began and began[1] != runs:
                shown.setdefault((row, began[1]), []).append((began[0], at))
                del open_rows[row]
            if runs and row not in open_rows:
                open_rows[row] = (at, runs)
    return shown


def animation(times, end):
    keys, values = [0.0], ["hidden"]
    for began, ended in times:
        for at, value in ((began / end, "visible"), (ended / end, "hidden")):
            if at <= keys[-1]:
                values[-1] = value
            elif at < 1:
                keys.append(at)
                values.append(value)
    return ('<animate attributeName="visibility" dur="%.2fs" repeatCount="indefinite" calcMode="discrete" keyTimes="%s" '
            'values="%s"/>' % (end, ";".join("%.4f" % k for k in keys), ";".join(values)))


def draw(frames):
    frames, end = shorten(frames)
    width, height = COLUMNS * CELL + 2 * EDGE, ROWS * LINE + 2 * EDGE
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="ui-monospace, Menlo, Consolas, '
           "'DejaVu Sans Mono', monospace\" font-size=\"13\" fill=\"#d8dee9\">" % (width, height),
           "<title>a session with tidemill: run, an error, replay, resume</title>",
           "<style>.bold{font-weight:bold}.red{fill:#ef767a}.green{fill:#8fce9b}.yellow{fill:#e5c07b}.cyan{fill:#7fc8d8}"
           ".dim{fill:#8892a0}</style>",
           '<rect width="100%" height="100%" rx="8" fill="#1d2430"/>']
    for (row, runs), times in sorted(intervals(frames, end).items(), key=lambda i: (i[0][0], i[1])):
        is_last = times[-1][1] >= end
        out.append('<g visibility="%s">%s' % ("visible" if is_last else "hidden", animation(times, end)))
        column = 0
        for text, look in runs:
            if text.strip():
                out.append('<text xml:space="preserve" x="%.1f" y="%d" textLength="%.1f"%s>%s</text>' % (
                    EDGE + column * CELL, EDGE + row * LINE + 13, len(text) * CELL, ' class="%s"' % look if look else "",
                    escape(text)))
            column += len(text)
        out.append("</g>")
    return "\n".join(out + ["</svg>\n"])


def main():
    program, target = os.path.abspath(sys.argv[1]), sys.argv[2]
    lines = int(sys.argv[3]) if len(sys.argv) > 3 else 5000000
    with tempfile.TemporaryDirectory(prefix="sums-") as place:
        open(place + "/sum.lua", "w").write(SCRIPT)
        open(place + "/pipeline.lua", "w").write(PIPELINE)
        for i in range(20):
            with open("%s/part-a%c" % (place, ord("a") + i), "w") as part:
                part.writelines("%d\n" % n for n in range(i * lines // 20 + 1, (i + 1) * lines // 20 + 1))
                part.write("ten\n" if i == 18 else "")
        frames, text = record(program, place, 0.02 if lines >= 100000 else 0)
    for words in ("Failed: sums", "attempt to perform arithmetic on a nil value", "Completed: sums", "part-aa "):
        if words not in text.replace("\n", ""):
            sys.exit("not on the terminal: %s\n%s" % (words, text))
    open(target, "w").write(draw(frames))


main()
