/* test_svg.c - pictures are SVG with presentation attributes. */
#include "unit.h"

#include "base/mem.h"
#include "page/svg.h"

static struct tm_buf out;
static struct tm_html h;

static int start(void **state)
{
  tm_html_init(&h, &out);
  (void)state;
  return 0;
}
static int stop(void **state)
{
  tm_buf_release(&out);
  (void)state;
  return 0;
}

static void expect(const char *written)
{
  tm_html_finish(&h);
  assert_string_equal(tm_buf_str(&out), written);
}

#define ROOT "<svg role='img' font-family='system-ui, sans-serif'"

static void a_fixed_picture_scales(void **state)
{
  tm_svg_open(&h, &(struct tm_svg_picture) { "graph", "2 < 3", 860, 140 });
  tm_svg_rect(&h, TM_PAINT_DONE, 1, 2.5, 3, 4, NULL);
  tm_svg_close(&h);
  expect(ROOT " class=\"graph\" aria-label=\"2 &lt; 3\" viewBox=\"0 0 860 140\" width=\"860\""
              " height=\"140\"><rect class=\"done\" fill=\"#2a6f97\" x=\"1\" y=\"2.5\" width=\"3\""
              " height=\"4\"/></svg>");
  (void)state;
}

static void a_fluid_picture_stretches_its_inside_only(void **state)
{
  tm_svg_open(&h, &(struct tm_svg_picture) { "plot", "items", 0, 92 });
  tm_svg_label(&h, &(struct tm_svg_label) {
                       .percent = 12, .x = -6, .y = 20, .anchor = TM_SVG_END, .text = "<4>" });
  tm_svg_stretch_open(&h, &(struct tm_svg_stretch) { 12, 88, 0, 92, 1000, 92 });
  tm_svg_line_begin(&h, TM_PAINT_DONE, 1.5);
  tm_svg_move(&h, 0, 1);
  tm_svg_to(&h, 2, 3);
  tm_svg_across(&h, 4);
  tm_svg_down(&h, 5);
  tm_svg_path_end(&h, NULL);
  tm_svg_stretch_close(&h);
  tm_svg_close(&h);
  expect(ROOT
         " class=\"plot\" aria-label=\"items\" width=\"100%\" height=\"92\">"
         "<text class=\"ink\" fill=\"#22201c\" x=\"12%\" dx=\"-6\" y=\"20\" font-size=\"11\""
         " text-anchor=\"end\">&lt;4&gt;</text>"
         "<svg preserveAspectRatio='none' x=\"12%\" y=\"0\" width=\"88%\" height=\"92\""
         " viewBox=\"0 0 1000 92\"><path vector-effect='non-scaling-stroke' class=\"done-line\""
         " fill=\"none\" stroke=\"#2a6f97\" stroke-width=\"1.5\" d=\"M0 1L2 3H4V5\"></path>"
         "</svg></svg>");
  (void)state;
}

static void what_failed_is_hatched_and_says_so(void **state)
{
  tm_svg_rect(&h, TM_PAINT_FAILED, 0, 0, 1, 1, "mini-batch 3: </title>");
  expect("<rect class=\"failed\" fill=\"url(#hatch)\" x=\"0\" y=\"0\" width=\"1\" height=\"1\">"
         "<title>mini-batch 3: &lt;/title&gt;</title></rect>");
  tm_svg_defs(&h);
  assert_non_null(strstr(tm_buf_str(&out), "<pattern id='hatch'"));
  (void)state;
}

static void every_meaning_has_a_name_and_a_colour(void **state)
{
  for (int i = 0; i < TM_PAINTS; i++)
    for (int j = 0; j < i; j++) {
      assert_string_not_equal(tm_paint_name(i), tm_paint_name(j));
      assert_string_not_equal(tm_paint_colour(i), tm_paint_colour(j));
    }
  (void)state;
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(a_fixed_picture_scales, start, stop),
    cmocka_unit_test_setup_teardown(a_fluid_picture_stretches_its_inside_only, start, stop),
    cmocka_unit_test_setup_teardown(what_failed_is_hatched_and_says_so, start, stop),
    cmocka_unit_test_setup_teardown(every_meaning_has_a_name_and_a_colour, start, stop),
});
