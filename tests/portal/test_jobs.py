"""The portal beside real jobs, and beside other users: test_jobs.py TIDEMILL [CLASS.TEST]

Jobs are watched while they run, are killed, resumed and removed.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

from client import Portal, next_event, wait_until

sys.argv.insert(1, sys.argv[1])  # test_portal takes one away, too
import test_portal  # noqa: E402

TIDEMILL = os.path.abspath(sys.argv.pop(1))

setUpModule, tearDownModule = test_portal.setUpModule, test_portal.tearDownModule


class Jobs(test_portal.Case):
    def tidemill(self, *arguments):
        return subprocess.Popen([TIDEMILL, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=dict(os.environ, TIDEMILL_WORKSPACE=self.workspace))

    def result(self, key):
        """What the page of the job says now, without its markup."""
        a = self.portal.get(f"jobs/{key}/job/?section=result")
        self.assertEqual(a.status, 200)
        return re.sub(r"<[^>]*>", " ", a.text())


def wait_for(stream, key, **wanted):
    """Reads the stream until the state of the job has these values."""
    while True:
        news = next_event(stream)[1].get(key, {})
        if all(news.get(name) == value for name, value in wanted.items()):
            return news


class Watched(Jobs):
    def watch(self, key):
        stream = self.portal.stream(f"{key},jobs")
        self.addCleanup(stream.close)
        return stream

    def timeline(self, key):
        return self.portal.get(f"jobs/{key}/job/?section=timeline").text()

    def begin_and_kill(self, name):
        """A job that is watched from its begin until its supervisor was killed, when two of three mini-batches are done."""
        job, key, go = test_portal.begin(self, name, "--mini-batch-size", "1", item="two")
        stream = self.watch(key)
        wait_for(stream, key, state="Running", done=2)
        self.assertIn("Running", self.result(key))
        wait_until(lambda: "did over time: 2 tries, 0 failed" in self.timeline(key), "its tries")
        job.kill()
        job.wait()
        self.assertEqual(wait_for(stream, key, state="Interrupted")["done"], 2)
        self.assertIn("Interrupted", self.result(key))
        return key, go, stream

    def test_a_job_is_killed_resumed_and_removed(self):
        self.portal.get("")
        before = self.portal.descriptors()
        key, go, stream = self.begin_and_kill("watched")
        job = self.tidemill("resume", key)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        wait_for(stream, key, state="Running")
        self.assertIn("Running", self.result(key))
        self.write(os.path.join(go, "go"), "")
        news = wait_for(stream, key, state="Completed")
        self.assertEqual((news["title"], news["done"], news["failed"]), ("✓ watched", 3, 0))
        self.assertEqual(job.wait(), 0)
        timeline = self.timeline(key)  # of all sessions
        self.assertEqual(re.findall(r"<title>session (\d), from [^<]*: ([^<]*)</title>", timeline),
                         [("1", "2 mini-batches"), ("2", "1 mini-batch")])
        self.assertIn("did over time: 3 tries, 0 failed", timeline)
        self.assertEqual(self.tidemill("clean", key, "--yes").wait(), 0)
        self.expect_removed(key, stream)
        self.assertIn("Completed", self.result(key))
        stream.close()
        wait_until(lambda: self.portal.descriptors() <= before, "its descriptors are closed")

    def test_a_folder_is_removed_by_hand(self):
        key, _, stream = self.begin_and_kill("folder")
        shutil.rmtree(os.path.join(self.workspace, "jobs", key))
        self.expect_removed(key, stream)
        stream.close()
        self.portal.stop()
        Watched.portal = Portal(TIDEMILL, self.workspace)
        self.expect_pages_of_removed(key)  # another portal has never seen its files

    def expect_removed(self, key, stream):
        news = wait_for(stream, key, state="Removed")
        self.assertEqual(news["title"], f"– {key}")
        self.expect_pages_of_removed(key)
        wait_until(lambda: key not in self.portal.get("").text(), "the list without it")

    def expect_pages_of_removed(self, key):
        self.assertIn("The files of this job have been removed", self.result(key))
        page = self.portal.get(f"jobs/{key}/job/")
        self.assertEqual(page.status, 200)
        self.assertNotIn("Resume…", page.text())
        self.assertIn(f"<title>– {key}</title>", page.text())
        for path in ("steps/x", "mini-batches/x/0", "workers/x/process000", "nodes/0", "logs", "files/", "view/end/job.json"):
            self.assertEqual(self.portal.get(f"jobs/{key}/{path}").status, 404, path)


if __name__ == "__main__":
    unittest.main()
