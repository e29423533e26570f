"""What a reader sees who enlarges the page, or does not see all colours: checks for browser.py."""

SIGHTS = ["none", "protanopia", "deuteranopia", "tritanopia"]
LEAST = 60  # of the distance between two colours, from 0 to 441

# The place of the timeline's key on the page, and its marks: words, place in the key, size.
KEY = """(() => { const row = document.querySelector('#timeline .key-row');
  row.scrollIntoView({ block: 'center', behavior: 'instant' });
  const r = row.getBoundingClientRect();
  return [[r.left + scrollX, r.top + scrollY, r.width, r.height], [...row.querySelectorAll('li')].map(li => {
    const k = li.querySelector('rect').getBoundingClientRect();
    return [li.textContent.trim(), k.left - r.left, k.top - r.top, k.width, k.height]; })]; })()"""

# The mean colour of each place in a picture.
MEANS = """(async (png, places) => {
  const bytes = Uint8Array.from(atob(png), c => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
  canvas.drawImage(image, 0, 0);
  return places.map(place => {
    const data = canvas.getImageData(...place).data, sums = [0, 0, 0];
    for (let i = 0; i < data.length; i++) if (i %% 4 < 3) sums[i %% 4] += data[i];
    return sums.map(n => Math.round(4 * n / data.length)); });
})('%s', %s)"""


def mean_colours(page):
    """Of the marks in the key of the timeline: their words, and the colour that is seen."""
    (x, y, width, height), marks = page.ask(KEY)
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    shot = page.cdp("Page.captureScreenshot", clip=clip)["data"]
    places = [[int(left) + 1, int(top) + 1, max(1, int(w) - 2), max(1, int(h) - 2)] for _, left, top, w, h in marks]
    answer = page.cdp("Runtime.evaluate", expression=MEANS % (shot, places), awaitPromise=True, returnByValue=True)
    return dict(zip([mark[0] for mark in marks], answer["result"]["value"]))


def check_sight(page):
    """Done and failed differ for everybody: the colours, seen as others see them."""
    for theme in ("light", "dark"):
        page.open(theme=theme)
        seen = {}
        for sight in SIGHTS:
            page.cdp("Emulation.setEmulatedVisionDeficiency", type=sight)
            seen[sight] = mean_colours(page)
            done, failed = seen[sight]["run()"], seen[sight]["a try that failed"]
            apart = sum((a - b) ** 2 for a, b in zip(done, failed)) ** 0.5
            if apart < LEAST:
                page.fault("%s, %s: done %s and failed %s are only %d apart" % (theme, sight, done, failed, apart))
            if sight != "none" and seen[sight] == seen["none"]:
                page.fault("%s was not emulated" % sight)
        page.cdp("Emulation.setEmulatedVisionDeficiency", type="none")


def check_zoom(page, overflows, overlaps):
    """At 200 %, a window of 1280 × 900 has half as many px."""
    page.open((640, 450))
    page.open_all()
    for what in page.ask(overflows) + page.ask(overlaps):
        page.fault("at 200 %%: %s" % what)
