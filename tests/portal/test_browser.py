"""The portal in Chromium: test_browser.py TIDEMILL [CLASS.TEST]

A job is watched while it runs, by several tabs; the portal goes and comes back. Each page is looked at, some in both themes and two
widths: nothing is wider than the page, the console has no line, and no text of a job becomes markup.
"""
import os
import re
import shutil
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from client import Portal, Tunnel, wait_until

sys.argv.insert(1, sys.argv[1])  # test_portal takes one away, too
import test_portal  # noqa: E402

TIDEMILL = os.path.abspath(sys.argv.pop(1))
PAGES = ["", "jobs/{key}/job/", "jobs/{key}/steps/score", "jobs/{key}/mini-batches/score/0",
         "jobs/{key}/workers/score/process000", "jobs/{key}/files/score/logs/", "jobs/{key}/view/0/score/logs/readme.txt",
         "jobs/{key}/logs", "datasets"]


def setUpModule():
    test_portal.setUpModule()
    Browser.profile = tempfile.mkdtemp(prefix="tidemill-browser-")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en",
                     "--user-data-dir=" + Browser.profile):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    Browser.browser = webdriver.Chrome(service=webdriver.chrome.service.Service(shutil.which("chromedriver")),
                                       options=options)


def tearDownModule():
    Browser.browser.quit()
    shutil.rmtree(Browser.profile, ignore_errors=True)
    test_portal.tearDownModule()


