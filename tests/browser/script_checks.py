"""What report.js adds to a page: checks for browser.py, which opens the pages."""
import re
import time

ROWS = "[...document.querySelectorAll('#timeline .row-head output')].map(o => o.textContent)"
VIEW = "document.querySelector('#timeline svg.view').getAttribute('viewBox').split(' ').map(Number)"
SPAN = "new URLSearchParams(location.hash.split('?')[1]).get('%s')"
WORKERS = "[...document.querySelectorAll('#workers table.data')].pop()"

# How many pixels of the lanes have a colour of the theme.
PIXELS = """(() => {
  const canvas = document.querySelector('#timeline canvas'), probe = document.createElement('i');
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  probe.style.color = 'var(--%s)';
  document.body.append(probe);
  const colour = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
  probe.remove();
  let n = 0;
  for (let i = 0; i < pixels.length; i += 4)
    if (colour.every((c, k) => Math.abs(pixels[i + k] - c) < 8) && pixels[i + 3] === 255) n++;
  return n;
})()"""
FAILED_PIXELS = PIXELS % "failed"

KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "+": 187, "-": 189, "0": 48, "Enter": 13}


def press(page, key, modifiers=0):
    text = {"text": key} if len(key) == 1 else {}
    for kind in ("keyDown", "keyUp"):
        page.cdp("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS[key],
                 modifiers=modifiers, **(text if kind == "keyDown" else {}))


def mouse(page, kind, x, y):
    page.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1,
             buttons=0 if kind == "mouseReleased" else 1)


def comes(page, expression):
    """Waits for a true value, with a limit."""
    for _ in range(150):
        if page.ask(expression):
            return True
        time.sleep(0.02)
    return False


def check_pointer(page):
    """Values under the pointer; a drag enlarges, and the address keeps the span through a reload."""
    page.open()
    page.ask("document.querySelector('.timeline').scrollIntoView({ behavior: 'instant' })")
    left, top, width, height = page.ask(
        "(r => [r.left, r.top, r.width, r.height])"
        "(document.querySelector('#timeline canvas').getBoundingClientRect())")
    y = top + height / 2
    mouse(page, "mouseMoved", left + width * 0.4, y)
    if not comes(page, ROWS + ".every(t => t !== '')"):
        page.fault("no values under the pointer: %s" % page.ask(ROWS))
    if page.ask("document.querySelector('.lane-output').textContent") == "":
        page.fault("no words for the lane under the pointer")
    mouse(page, "mousePressed", left + width * 0.25, y)
    mouse(page, "mouseMoved", left + width * 0.5, y)
    mouse(page, "mouseReleased", left + width * 0.5, y)
    if not comes(page, SPAN % "from"):
        page.fault("a drag does not enlarge")
    before = page.ask(VIEW)
    if not 240 < before[0] < 260 or not 240 < before[2] < 260:
        page.fault("a drag over a quarter shows %s" % before)
    page.ask("document.querySelector('.theme').click()")
    page.browser.refresh()
    after = page.ask(VIEW)
    if abs(after[0] - before[0]) > 0.1 or abs(after[2] - before[2]) > 0.1:
        page.fault("after a reload the view is %s, not %s" % (after, before))
    page.ask("document.querySelector('.theme').click()")


def check_timeline_keys(page):
    page.open()
    page.ask("document.querySelector('.timeline').focus()")
    press(page, "+")
    half = page.ask(VIEW)
    if abs(half[2] - 500) > 1:
        page.fault("+ shows %s of 1000" % half[2])
    press(page, "ArrowRight")
    if page.ask(VIEW)[0] <= half[0]:
        page.fault("the right arrow does not move the view")
    press(page, "ArrowRight", modifiers=8)
    if not comes(page, ROWS + ".every(t => t !== '')"):
        page.fault("Shift and the right arrow do not read values")
    if page.ask("document.querySelector('p[role=status]').textContent") == "":
        page.fault("the values are not said")
    press(page, "0")
    if page.ask(VIEW)[2] != 1000 or page.ask("location.hash.includes('?')"):
        page.fault("0 does not show all")


def check_moments(page):
    """The reading line of a short job says ms, as the axis below it does. Times have the reader's
    local time, too, if it is another one."""
    page.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    page.open()
    local = page.ask("[...document.querySelectorAll('time + .local')].map(e => e.textContent)")
    if not local or not all(re.match(r" \(.*:.*:.* here\)$", text) for text in local):
        page.fault("local times of the reader: %s" % local)
    page.cdp("Emulation.setTimezoneOverride", timezoneId="")
    page.ask("document.querySelector('.timeline').focus()")
    press(page, "ArrowRight", modifiers=8)
    label = "document.querySelector('.cross span').textContent"
    if not comes(page, label) or not page.ask(label).endswith(" ms"):
        page.fault("the reading line is at %s" % page.ask(label))
    if page.ask("document.querySelector('.time-axis').textContent").count("ms since the start") != 1:
        page.fault("the axis does not count ms")


