"""Reports in Chromium, headless: one browser for all checks.

    python3 browser.py MAKE_PAGES

MAKE_PAGES writes the pages. TM_KEEP_PICTURES=FOLDER keeps a picture of each page to look at.
"""
import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import look_checks
import script_checks

try:
    from selenium import webdriver
except ImportError:
    sys.exit("python3-selenium is missing; tests/support/packages.txt lists what is needed")

PAGES = ["small", "failed", "running", "hostile", "short"]
SIZES = [(1280, 900), (800, 900), (360, 780)]
THEMES = ["light", "dark"]
A4 = (595, 842)  # points

faults = []


def fault(page, words):
    faults.append("%s: %s" % (page, words))


def start(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--hide-scrollbars", "--lang=en",
                     "--user-data-dir=" + os.path.join(folder, "profile")):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(service=service, options=options)


class Page:
    """A page that is open in the browser."""

    def __init__(self, browser, path):
        self.browser, self.path, self.name = browser, path, os.path.basename(path)

    def cdp(self, command, **arguments):
        return self.browser.execute_cdp_cmd(command, arguments)

    def open(self, size=SIZES[0], theme="light", scripts=True, features=()):
        self.cdp("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                 deviceScaleFactor=1, mobile=False)
        self.cdp("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": theme}] + list(features))
        self.cdp("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.logs()
        self.browser.get("file://" + self.path)
        return self

    def logs(self):
        return self.browser.get_log("browser"), self.browser.get_log("performance")

    def ask(self, expression):
        """The value of an expression, also if the page runs no script of its own."""
        answer = self.cdp("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def open_all(self):
        self.ask("for (const d of document.querySelectorAll('details')) d.open = true")

    def fault(self, words):
        fault(self.name, words)


# Layout.

OVERFLOWS = """(() => {
  const wide = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > wide) found.push('the page: ' +
    document.documentElement.scrollWidth);
  for (const e of document.querySelectorAll('main *')) {
    if (e.closest('.scroll') && !e.matches('.scroll')) continue;
    const r = e.getBoundingClientRect();
    if (r.right > wide + 1 && r.width > 0 && !e.closest('.top') && !e.closest('svg'))
      found.push(e.localName + '.' + e.className + ' to ' + Math.round(r.right));
  }
  return found.slice(0, 3);
})()"""

OVERLAPS = """(() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg[role=img]')) {
    const at = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()])
      .filter(t => t[1].width > 0);
    for (let i = 0; i < at.length; i++) for (let k = 0; k < i; k++) {
      const a = at[i][1], b = at[k][1];
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
        found.push(at[i][0] + ' / ' + at[k][0]);
    }
  }
  return found.slice(0, 3);
})()"""

# Text whose contrast with what is behind it is below 4.5, or 3 if it is large.
CONTRASTS = """(() => {
  const found = [], canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = colour => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= .04045 ? v / 12.92 :
    ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
  const seen = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t; (t = texts.nextNode());) {
    const e = t.parentElement, style = getComputedStyle(e);
    if (!t.data.trim() || e.closest('script, style, svg') || style.visibility === 'hidden' ||
        e.getClientRects().length === 0) continue;
    let back = e;
    while (back && rgba(getComputedStyle(back).backgroundColor)[3] < 255) back = back.parentElement;
    const under = back ? getComputedStyle(back).backgroundColor : 'white';
    const key = style.color + under + style.fontSize + style.fontWeight;
    if (seen.has(key)) continue;
    seen.add(key);
    const a = light(rgba(style.color)), b = light(rgba(under)), size = parseFloat(style.fontSize);
    const is = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (is < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5))
      found.push(`${is.toFixed(2)} of "${t.data.trim().slice(0, 30)}"`);
  }
  return found.slice(0, 3);
})()"""


def check_layout(page):
    """Both themes, three widths: nothing too wide, no line in the console, no request."""
    for theme in THEMES:
        for size in SIZES:
            page.open(size, theme)
            page.open_all()
            for what in page.ask(OVERFLOWS):
                page.fault("%d px, %s: too wide: %s" % (size[0], theme, what))
            for what in page.ask(OVERLAPS):
                page.fault("%d px, %s: labels overlap: %s" % (size[0], theme, what))
            if size == SIZES[0]:
                for what in page.ask(CONTRASTS):
                    page.fault("%s: contrast %s" % (theme, what))
            keep_picture(page, "%s-%d-%s" % (page.name[:-5], size[0], theme))
            check_logs(page)


def check_logs(page):
    console, traffic = page.logs()
    for line in console:
        page.fault("in the console: %s" % line["message"])
    asked = re.findall(r'"requestWillBeSent".*?"url":"(.*?)"', " ".join(
        line["message"].replace("Network.", "") for line in traffic))
    if not asked:
        page.fault("the log of requests is empty: it should have the page itself")
    for url in asked:
        if url.split("#")[0] != "file://" + page.path:
            page.fault("asked for %s" % url)


def keep_picture(page, name):
    folder = os.environ.get("TM_KEEP_PICTURES")
    if not folder:
        return
    os.makedirs(folder, exist_ok=True)
    size = page.cdp("Page.getLayoutMetrics")["cssContentSize"]
    shot = page.cdp("Page.captureScreenshot", captureBeyondViewport=True, clip={
        "x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1})
    with open(os.path.join(folder, name + ".png"), "wb") as f:
        f.write(base64.b64decode(shot["data"]))


# Text.

def figures(page):
    """The numbers that a reader sees, those in pictures included."""
    page.open_all()
    text = page.ask("document.querySelector('main').innerText")
    text += " ".join(page.ask("[...document.querySelectorAll('svg text')].map(t => t.textContent)"))
    return set(re.findall(r"\d[\d,.]*", text))


def check_text_alone(page):
    """Without scripts, and without scripts and styles, no figure is missing."""
    with_all = figures(page.open())
    for figure in sorted(with_all - figures(page.open(scripts=False))):
        page.fault("without scripts, %s is missing" % figure)
    plain = page.path[:-5] + "-plain.html"
    with open(page.path, encoding="utf-8") as f:
        html = f.read()
    policy = re.search(r'content="default-src &#39;none&#39;.*?"', html).group(0)
    with open(plain, "w", encoding="utf-8") as f:
        f.write(html.replace(policy, 'content="default-src \'none\'"', 1))
    blocked = Page(page.browser, plain).open()
    if blocked.ask("getComputedStyle(document.querySelector('.figures')).display") == "grid":
        blocked.fault("the styles are not blocked")
    for figure in sorted(with_all - figures(blocked)):
        blocked.fault("without scripts and styles, %s is missing" % figure)
    keep_picture(blocked, page.name[:-5] + "-plain")
    blocked.logs()


# Keyboard and accessibility.

CONTROLS = """[...document.querySelectorAll('a[href], button, summary, [tabindex="0"], input')]
  .filter(e => e.checkVisibility({ contentVisibilityAuto: true }))"""
FOCUSED = """(() => { const e = document.activeElement, s = getComputedStyle(e);
  return [%s.indexOf(e), s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; })()"""


def check_keyboard(page):
    """The Tab key reaches each control, and its focus is visible."""
    page.open()
    total, reached = page.ask(CONTROLS + ".length"), set()
    for _ in range(total + 2):
        page.cdp("Input.dispatchKeyEvent", type="rawKeyDown", key="Tab", code="Tab",
                 windowsVirtualKeyCode=9)
        at, is_visible = page.ask(FOCUSED % CONTROLS)
        if at in reached:
            break
        if at >= 0:
            reached.add(at)
        if at >= 0 and not is_visible:
            page.fault("control %d has focus, and does not show it" % at)
    for at in sorted(set(range(total)) - reached)[:3]:
        page.fault("Tab does not reach %s" % page.ask(CONTROLS + "[%d].outerHTML.slice(0, 80)" % at))


NAMED_ROLES = {"button", "link", "image", "img", "table", "region", "navigation", "group",
               "DisclosureTriangle", "heading", "graphics-document"}


def check_accessibility(page):
    """Each control, picture, table and landmark has a name; there is one h1, and one main."""
    page.open()
    page.open_all()
    nodes = page.cdp("Accessibility.getFullAXTree")["nodes"]
    roles = [n.get("role", {}).get("value") for n in nodes if not n.get("ignored")]
    for node in nodes:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in NAMED_ROLES - {"group"} and \
                not node.get("name", {}).get("value", "").strip():
            page.fault("a %s has no name" % role)
    for role in ("main", "navigation", "banner", "contentinfo"):
        if roles.count(role) != 1:
            page.fault("%d landmarks of the kind %s" % (roles.count(role), role))
    if page.ask("document.querySelectorAll('h1').length") != 1:
        page.fault("not one h1")
    if page.ask("document.documentElement.lang") != "en" or not page.ask("document.title"):
        page.fault("no language, or no title")


def check_forced_colours(page):
    page.open(SIZES[2], features=[{"name": "forced-colors", "value": "active"}])
    for what in page.ask(OVERFLOWS):
        page.fault("forced colours: too wide: %s" % what)
    state = page.ask("getComputedStyle(document.querySelector('.state')).borderTopStyle")
    if state != "solid":
        page.fault("forced colours: the state has no border")


# Print, links, hostile text.

def check_print(page):
    """A4, and what is closed on the screen is printed: the pages become more."""
    page.open()
    pdf = base64.b64decode(page.cdp("Page.printToPDF", preferCSSPageSize=True)["data"])
    boxes = set(re.findall(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+)", pdf))
    if {tuple(round(float(n)) for n in box) for box in boxes} != {A4}:
        page.fault("printed on %s" % boxes)
    pages = len(re.findall(rb"/Type ?/Page\b", pdf))
    page.open_all()
    opened = base64.b64decode(page.cdp("Page.printToPDF", preferCSSPageSize=True)["data"])
    if pages != len(re.findall(rb"/Type ?/Page\b", opened)) or pages < 1:
        page.fault("%d pages printed, but %d if everything is open" % (
            pages, len(re.findall(rb"/Type ?/Page\b", opened))))


def check_memory(page):
    """A page of a few hundred kB does not take hundreds of MB: objects and elements are limited."""
    page.cdp("Performance.enable")
    page.open().open_all()
    page.cdp("HeapProfiler.collectGarbage")  # of pages that were open before
    found = {m["name"]: m["value"] for m in page.cdp("Performance.getMetrics")["metrics"]}
    page.cdp("Performance.disable")
    if found["JSHeapTotalSize"] > 50 << 20 or found["Nodes"] > 100000:
        page.fault("%d MB of objects, %d nodes" % (found["JSHeapTotalSize"] >> 20, found["Nodes"]))


def check_deep_link(page):
    page.open()
    page.ask("location.hash = '#mini-batch-430'")
    for _ in range(50):
        if page.ask("document.getElementById('mini-batch-430').closest('details').open"):
            return
        time.sleep(0.02)
    page.fault("a link to a mini-batch does not open its table")


def check_theme_switch(page):
    page.open(theme="light")
    before = page.ask("getComputedStyle(document.body).backgroundColor")
    page.ask("document.querySelector('.theme').click()")
    if page.ask("getComputedStyle(document.body).backgroundColor") == before:
        page.fault("the theme does not change")


def check_hostile_text(page):
    page.open()
    page.open_all()
    if page.ask("String(window.canary)") != "undefined":
        page.fault("a text ran")
    if page.ask("document.images.length") != 0:
        page.fault("a text became an element")
    text = page.ask("document.body.innerText")
    if text.count("<script>window.canary=1</script>") < 40:
        page.fault("the text is not visible")
    if "[U+202E]" not in text or "\u202e" in text or "\u0001" in text:
        page.fault("a control character is not visible")
    hrefs = page.ask("[...document.links].map(a => a.protocol)")
    if set(hrefs) - {"file:"}:
        page.fault("links with other schemes: %s" % sorted(set(hrefs)))
    if page.ask("document.querySelectorAll('script').length") != page.ask(
            "document.querySelectorAll('script[nonce], script[type=\"application/json\"]').length"):
        page.fault("a script that is not ours")


def main(make_pages):
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            sys.exit("%s is missing; tests/support/packages.txt lists what is needed" % program)
    folder = tempfile.mkdtemp(prefix="tidemill-browser-")
    browser = None
    try:
        subprocess.run([make_pages, folder], check=True)
        browser = start(folder)
        pages = {name: Page(browser, os.path.join(folder, name + ".html")) for name in PAGES}
        is_long = bool(os.environ.get("TM_LONG"))
        for name in PAGES if is_long else ["small", "failed", "hostile"]:
            check_layout(pages[name])
        for name in PAGES if is_long else ["failed"]:
            check_keyboard(pages[name])
            check_accessibility(pages[name])
            check_forced_colours(pages[name])
        for name in PAGES[:3] if is_long else ["failed"]:
            check_text_alone(pages[name])
            check_print(pages[name])
            check_memory(pages[name])
        check_theme_switch(pages["small"])
        check_deep_link(pages["failed"])
        check_hostile_text(pages["hostile"])
        look_checks.check_sight(pages["failed"])
        look_checks.check_zoom(pages["failed"], OVERFLOWS, OVERLAPS)
        script_checks.check_script(pages)
    finally:
        if browser:
            browser.quit()
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(faults) if faults else "no faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
