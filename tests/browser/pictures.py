"""Makes the pictures of README, report.png and portal.png: examples/troubled, while it runs in the portal, and its
report afterwards.

    /usr/bin/python3 tests/browser/pictures.py build/tidemill

takes a minute. Nothing compares the pictures.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = (1200, 1000)
# In one go: the page replaces its rows.
FIND_JOB = "return [...document.querySelectorAll('table a')].map(a => a.href).find(h => h.includes('/troubled-'))"


def browser():
    options = Options()
    for word in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=%d,%d" % SIZE):
        options.add_argument(word)
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def portal_of(program, folder):
    portal = subprocess.Popen([program, "portal"], cwd=folder, stdout=subprocess.PIPE, text=True)
    for line in portal.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            return portal, found.group()
    sys.exit("pictures.py: the portal did not print its URL")


def picture_portal(driver, program, folder):
    """The job in dark colours, once one of its workers has been busy for a while."""
    subprocess.run([program, "map", "scripts/count.lua", "words.txt", "--limit", "1"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    portal, url = portal_of(program, folder)
    try:
        picture_job(driver, program, folder, url)
    finally:
        portal.terminate()
        portal.wait()


def picture_job(driver, program, folder, url):
    job = subprocess.Popen([program, "run", "pipeline.lua", "--max-workers", "12", "--param", "pace=2"], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    driver.get(url)
    driver.get(WebDriverWait(driver, 20).until(lambda d: d.execute_script(FIND_JOB)))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    time.sleep(25)  # what stands out needs some tries
    driver.save_screenshot(os.path.join(HERE, "portal.png"))
    job.wait()


def picture_report(driver, program, folder):
    subprocess.run([program, "report", "latest", "-o", "report.html"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
    driver.get("file://" + os.path.join(folder, "report.html"))
    driver.execute_script("document.getElementById('timeline').scrollIntoView()")
    time.sleep(1)
    driver.save_screenshot(os.path.join(HERE, "report.png"))


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as temp:
        folder = os.path.join(temp, "troubled")
        shutil.copytree(os.path.join(HERE, "../../examples/troubled"), folder)
        os.environ["TIDEMILL_WORKSPACE"] = os.path.join(folder, ".tidemill")
        subprocess.run([program, "lua", "make_lists.lua", "."], cwd=folder, check=True)
        driver = browser()
        try:
            picture_portal(driver, program, folder)
            picture_report(driver, program, folder)
        finally:
            driver.quit()


main()
