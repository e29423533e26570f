"""Ctrl-C while C code runs, and text that is typed ahead: test_interrupt.py TIDEMILL"""
import os
import signal
import unittest

from place import Place

INTERRUPTED = r"interrupted(.*\n)*^> ?\Z"


class Interrupt(Place):
    def interrupted(self, line, sign="^begun"):
        """The line writes "begun", and Ctrl-C brings the prompt back."""
        with self.terminal() as t:
            t.prompt()
            t.line(line)
            t.expect(sign)
            t.send("\x03")
            t.expect(INTERRUPTED)
            self.assertEqual(t.ask("6 * 7"), "42")
            t.send("\x04")
            self.assertEqual(t.end(), 0)
            return t.screen.text()

    def test_a_read_ends(self):
        self.assertIn("prompt 1:1: interrupted", self.interrupted("print 'begun' io.read()"))
        self.interrupted("print 'begun' for line in io.lines() do print(line) end")
        self.interrupted("print 'begun' while true do pcall(io.read, '*a') end")

    def test_reads_of_what_was_started_end(self):
        self.interrupted("f = io.popen 'echo; exec sleep 600' f:read() print 'begun' return f:read '*a'")
        self.interrupted("print 'begun' return require 'tidemill.process'.run { 'sleep', '600' }")

    def test_a_module_that_was_being_loaded_can_be_loaded_again(self):
        self.put("slow.lua", "if not os.remove 'second' then print 'begun' while true do end end return { answer = 42 }")
        with self.terminal() as t:
            t.prompt()
            t.line("package.path = './?.lua;' .. package.path return require 'slow'")
            t.expect("^begun")
            t.send("\x03")
            t.expect(INTERRUPTED)
            self.put("second", "")
            self.assertEqual(t.ask("require 'slow'.answer"), "42")

    def test_calls_by_ffi_that_wait_end(self):
        self.interrupted("ffi = require 'ffi' ffi.cdef 'int pause(void); int poll(void *, long, int);' print 'begun' ffi.C.pause()")

    def test_a_program_ends_and_lua_goes_on(self):
        with self.terminal() as t:
            t.prompt()
            t.line("print 'begun' os.execute 'sleep 600' print 'went on'")
            t.expect("^begun")
            # Before the program runs, Ctrl-C interrupts Lua, or nothing: a shell that waits for a
            # program ignores it.
            self.press_until(t, r"^(\^C)*went on|interrupted")
            t.prompt()

    def test_reading_goes_on_afterwards(self):
        with self.terminal() as t:
            t.prompt()
            t.line("print 'begun' io.read()")
            t.expect("^begun")
            t.send("\x03")
            t.expect(INTERRUPTED)
            t.line("x = io.read()")
            t.expect(r"x = io.read\(\)\n\Z")
            t.send("some words\r")
            t.expect(r"^> ?\Z")
            self.assertEqual(t.ask("x"), '"some words"')

    def test_the_end_of_what_is_read_is_not_the_end_of_the_prompt(self):
        with self.terminal() as t:
            t.prompt()
            t.line("print 'begun' x = io.read('*a')")
            t.expect("^begun")
            t.send("one\rtwo\r\x04")
            t.expect(r"^> ?\Z")
            self.assertEqual(t.ask("x"), '"one\\ntwo\\n"')

    def test_what_computes_in_c_is_ended_by_the_third(self):
        with self.terminal() as t:
            t.prompt()
            t.line("print 'begun' string.find(('a'):rep(200), ('a-'):rep(60) .. 'b')")
            t.expect("^begun")
            self.computes(t, 0.2)
            for words in ("Lua is in a C function", "ended in a C function"):
                self.press_until(t, words)
            self.assertEqual(t.end(), -signal.SIGINT)

    def test_what_is_typed_ahead_is_read_by_who_reads_next(self):
        with self.terminal() as t:
            t.prompt()
            t.send("x = io.read()\rfor the code\rx\r'for the prompt'\r")
            t.expect(r'^"for the code"\n(.*\n)*^"for the prompt"\n> ?\Z')

    def test_what_is_pasted_ahead_with_line_feeds_too(self):
        with self.terminal() as t:
            t.prompt()
            t.send("x, y = io.read(), io.read(4)\nfor the code\nhalfprint(y)\nx\n")
            t.expect(r'^half\n(.*\n)*^"for the code"\n> ?\Z')

    def test_what_is_typed_while_lua_computes_is_for_the_next_line(self):
        self.put("go", "")
        with self.terminal() as t:
            t.prompt()
            t.line("fs = require 'tidemill.fs' print 'begun' while fs.exists 'go' do fs.list '.' end")
            t.expect("^begun")
            t.send("11 * 11\r")
            t.expect(r"^11 \* 11")
            os.remove(os.path.join(self.dir, "go"))
            t.expect(r"^121\n> ?\Z")

    def test_completion_calls_nothing_although_strings_answer_otherwise(self):
        with self.terminal() as t:
            t.ask("calls = 0 getmetatable('').__index = function(s, key) calls = calls + 1 return string[key] end")
            t.ask("before = calls")
            t.prompt()
            t.send("found = string.forma\t")
            t.expect(r"^> found = string\.format\Z")
            t.send("\r")
            self.assertEqual(t.ask("calls - before, ('x'):rep(2)"), '0\n"xx"')


class OfAScript(Place):
    def interrupt(self, code, presses=1):
        """Runs the program, and presses Ctrl-C once it has printed "begun"; returns its status and output."""
        self.put("x.lua", code)
        with self.terminal("x.lua") as t:
            for i in range(presses):
                t.expect("^begun %d" % (i + 1))
                self.computes(t, 0.05)
                t.send("\x03")
            return t.end(), t.screen.text()

    def test_the_first_is_an_error_with_its_stack(self):
        status, text = self.interrupt("jit.off()\nlocal function spin() while true do end end\nprint 'begun 1'\nspin()\n")
        self.assertEqual(status, 1)
        self.assertRegex(text, r"(?m)^(\^C)?tidemill: x\.lua:2: interrupted!\nstack traceback:\n\s+x\.lua:2: in function 'spin'\n"
                               r"\s+x\.lua:4: in main code$")

    def test_the_second_ends_it(self):
        status, text = self.interrupt("jit.off()\nlocal function spin(i) print('begun ' .. i) while true do end end\n"
                                      "print(pcall(spin, 1))\nspin(2)\n", 2)
        self.assertEqual(status, -signal.SIGINT)
        self.assertRegex(text, r"false\s+x\.lua:2: interrupted!")

    def test_what_it_cannot_be_taken_out_of_is_ended(self):
        for code in "while true do end", "string.find(('a'):rep(200), ('a-'):rep(60) .. 'b')":
            status, _ = self.interrupt("print 'begun 1'\n" + code)
            self.assertEqual(status, -signal.SIGINT)


if __name__ == "__main__":
    unittest.main(verbosity=1)
