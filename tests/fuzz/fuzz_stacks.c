/* fuzz_stacks.c - files of collapsed stacks. Each frame has the samples of itself and of the frames
 * below it, and no stack is deeper than allowed. Whatever a file has becomes text in the page. */
#include "fuzz.h"

#include "page/page.h"
#include "page/stacks.h"

static void check_node(const struct tm_stacks *s, size_t i)
{
  const struct tm_stack_node *node = &s->nodes.at[i];
  int64_t sum = node->self, last = INT64_MAX;
  for (size_t c = node->child; c != 0; c = s->nodes.at[c].next) {
    fuzz_require(c > i && s->nodes.at[c].parent == i && s->nodes.at[c].depth == node->depth + 1);
    fuzz_require(s->nodes.at[c].samples <= last); /* most samples first */
    last = s->nodes.at[c].samples;
    sum = sum > INT64_MAX - last ? INT64_MAX : sum + last;
  }
  fuzz_require(node->samples == sum && node->depth <= TM_STACK_DEPTH);
  fuzz_require(i == 0 || node->samples > 0);
}

static void check_hot(const struct tm_stacks *s)
{
  size_t len = 0;
  struct tm_stack_line *hot = tm_stacks_hot(s, 5, &len);
  fuzz_require(len <= 5 && (len > 0) == (s->nodes.len > 1));
  for (size_t i = 0; i < len; i++)
    fuzz_require(hot[i].self >= 0 && (i == 0 || hot[i].self <= hot[i - 1].self));
  free(hot);
}

static void check_page(const char *text, size_t len)
{
  struct tm_fact_job job = { .name = "job" };
  struct tm_page_profile profile = { "profile", text, len };
  struct tm_job_page page = { .job = &job, .profiles = &profile, .profiles_len = 1 };
  struct tm_buf html = TM_BUF_NONE;
  fuzz_require(tm_page_add_section(&html, &page, "profile"));
  fuzz_require(!strstr(tm_buf_str(&html), "<script"));
  tm_buf_release(&html);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_stacks s;
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  tm_stacks_init(&s);
  tm_stacks_add(&s, text, size / 2); /* two files */
  tm_stacks_add(&s, text + size / 2, size - size / 2);
  tm_stacks_settle(&s);
  for (size_t i = 0; i < s.nodes.len; i++)
    check_node(&s, i);
  check_hot(&s);
  tm_stacks_release(&s);
  check_page(text, size);
  free(text);
  return 0;
}
