/* metric_families.c - see metric_families.h. */
#include "portal/metric_families.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct tm_metric_family *family_of(struct tm_families *m, const char *name, size_t n)
{
  for (size_t i = 0; i < m->families.len; i++)
    if (strncmp(m->families.at[i].name, name, n) == 0 && m->families.at[i].name[n] == '\0')
      return &m->families.at[i];
  struct tm_metric_family *f = TM_ARRAY_ADD(&m->families);
  *f = (struct tm_metric_family) { .name = tm_xstrndup(name, n) };
  return f;
}

/* "# TYPE name ...", "# HELP name ..." or "# UNIT name ..."; NULL: another line. */
static const char *name_in(const char *line, size_t *n)
{
  static const char *const marks[] = { "# TYPE ", "# HELP ", "# UNIT " };
  for (size_t i = 0; i < TM_COUNT_OF(marks); i++)
    if (strncmp(line, marks[i], strlen(marks[i])) == 0) {
      *n = strcspn(line + strlen(marks[i]), " \n");
      return line + strlen(marks[i]);
    }
  return NULL;
}

/* A family's samples follow its head. Of a family that another text has brought, only the samples
 * are new. */
void tm_families_add(struct tm_families *m, const char *text)
{
  struct tm_metric_family *family = NULL;
  bool has_head = false;
  for (const char *line = text; *line;) {
    size_t len = strcspn(line, "\n"), n = 0;
    const char *name = name_in(line, &n), *next = line + len + (line[len] == '\n');
    if (name && (!family || strncmp(family->name, name, n) != 0 || family->name[n] != '\0')) {
      family = family_of(m, name, n);
      has_head = family->head.len > 0;
    }
    if (name && !has_head)
      tm_buf_add(&family->head, line, (size_t)(next - line));
    if (family && line[0] != '#' && len > 0)
      tm_buf_add(&family->samples, line, (size_t)(next - line));
    line = next;
  }
}

void tm_families_take(struct tm_families *m, struct tm_buf *out)
{
  for (size_t i = 0; i < m->families.len; i++) {
    struct tm_metric_family *f = &m->families.at[i];
    tm_buf_add(out, tm_buf_str(&f->head), f->head.len);
    tm_buf_add(out, tm_buf_str(&f->samples), f->samples.len);
    tm_buf_release(&f->head);
    tm_buf_release(&f->samples);
    free(f->name);
  }
  TM_ARRAY_RELEASE(&m->families);
  tm_buf_add_str(out, "# EOF\n");
}
