"""A program on its own terminal: types text, and reads the screen.

The screen understands the sequences that libedit and tidemill write; any other fails the test. Tests wait for text on the
screen, with a limit, and never for time to pass.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

LIMIT = float(os.environ.get("TM_LIMIT", 60))  # seconds: machines may be busy


class Screen:
    def __init__(self, columns):
        self.columns, self.lines, self.row, self.column = columns, [[]], 0, 0
        self.rest, self.inserts = b"", False

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines)

    def _line(self):
        while len(self.lines) <= self.row:
            self.lines.append([])
        return self.lines[self.row]

    def _put(self, char):
        if self.column == self.columns:
            self.row, self.column = self.row + 1, 0
        line = self._line()
        line.extend(" " * (self.column - len(line)))
        line[self.column:self.column + (0 if self.inserts else 1)] = char
        self.column += 1

    def _control(self, numbers, final):
        n = int(numbers.split(";")[0] or 0) if numbers[:1] != "?" else 0
        line = self._line()
        if final == "A":
            self.row = max(0, self.row - max(n, 1))
        elif final == "B":
            self.row += max(n, 1)
        elif final == "C":
            self.column = min(self.columns - 1, self.column + max(n, 1))
        elif final == "D":
            self.column = max(0, self.column - max(n, 1))
        elif final == "G":
            self.column = max(n, 1) - 1
        elif final == "K" and n == 0:
            del line[self.column:]
        elif final == "J" and n == 0:
            del line[self.column:]
            del self.lines[self.row + 1:]
        elif final == "P":
            del line[self.column:self.column + max(n, 1)]
        elif final == "@":
            line[self.column:self.column] = " " * max(n, 1)
        elif final in "hl":
            self.inserts = self.inserts if n != 4 else final == "h"
        elif final != "m":
            raise AssertionError("the terminal was sent CSI %s%s" % (numbers, final))

    def feed(self, data):
        data, self.rest = self.rest + data, b""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as e:
            text, self.rest = data[:e.start].decode("utf-8"), data[e.start:]
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\x1b":
                found = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z@])").match(text, at)
                if not found:
                    self.rest = text[at:].encode() + self.rest
                    return
                self._control(*found.groups())
                at = found.end()
                continue
            at += 1
            if char == "\n":
                self.row += 1
                self._line()
            elif char == "\r":
                self.column = 0
            elif char == "\b":
                self.column = max(0, self.column - 1)
            elif char != "\a":
                self._put(char)


class Terminal:
    """Runs argv in `cwd`, with `env` added to its environment; use it in a `with`."""

    def __init__(self, argv, cwd, env=None, columns=80):
        self.screen, self.raw, self.status = Screen(columns), b"", None
        whole = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8", "HOME": cwd}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                whole[name] = os.environ[name]
        whole.update(env or {})
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                    signal.signal(number, signal.SIG_DFL)  # which a shell ignores in the background
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
                os.chdir(cwd)
                os.execve(argv[0], argv, whole)
            finally:
                os._exit(127)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def _read(self, limit):
        ready, _, _ = select.select([self.fd], [], [], limit)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.raw += data
        self.screen.feed(data)
        return data != b""

    def send(self, text):
        os.write(self.fd, text.encode())

    def line(self, text):
        self.send(text + "\n")

    def resize(self, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.screen.columns = columns

    def expect(self, pattern, limit=LIMIT):
        """Waits until the screen matches; ^ and $ match at lines, and \\Z at its end."""
        end, is_open = time.monotonic() + limit, True
        while not re.search(pattern, self.screen.text(), re.M):
            left = end - time.monotonic()
            if left <= 0 or not is_open:
                raise AssertionError("not on the screen: %s\n--- the screen:\n%s\n---" % (pattern, self.screen.text()))
            is_open = self._read(min(left, 0.5))
        return self.screen.text()

    def prompt(self):
        """Waits for an empty prompt at the end of the screen."""
        return self.expect(r"^> ?\Z")

    def ask(self, text):
        """Types a line, and returns the answer."""
        before = len(self.prompt().rstrip("\n").split("\n"))
        self.line(text)
        end = time.monotonic() + LIMIT
        while True:
            after = self.screen.text().split("\n")
            if len(after) > before and re.match(r"^> ?$", after[-1]):
                return "\n".join(after[before:-1])
            if time.monotonic() > end or not self._read(0.5):
                raise AssertionError("no answer to %s\n--- the screen:\n%s\n---" % (text, self.screen.text()))

    def end(self):
        """Waits for the end of the program: its exit status, or minus the signal."""
        end = time.monotonic() + LIMIT
        while self._read(0.1):
            if time.monotonic() > end:
                raise AssertionError("it does not end\n--- the screen:\n%s\n---" % self.screen.text())
        _, status = os.waitpid(self.pid, 0)
        self.status = os.waitstatus_to_exitcode(status)
        return self.status
