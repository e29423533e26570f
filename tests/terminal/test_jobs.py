"""Jobs beside the prompt: test_jobs.py TIDEMILL"""
import os
import re
import signal
import time
import unittest

from place import Place
from terminal import LIMIT

PIPELINE = """
local t = require "tidemill"
return t.Pipeline { name = "beside", steps = { t.ParallelRunStep { name = "only-step",
  parallel_run_config = t.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 1, run_max_try = 1,
    process_count_per_node = 1 },
  inputs = { t.Dataset.File.from_files "in/*.txt" } } } }
"""

# A mini-batch waits until the file `go` exists.
SCRIPT = """
local ffi, fs = require "ffi", require "tidemill.fs" ffi.cdef "int poll(void *, unsigned long, int);"
function run(mini_batch)
  local rows = {} io.open("DIR/begun", "w"):close()
  for i, path in ipairs(mini_batch) do
    while not fs.exists "DIR/go" do ffi.C.poll(nil, 0, 5) end
    if path:match "[^/]+$":find "bad" then error("cannot take " .. path:match "[^/]+$") end
    rows[i] = path:match "[^/]+$"
  end
  return rows
end
"""


class Jobs(Place):
    def setUp(self):
        super().setUp()
        for i in range(3):
            self.put("in/%d.txt" % i, "x")
        self.put("score.lua", SCRIPT.replace("DIR", self.dir))
        self.put("pipeline.lua", PIPELINE)

    def begin(self, t, options=""):
        t.ask("p = dofile 'pipeline.lua'")
        t.ask("job = p:submit { job_dir = 'job' %s }" % options)
        t.expect(r"^beside: (.*\n)+>")

    def go(self):
        self.put("go", "")

    def test_a_job_goes_on_beside_the_prompt(self):
        with self.terminal() as t:
            self.begin(t)
            self.assertIn("Running", t.ask("job:status()"))
            t.send("'typed while it ru")  # and stays, whatever is printed above
            t.expect(r"typed while it ru\Z")
            self.go()
            t.expect(r"^beside: Completed, 3 mini-batches, 3 items, 0 failed\n> 'typed while it ru\Z")
            t.send("ns'\n")
            t.expect(r"^\"typed while it runs\"$")
            self.assertIn('"Completed"', t.ask("job:status()"))
            self.assertIn("0.txt", t.ask("io.open(job:output()):read '*a'"))
            self.assertIn("logs", t.ask("job:logs()"))
            self.assertIn("succeeded = 3", t.ask("job:progress()"))
            self.assertIn("{}", t.ask("job:failures()"))
            self.assertNotIn("beside: 100%", t.screen.text().split("\n")[-2])
            t.send("\x04")
            self.assertEqual(t.end(), 0)

    def test_a_line_of_several_rows_stays_as_it_is(self):
        with self.terminal(columns=60) as t:
            self.begin(t)
            t.prompt()
            typed = "print('" + "abcdefghij" * 12
            t.send(typed)
            t.expect(r"bcdefghij\Z")
            self.go()
            t.expect(r"^beside: Completed, 3 mini-batches, 3 items, 0 failed\n> print(.*\n)+.*bcdefghij\Z")
            shown = t.screen.text().split("0 failed\n> ")[1]
            self.assertEqual(shown.replace("\n", ""), typed)
            t.send("')\n")
            t.expect(r"^abcdefghij(.*\n)*>")

    def wait_for(self, name):
        end = time.monotonic() + LIMIT
        while not os.path.exists(os.path.join(self.dir, name)):
            self.assertLess(time.monotonic(), end, name)
            time.sleep(0.01)

    def test_a_job_goes_on_while_lua_computes(self):
        with self.terminal() as t:
            self.begin(t)
            t.prompt()
            t.line("print 'begun' for i = 1, 1e15 do x = i end")
            t.expect("^begun")
            self.go()
            self.wait_for("job/job_result.json")
            self.assertNotIn("Completed", t.screen.text())  # printed once Lua is idle
            t.send("\x03")
            t.expect(r"prompt 3:1: interrupted\n(.*\n)*beside: Completed, 3 mini-batches, 3 items, 0 failed\n> ?\Z")

    def test_a_job_is_canceled_while_c_code_computes(self):
        with self.terminal() as t:
            self.begin(t)
            t.prompt()
            t.line("print 'begun' string.find(('a'):rep(200), ('a-'):rep(60) .. 'b')")
            t.expect("^begun")
            self.computes(t, 0.2)
            self.press_until(t, "jobs are canceled: running mini-batches may end")
            self.go()
            self.wait_for("job/job_result.json")
            self.assertIn('"Canceled"', self.get("job/job_result.json"))
            self.press_until(t, "ended in a C function")
            self.assertEqual(t.end(), -signal.SIGINT)

    def test_waiting_is_interrupted_and_a_second_ctrl_c_cancels(self):
        with self.terminal() as t:
            self.begin(t)
            t.line("job:wait()")
            t.expect(r"job:wait\(\)\n.*beside:")
            t.send("\x03")
            t.expect(r"interrupted\n(.*\n)*1 job is running; Ctrl-C again cancels")
            t.expect(r"^> ?\Z")
            t.send("\x03")
            t.expect(r"canceling: running mini-batches may end")
            t.expect(r"^> ?\Z")
            self.go()
            t.expect(r"^beside: Canceled, ")
            self.assertIn('"Canceled"', t.ask("job:wait()"))

    def test_a_third_ctrl_c_kills(self):
        with self.terminal() as t:
            self.begin(t)
            self.wait_for("begun")  # or the second Ctrl-C already ends the job
            for words in ("1 job is running; Ctrl-C again cancels", "canceling: running mini-batches may end",
                          "canceling: what still runs is killed"):
                t.prompt()
                t.send("\x03")
                t.expect(re.escape(words))
            t.expect(r"^beside: Canceled, ")
            self.assertEqual(t.ask("1"), "1")

    def test_the_end_of_the_prompt_ends_its_jobs(self):
        with self.terminal() as t:
            self.begin(t)
            t.prompt()
            t.send("\x04")
            t.expect(r"1 job is running; job:wait\(\) waits. Ctrl-D again leaves, and stops the job")
            t.expect(r"^> ?\Z")
            t.send("\x04")
            self.assertEqual(t.end(), 0)
        self.go()
        with self.terminal() as t:
            t.ask("p = dofile 'pipeline.lua'")
            t.ask("job = p:submit { job_dir = 'job', resume = true }")
            t.line("job:wait()")
            t.expect(r'^"Completed"$')

    def test_a_failure_is_run_here(self):
        self.put("in/bad.txt", "x")
        self.go()
        with self.terminal(columns=150) as t:
            self.begin(t)
            t.expect(r"^beside: mini-batch \d failed: .*score.lua:7: cannot take bad.txt$")
            t.expect(r"^beside: Completed, 4 mini-batches, 4 items, 1 failed\n  job:failures\(\) lists what failed")
            t.prompt()
            self.assertIn("mini_batch = 3", t.ask("f = job:failures()[1]; return f"))
            answer = t.ask("f:rerun()")
            self.assertRegex(answer, r"prompt \d+:1: run\(\) failed at .*score.lua:7: cannot take bad.txt\nstack traceback:")
            self.put("in/bad.txt.other", "")
            t.ask("s, mini_batch = f:load()")
            self.assertIn("bad.txt", t.ask("mini_batch"))
            t.ask("debug.sethook(function(_, line) seen = line end, 'l')")
            t.ask("ok = pcall(s.run, s, mini_batch) debug.sethook()")
            self.assertEqual(t.ask("seen ~= nil, ok"), "true\nfalse")

    def test_two_jobs_at_once_and_a_listener(self):
        self.go()
        with self.terminal(columns=120) as t:
            t.ask("p = dofile 'pipeline.lua'")
            t.ask("kinds = {}")
            t.line("a, b = p:submit { job_dir = 'a', on_event = function(e) kinds[e.kind] = true end }, p:submit { job_dir = 'b' }")
            t.expect(r"(beside: Completed(.*\n)+){2}")
            self.assertEqual(t.ask("a:status(), b:status(), kinds.state"), '"Completed"\n"Completed"\ntrue')

    def test_a_listener_that_fails_is_said(self):
        self.go()
        with self.terminal(columns=120) as t:
            t.ask("p = dofile 'pipeline.lua'")
            t.line("job = p:submit { job_dir = 'a', on_event = function(e) if e.kind == 'state' then error 'heard' end end }")
            t.expect(r"^beside: on_event failed: prompt 2:1: heard$")
            t.expect(r"^beside: Completed")

    def test_what_is_wrong_is_said_at_once(self):
        with self.terminal(columns=150) as t:
            t.ask("p = dofile 'pipeline.lua'")
            self.assertIn("unknown key 'job_dri'; did you mean 'job_dir'?", t.ask("p:submit { job_dri = 'x' }"))
            self.assertIn("'on_event' is a number", t.ask("p:submit { on_event = 5 }"))
            self.assertIn("is not empty", t.ask("p:submit { job_dir = 'in' }"))

    def test_a_listener_hears_everything_however_late(self):
        self.put("list", "".join("/no/%d\n" % i for i in range(60000)))
        self.put("score.lua", "function run(mini_batch) return mini_batch end")
        self.put("pipeline.lua", PIPELINE.replace('from_files "in/*.txt"', 'from_manifest "list"'))
        done = self.pipe("""p = dofile 'pipeline.lua'
            done, last = 0, 0
            job = p:submit { job_dir = 'job', on_event = function(e) if e.kind == 'mini_batch' then done = done + 1 end end }
            repeat for i = 1, 1e7 do x = i end until job:progress().succeeded > 20000
            done
            job:wait(), done
            """, "repl")
        self.assertRegex(done.stdout.decode(), r'^\d+\n"Completed"\n60000\n$')
        self.assertEqual(done.returncode, 0)

    def test_a_job_that_was_closed_is_none_that_runs(self):
        done = self.pipe("""p = dofile 'pipeline.lua'
            closed, other = p:submit { job_dir = 'a' }, p:submit { job_dir = 'b' }
            closed:close()
            closed
            jobs = require 'tidemill.repl.jobs'
            #jobs.running
            other:cancel(true)
            other:wait()
            #jobs.running
            """, "repl")
        self.assertRegex(done.stdout, b"^job '[a-z]+': closed \\(.*/a\\)\n1\n\"Canceled\"\n0\n$")
        self.assertEqual(done.returncode, 0)

    def test_a_closed_job_is_not_asked_about_at_the_end(self):
        with self.terminal() as t:
            self.begin(t)
            t.ask("job:close()")
            t.send("\x04")
            self.assertEqual(t.end(), 0)

    def test_jobs_that_are_over_are_collected(self):
        self.go()
        done = self.pipe("""p = dofile 'pipeline.lua'
            known = setmetatable({}, { __mode = 'k' })
            do local job = p:submit { job_dir = 'a' } known[job] = true job:wait() end
            do local job = p:submit { job_dir = 'b' } known[job] = true job:close() end
            collectgarbage() collectgarbage()
            next(known)
            """, "repl")
        self.assertEqual(done.stdout, b'nil\n')

    def test_a_listener_closes_its_job_and_nobody_holds_it(self):
        self.go()
        done = self.pipe("""p = dofile 'pipeline.lua'
            function heard() job:close() job = nil collectgarbage() collectgarbage() error 'closed it' end
            job = p:submit { job_dir = 'a', on_event = heard }
            repeat until job == nil or job:wait()
            """, "repl")
        self.assertIn(b"beside: on_event failed: stdin:2: closed it", done.stderr)

    def test_a_listener_that_goes_on_for_ever_is_interrupted(self):
        self.go()
        with self.terminal(columns=120) as t:
            t.ask("p = dofile 'pipeline.lua'")
            t.line("job = p:submit { job_dir = 'a', on_event = function(e) if not heard then heard = true while true do end end end }")
            self.computes(t, 0.2)
            self.press_until(t, "prompt 2:1: on_event was interrupted")
            t.expect(r"^beside: Completed(.*\n)*> ?\Z")
            t.line("job:wait()")  # not ask(): a last Ctrl-C may have given a prompt more
            t.expect("on_event failed: interrupted")

    def test_from_a_pipe_a_job_is_waited_for(self):
        self.go()
        done = self.pipe("job = dofile('pipeline.lua'):submit { job_dir = 'job' }\njob:wait()\n", "repl")
        self.assertEqual(done.stdout, b'"Completed"\n')
        self.assertIn(b"tidemill: beside: Completed, 3 mini-batches", done.stderr)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)

    def test_a_name_of_a_job_does_not_command_the_terminal(self):
        self.go()
        self.pipe("dofile('pipeline.lua'):submit { job_dir = 'job' }:wait()\n", "repl")
        place = os.path.join(self.dir, "workspace/jobs", "x\x1b[31my\x07")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.rename(os.path.join(self.dir, "job"), place)
        for words in ["jobs"], ["status", place], ["verify", place]:
            with self.terminal(*words, columns=200) as t:
                self.assertEqual(t.end(), 0)
                self.assertNotIn(b"\x1b", t.raw)
                if words[0] != "verify":
                    self.assertIn(rb"x\x1B[31my\x07", t.raw)

    def test_a_page_of_the_manual_has_bold_headings(self):
        with self.terminal("help", "tables") as t:
            self.assertEqual(t.end(), 0)
            self.assertIn(b"\x1b[1mTables", t.raw)

    def test_nothing_is_left_when_the_prompt_is_killed(self):
        with self.terminal() as t:
            self.begin(t)
            t.ask("print(io.open('/proc/self/stat'):read '*a')")
            os.kill(t.pid, signal.SIGKILL)
            self.assertEqual(t.end(), -signal.SIGKILL)
        begin = time.monotonic()
        while self.processes_here():
            self.assertLess(time.monotonic() - begin, 60)
            time.sleep(0.01)

    def processes_here(self):
        """The processes that this test started, which have its environment variables."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/environ" % name, "rb") as file:
                    if self.dir.encode() in file.read():
                        found.append(name)
            except OSError:
                pass
        return found


if __name__ == "__main__":
    unittest.main(verbosity=1)
