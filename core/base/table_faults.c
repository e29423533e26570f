/* table_faults.c - see table_faults.h. */
#include "base/table_faults.h"

#include <inttypes.h>

#include "base/err.h"
#include "base/text.h"

static bool is_cut(const struct tm_table_faults *f, bool grows)
{
  return f->cut_at > 0 && !grows;
}

bool tm_table_faults_any(const struct tm_table_faults *f, bool grows)
{
  return f->rows > 0 || f->code < 0 || is_cut(f, grows);
}

int64_t tm_table_faults_at(const struct tm_table_faults *f, bool grows)
{
  return f->rows > 0 ? f->first_at : is_cut(f, grows) ? f->cut_at : -1;
}

void tm_table_faults_text(struct tm_buf *out, const struct tm_table_faults *f, bool grows)
{
  const char *glue = "";
  if (f->rows > 0) {
    tm_buf_add_str(out, "has ");
    tm_text_count(out, f->rows, tm_text_counted(f->rows, " row", " rows"));
    tm_buf_printf(out, " that cannot be read, %s byte %" PRId64,
                  tm_text_counted(f->rows, "at", "the first at"), f->first_at);
    glue = ", and ";
  }
  if (is_cut(f, grows)) {
    tm_buf_printf(out, "%sends within the row at byte %" PRId64, glue, f->cut_at);
    glue = ", and ";
  }
  if (f->code < 0)
    tm_buf_printf(out, "%scannot be read: %s", glue, tm_code_text(f->code));
}