class Browser(test_portal.Case):
    @classmethod
    def setUpClass(cls):
        cls.portal = Portal(TIDEMILL, cls.workspace, "--allow-control")

    def setUp(self):
        self.browser.get(self.portal.url)
        self.base = self.browser.current_url
        self.console()  # what was before does not count

    def console(self):
        return [line["message"] for line in self.browser.get_log("browser")]

    def live(self):
        return self.browser.find_element("id", "live").text

    def is_live(self):
        return re.fullmatch(r"live, updated \d+\.\d s ago", self.live())

    def test_pages_fit_and_run_nothing_of_a_job(self):
        self.assertNotIn("token", self.base)
        for width, theme, pages in ((1280, "light", PAGES[:2]), (360, "light", PAGES), (360, "dark", PAGES[:2])):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "features": [{"name": "prefers-color-scheme", "value": theme}]})
            for page in pages:
                page = page.format(key=self.key)
                self.browser.get(self.base + page)
                wide = self.browser.execute_script("return document.documentElement.scrollWidth")
                self.assertLessEqual(wide, width, page)
                found = self.browser.execute_script(
                    "return [document.querySelectorAll('main u, main img, main script:not([type])').length,"
                    " typeof canary, document.querySelectorAll('h1').length, document.querySelectorAll('main').length]")
                self.assertEqual(found, [0, "undefined", 1, 1], page)
        self.assertEqual(self.console(), [])
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def keys(self, *keys):
        self.browser.switch_to.active_element.send_keys(*keys)

    def press(self, words):
        """Waits for the button. What has the focus is not replaced by news."""
        focus = ("const b = document.querySelector('[data-dialog]');"
                 "if (b?.textContent !== arguments[0]) return false; b.focus(); return true;")
        wait_until(lambda: self.browser.execute_script(focus, words), words)
        self.keys(Keys.ENTER)

    def test_a_job_is_canceled_by_keyboard_after_a_dialog(self):
        job, key, _ = test_portal.begin(self, "keyboard")
        self.browser.get(f"{self.base}jobs/{key}/job/")
        self.press("Cancel…")
        dialog = self.browser.find_element("id", "control-cancel")
        self.assertEqual(dialog.aria_role, "dialog")
        self.assertEqual(dialog.accessible_name, "Cancel the job?")
        self.assertIsNone(job.poll())
        self.keys(Keys.ENTER)  # the first button has the focus
        said = lambda: self.browser.find_element("css selector", ".said").text
        wait_until(lambda: said() == "The job is asked to end. Running mini-batches may end first.", "the answer")
        self.keys(Keys.ESCAPE)
        self.press("Cancel now…")
        self.keys(Keys.ENTER)
        self.assertEqual(job.wait(60), 130)
        self.keys(Keys.ESCAPE)
        self.press("Resume…")
        self.assertEqual(self.console(), [])

    def test_failed_items_run_again_after_a_dialog(self):
        jobs = os.path.join(self.workspace, "jobs")
        before = set(os.listdir(jobs))
        self.browser.get(f"{self.base}jobs/{self.key}/job/")
        self.press("Run failed items again…")
        dialog = self.browser.find_element("css selector", "dialog[open]")
        self.assertEqual(dialog.accessible_name, "Run the failed items again?")
        self.keys(Keys.ENTER)
        said = lambda: dialog.find_element("class name", "said").text
        wait_until(lambda: said().startswith("A new job is started"), "the answer")
        ended = lambda: [name for name in set(os.listdir(jobs)) - before
                         if os.path.exists(os.path.join(jobs, name, "job_result.json"))]
        wait_until(ended, "the end of the new job")
        self.assertEqual(self.console(), [])

    def test_the_output_of_a_replay_is_text(self):
        self.browser.get(f"{self.base}jobs/{self.key}/mini-batches/score/0")
        self.press("Replay…")
        self.keys(Keys.ENTER)
        state = lambda: self.browser.find_element("id", "replay-state").text
        wait_until(lambda: state() == "The replay has ended; the last line says how.", "the end")
        output = self.browser.find_element("id", "replay-output")
        for words in ("<script>canary()</script>\n", "<img src=x onerror=canary()>", "bad <u>[U+202E].txt", "exit status 1: "):
            self.assertIn(words, output.text)
        self.assertEqual(self.browser.execute_script("return [arguments[0].children.length, typeof canary]", output),
                         [0, "undefined"])
        self.assertEqual(self.console(), [])

    def test_a_replay_ends_by_its_button_and_with_its_page(self):
        key = test_portal.make_replayed(self)
        part = lambda name: self.browser.find_element("id", f"replay-{name}").text
        self.browser.get(f"{self.base}jobs/{key}/mini-batches/replayed/0")
        self.press("Replay…")
        self.keys(Keys.ENTER)
        wait_until(lambda: "begun" in part("output"), "what it prints while it runs")
        self.assertEqual(part("state"), "The replay runs.")
        self.keys(Keys.ENTER)  # Stop has the focus
        wait_until(lambda: part("state") == "The replay is stopped.", "its end")
        self.assert_gone(2)
        self.press("Replay…")
        self.keys(Keys.ENTER)
        wait_until(lambda: "begun" in part("output"), "the next one")
        self.browser.get(self.base)
        self.assert_gone(2)
        self.assertEqual(self.console(), [])

    def test_a_job_is_watched_until_its_end_and_the_portal_comes_back(self):
        self.write("wait.lua", test_portal.WAITING.replace("FOLDER", self.folder))
        job = test_portal.run_job("wait.lua", self.folder, self.workspace)
        self.addCleanup(job.kill)
        jobs = os.path.join(self.workspace, "jobs")
        started = lambda: [name for name in os.listdir(jobs) if name.startswith("wait-") and
                           os.path.exists(os.path.join(jobs, name, "job.json"))]
        wait_until(started, "the job")
        self.browser.get(f"{self.base}jobs/{started()[0]}/job/")
        first = self.browser.current_window_handle
        wait_until(self.is_live, "the stream")
        wait_until(lambda: "Running" in self.browser.find_element("id", "main").text, "the state")
        others = []
        for _ in range(7):  # more than a browser has connections
            self.browser.switch_to.new_window("tab")
            self.browser.get(self.base)
            others.append(self.browser.current_window_handle)
            wait_until(self.is_live, "the stream in another tab")
        for other in others:
            self.browser.switch_to.window(other)
            self.browser.close()
        self.browser.switch_to.window(first)
        self.write("go", "")
        wait_until(lambda: self.browser.title == "✓ wait", "the title")
        wait_until(lambda: "Completed" in self.browser.find_element("id", "main").text, "the state")
        self.assertEqual(self.console(), [])
        self.portal.stop()
        wait_until(lambda: self.live().startswith("not live, last updated"), "the loss")
        Browser.portal = Portal(TIDEMILL, self.workspace, "--allow-control")
        self.browser.get(self.portal.url)
        wait_until(self.is_live, "the stream of the next portal")

    def test_a_tunnel_that_goes_silent_is_noticed_and_left(self):
        tunnel = Tunnel(self.portal.port)
        self.addCleanup(tunnel.close)
        announced = lambda: self.browser.find_element("id", "announced").get_property("textContent")
        self.browser.get(self.portal.url.replace(f":{self.portal.port}/", f":{tunnel.port}/"))
        wait_until(self.is_live, "the stream through the tunnel")
        self.assertEqual(announced(), "The page is live")
        self.browser.execute_script(
            "window.lost = null; new MutationObserver(() => { lost ??= /^not live/.test(live.textContent)"
            " ? [live.textContent, announced.textContent] : null; }).observe(live, { childList: true });")
        tunnel.go_silent()
        lost = wait_until(lambda: self.browser.execute_script("return lost"), "the loss")
        self.assertLess(int(re.fullmatch(r"not live, last updated (\d+) s ago", lost[0])[1]), 10)
        wait_until(self.is_live, "another stream through the tunnel")
        self.assertEqual(announced(), "The page is live")

    def test_earlier_lines_of_the_merged_view_come_as_the_reader_scrolls(self):
        self.log_numbers()
        self.browser.get(f"{self.base}jobs/{self.key}/logs")
        state = lambda: self.browser.execute_script(
            "const log = document.querySelector('.log'); return [+log.dataset.from, +log.dataset.to, log.children.length,"
            " [...log.textContent.matchAll(/number (\\d+);/g)].map(m => +m[1]), log.dataset.more]")

        def end_with(number):
            is_there = lambda: (s := state())[4] is None and number in s[3] and s
            begin, end, count, numbers, _ = wait_until(is_there, f"line {number}")
            self.assertEqual(end - begin, count)
            self.assertEqual(numbers, list(range(numbers[0], number + 1)))
            return begin

        end_with(8999)
        with open(self.numbers, "a") as f:
            f.write("".join(f"number {i};\n" for i in range(9000, 15000)))
        first = end_with(14999)
        for before in (first, first - 2000):  # the page keeps 4,000 lines
            self.browser.execute_script("document.querySelector('.log').scrollTop = 0")
            wait_until(lambda: state()[0] == before - 2000, "earlier lines")
        begin, end, count, numbers, _ = state()
        self.assertEqual((end - begin, count), (4000, 4000))
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 4000)))
        self.browser.execute_script("document.querySelector('.log').scrollTop = 1e9")
        wait_until(lambda: state()[1] == end + 2000, "later lines")
        self.assertEqual(state()[:3], [begin + 2000, end + 2000, 4000])
        self.assertEqual(self.console(), [])

    def test_a_file_that_is_followed_may_grow_shrink_and_disappear(self):
        name = os.path.join(self.job, "score", "logs", "followed.txt")
        self.addCleanup(lambda: os.path.exists(name) and os.unlink(name))

        def expect(text, mode, lines):
            if text is not None:
                with open(name, mode) as f:
                    f.write(text)
            self.browser.find_element("css selector", ".log").send_keys(Keys.END)  # looks now
            wait_until(lambda: self.browser.execute_script(
                "return [...document.querySelectorAll('.log > div')].map(line => line.textContent)") == lines, lines)

        self.write(name, "first\n")
        self.browser.get(f"{self.base}jobs/{self.key}/view/end/score/logs/followed.txt")
        expect("second\n", "a", ["first", "second"])
        expect("3\n", "w", ["3"])
        expect("4\n", "a", ["3", "4"])
        os.unlink(name)
        expect(None, "", ["3", "4"])
        expect("5\n", "w", ["5"])
        self.assertEqual([line for line in self.console() if "404" not in line], [])


if __name__ == "__main__":
    unittest.main()
