"""`tidemill map` on a terminal, where rows and progress meet: test_map.py TIDEMILL"""
import os
import re
import unittest

from place import TIDEMILL, Place
from terminal import Terminal

# An item waits until the file with its number exists. It then takes long enough for its worker to
# send the earlier rows.
SCRIPT = """
local ffi, fs = require "ffi", require "tidemill.fs"
ffi.cdef "int poll(void *fds, unsigned long n, int ms);"
function run(mini_batch)
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local name = path:match "[^/]+$"
    while not fs.exists("DIR/go/" .. name) do ffi.C.poll(nil, 0, 5) end
    for _ = 1, 500 do fs.list "DIR/go" end
    rows[i] = ("row %s of %s"):format(name, ("x"):rep(LENGTH))
  end
  return rows
end
"""
ITEMS = 4
BAR = r"^waits \[.*\n?\Z"


class Map(Place):
    def setUp(self):
        super().setUp()
        for i in range(ITEMS):
            self.put("in/%d" % i, "x")
        os.mkdir(os.path.join(self.dir, "go"))
        self.script(8)

    def script(self, length):
        self.put("waits.lua", SCRIPT.replace("DIR", self.dir).replace("LENGTH", str(length)))

    def go(self, *items):
        for i in items:
            self.put("go/%d" % i, "")

    def row(self, i, length=8):
        return "row %d of %s" % (i, "x" * length)

    def map(self, *words):
        return self.terminal("map", "waits.lua", "in", "-N", "1", "-j", str(ITEMS), *words, columns=200)

    def shell(self, text):
        return Terminal(["/bin/bash", "-c", text, TIDEMILL, "map", "waits.lua", "in", "-N", "1", "-j", str(ITEMS)], self.dir,
                        {"NO_COLOR": "1", **self.variables()})

    def assert_rows_stand_alone(self, t, length=8):
        lines = t.screen.text().split("\n")
        for i in range(ITEMS):
            self.assertEqual(lines.count(self.row(i, length)), 1, t.screen.text()[-2000:])

    def test_no_bar_is_drawn_where_paths_are_typed(self):
        self.go(*range(ITEMS))
        with self.terminal("map", "waits.lua", "-", "-N", "1", "-j", "1") as t:
            t.expect("one a line; Ctrl-D ends them\njob: .*\n")
            for i in range(2):
                t.line("in/%d" % i)
                t.expect("^" + self.row(i) + "\n")
                self.assertNotIn(" failed", t.screen.text())
            t.send("\x04")
            self.assertEqual(t.end(), 0)

    def test_rows_are_shown_above_the_bar(self):
        for words in ((), ("--output", "-")):
            for name in os.listdir(os.path.join(self.dir, "go")):
                os.remove(os.path.join(self.dir, "go", name))
            with self.map(*words) as t:
                t.expect(r"\Ajob: .*\n" + BAR)
                for i in range(ITEMS - 1):
                    self.go(i)
                    t.expect("^" + self.row(i) + "\n" + BAR)
                self.go(ITEMS - 1)
                self.assertEqual(t.end(), 0)
                self.assert_rows_stand_alone(t)
                t.expect("^" + self.row(ITEMS - 1) + "\nCompleted: waits")
                self.assertNotRegex(t.screen.text(), r"waits \[")  # no bar is left

    def test_the_report_comes_behind_all_rows_also_where_these_are_long(self):
        self.script(60000)
        self.go(*range(ITEMS))
        with self.map() as t:
            t.screen.columns = 100000  # a row is one line
            self.assertEqual(t.end(), 0)
            self.assert_rows_stand_alone(t, 60000)
            self.assertIn("x\nCompleted: waits", t.screen.text()[-2000:])

    def test_rows_do_not_steer_the_terminal(self):
        self.go(*range(ITEMS))
        self.put("waits.lua", """
            function run(m)
              local rows = {}
              for i in ipairs(m) do rows[i] = "é\\27[31mred\\7\\tcell" .. ("é"):rep(50000) end
              return rows
            end""")
        with self.map() as t:
            t.screen.columns = 1000000
            self.assertEqual(t.end(), 0)
            lines = [line for line in t.screen.text().split("\n") if "red" in line]
            self.assertEqual(len(lines), ITEMS)
            for line in lines:
                self.assertRegex(line, r"^é\\x1B\[31mred\\x07\s+cellé{50000}$")
        with self.shell('"$0" "$@" | cat >out.txt') as t:
            self.assertEqual(t.end(), 0)
        self.assertIn("é\x1b[31mred\x07\tcellé", self.get("out.txt"))

    def test_output_to_a_file_shows_no_rows(self):
        self.go(*range(ITEMS))
        with self.map("--output", "out.txt") as t:
            self.assertEqual(t.end(), 0)
            self.assertNotIn("row 0", t.screen.text())
        self.assertEqual(sorted(self.get("out.txt").split("\n"))[1], self.row(0))

    def test_rows_that_another_program_shows_meet_no_bar(self):
        for text in ('"$0" "$@" | cat', '"$0" "$@" | grep row | cat'):
            for name in os.listdir(os.path.join(self.dir, "go")):
                os.remove(os.path.join(self.dir, "go", name))
            with self.shell(text) as t:
                t.expect(r"\Ajob: .*\n")
                for i in range(ITEMS):
                    self.go(i)
                    if "grep" not in text:  # which keeps its lines for later
                        t.expect("^" + self.row(i) + "$")
                self.assertEqual(t.end(), 0)
                self.assert_rows_stand_alone(t)
                t.expect("^Completed: waits")

    def test_rows_that_go_elsewhere_leave_the_bar(self):
        with self.shell('"$0" "$@" | cat >out.txt') as t:
            t.expect(BAR)
            self.go(0)
            t.expect(r"^waits \[.*1/4.*\Z")
            self.go(*range(ITEMS))
            self.assertEqual(t.end(), 0)
        self.assertEqual(len(re.findall("^row", self.get("out.txt"), re.M)), ITEMS)


if __name__ == "__main__":
    unittest.main()