def check_lanes(page, has_failures):
    page.open()
    if has_failures:
        comes(page, FAILED_PIXELS + " > 0")
    n = page.ask(FAILED_PIXELS)
    if has_failures != (n > 0):
        page.fault("%d pixels of the lanes show failures" % n)


def check_tables(page):
    page.open()
    names = "[...%s.tBodies[0].rows].map(r => r.cells[0].textContent)" % WORKERS
    unusual_first = page.ask(names)
    page.ask("%s.tHead.querySelector('button').click()" % WORKERS)
    if page.ask(names) != sorted(unusual_first) or unusual_first == sorted(unusual_first):
        page.fault("a click does not sort by name: %s" % page.ask(names))
    page.ask("""(i => { i.value = '418'; i.dispatchEvent(new Event('input')); })
      (document.querySelector('#failures input[type=search]'))""")
    shown = page.ask("[...document.querySelectorAll('#failed-items tbody tr')]"
                     ".filter(r => !r.hidden).map(r => r.cells[1].textContent)")
    if not shown or set(shown) != {"418"}:
        page.fault("the filter shows %s" % shown)


def check_places(page):
    """Links into the page open what is closed, and put the focus there."""
    for place in ("error-2", "worker-process003", "mini-batch-430"):
        page.browser.get("about:blank")
        page.browser.get("file://%s#%s?from=600&to=1200" % (page.path, place))
        where = "document.getElementById('%s')" % place
        if not comes(page, "%s.contains(document.activeElement)" % where):
            page.fault("#%s has no focus" % place)
        top = page.ask("%s.getBoundingClientRect().top" % where)
        if not 0 <= top < 900:
            page.fault("#%s is at %d px" % (place, top))
        if page.ask("location.hash") != "#%s?from=600&to=1200" % place:
            page.fault("the address became %s" % page.ask("location.hash"))
        if page.ask(VIEW)[2] > 100:
            page.fault("#%s forgets the span" % place)


def check_mini_batch_of_a_box(page):
    """A link to a mini-batch that no table names goes to its box in the lanes, which gets an edge."""
    page.open()
    if page.ask(PIXELS % "ink") > 0:
        page.fault("a box has an edge, and no link names it")
    page.browser.get("about:blank")
    page.browser.get("file://%s#mini-batch-30" % page.path)
    if not comes(page, PIXELS % "ink" + " > 40") or page.ask(VIEW)[2] > 500:
        page.fault("#mini-batch-30 marks no box")


def check_hatch(page):
    """What is enlarged is stretched in one direction only: its hatch is not."""
    page.browser.get("about:blank")
    page.browser.get("file://%s#timeline?from=600&to=1200" % page.path)
    stretch = """(() => {
      const view = document.querySelector('#timeline svg.view .failed').closest('svg.view');
      const hatch = document.querySelector('#hatch-timeline').patternTransform.baseVal.getItem(0);
      const width = document.querySelector('#timeline canvas').getBoundingClientRect().width;
      return hatch.matrix.a * width / view.viewBox.baseVal.width;
    })()"""
    if not comes(page, "document.querySelector('#hatch-timeline') !== null"):
        return page.fault("the timeline has no hatch of its own")
    if abs(page.ask(stretch) - 1) > 0.02:
        page.fault("the hatch is stretched by %s" % page.ask(stretch))
    fill = page.ask("getComputedStyle(document.querySelector('#timeline svg.view .failed')).fill")
    if "hatch-timeline" not in fill:
        page.fault("failures are filled with %s" % fill)


def check_trusted_types(page):
    """No text becomes markup: the browser would refuse it, and say so in the console."""
    path = page.path[:-5] + "-trusted.html"
    with open(page.path, encoding="utf-8") as f:
        html = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(html.replace("content=\"default-src &#39;none&#39;;",
                             "content=\"require-trusted-types-for 'script'; default-src 'none';", 1))
    other = type(page)(page.browser, path).open()
    if "require-trusted-types-for" not in other.ask("document.head.innerHTML"):
        other.fault("the policy is missing")
    other.open_all()
    other.ask("[...document.querySelectorAll('th button, .tools button')].forEach(b => b.click())")
    for line in other.logs()[0]:
        other.fault("in the console: %s" % line["message"])


def check_script(pages):
    check_pointer(pages["failed"])
    check_timeline_keys(pages["failed"])
    check_moments(pages["short"])
    check_lanes(pages["failed"], True)
    check_lanes(pages["small"], False)
    check_tables(pages["failed"])
    check_places(pages["failed"])
    check_mini_batch_of_a_box(pages["small"])
    check_hatch(pages["failed"])
    check_trusted_types(pages["failed"])
    check_trusted_types(pages["hostile"])
