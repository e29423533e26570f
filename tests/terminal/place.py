"""A test's own folder, and the program running in it: on a terminal, or with pipes."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from terminal import LIMIT, Terminal

TIDEMILL = os.path.abspath(sys.argv.pop(1))


class Place(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        self.tmp = os.path.join(self.dir, ".tmp")
        os.mkdir(self.tmp)

    def put(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def get(self, name):
        with open(os.path.join(self.dir, name)) as file:
            return file.read()

    def variables(self):
        return {"HOME": self.dir, "TMPDIR": self.tmp, "TIDEMILL_WORKSPACE": os.path.join(self.dir, "workspace")}

    def terminal(self, *words, env=None, columns=80):
        return Terminal([TIDEMILL, *words], self.dir, {"NO_COLOR": "1", **self.variables(), **(env or {})}, columns)

    def computes(self, t, seconds):
        """Waits until the program has used this much more processor time."""
        def used():
            with open("/proc/%d/stat" % t.pid) as file:
                return int(file.read().rsplit(")", 1)[1].split()[11]) / os.sysconf("SC_CLK_TCK")

        begin, end = used(), time.monotonic() + LIMIT
        while used() < begin + seconds:
            self.assertLess(time.monotonic(), end)
            t._read(0.05)

    def press_until(self, t, pattern):
        """Presses Ctrl-C repeatedly until the screen matches, as in expect()."""
        end, pressed = time.monotonic() + LIMIT, 0
        while not re.search(pattern, t.screen.text(), re.M):
            self.assertLess(time.monotonic(), end)
            if time.monotonic() > pressed + 0.3:
                t.send("\x03")
                pressed = time.monotonic()
            t._read(0.1)

    def pipe(self, text, *words):
        return subprocess.run([TIDEMILL, *words], input=text.encode(), cwd=self.dir, capture_output=True, timeout=LIMIT,
                              env=dict(os.environ, **self.variables()))
