"""A folder of a test's own, with the program in it: on a terminal, and over pipes."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from terminal import LIMIT, Terminal

TIDEMILL = os.path.abspath(sys.argv.pop(1))


class Place(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

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
        return {"HOME": self.dir, "TIDEMILL_WORKSPACE": os.path.join(self.dir, "workspace")}

    def terminal(self, *words, env=None, columns=80):
        return Terminal([TIDEMILL, *words], self.dir, {"NO_COLOR": "1", **self.variables(), **(env or {})}, columns)

    def pipe(self, text, *words):
        return subprocess.run([TIDEMILL, *words], input=text.encode(), cwd=self.dir, capture_output=True, timeout=LIMIT,
                              env=dict(os.environ, **self.variables()))
