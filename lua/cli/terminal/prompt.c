/* prompt.c - see prompt.h.
 *
 * libedit asks for one character at a time (EL_GETCFN). That function waits until the terminal can
 * be read, or a job has news. It reads bytes one by one, as the C library does, so that input after
 * the line is there for the next reader: running code, or the next line. Messages of jobs are
 * printed between two waits.
 *
 *  (1) A signal handler sets a flag and writes to a pipe that is polled too; the work is done after
 *      the wait.
 *  (2) libedit knows where it has drawn its line. Other output first moves the cursor there, and
 *      then makes libedit draw again.
 */
#include "cli/terminal/prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/terminal/libedit.h"
#include "cli/terminal/line_history.h"
#include "cli/terminal/signals.h"

struct tm_prompt {
  struct tm_prompt_options o;
  const struct tm_libedit *edit;
  EditLine *el;
  History *history;
  int entries; /* of the history, before the piece that is read */
  int wake[2]; /* a pipe: keeps (1) */
  const char *label;
  char shown_label[64];
  mbstate_t shift;
  bool is_reading; /* during el_gets() */
  bool has_before;
  struct termios before; /* the original settings of the terminal */
  char *status;          /* or NULL */
  bool
      has_status; /* the status is on the terminal: above the line that is read, or at the cursor */
  volatile sig_atomic_t is_interrupted, is_resized, is_continued;
};

/* ---- waiting ---- */

static void wake(const struct tm_prompt *p) /* may run in a signal handler */
{
  (void)!write(p->wake[1], "", 1); /* a full pipe wakes it too */
}

static void on_change(int signal, void *data)
{
  struct tm_prompt *p = data;
  if (signal == SIGWINCH)
    p->is_resized = 1;
  else
    p->is_continued = 1;
  wake(p);
}

/* Sets the terminal again, because the shell used it meanwhile with other settings. */
static void take_terminal_again(const struct tm_prompt *p)
{
  if (!p->is_reading)
    return;
  p->edit->el_set(p->el, EL_PREP_TERM, 0);
  p->edit->el_set(p->el, EL_PREP_TERM, 1);
  fputs("\r\033[J", stdout); /* the shell's text is above */
  fflush(stdout);
  p->edit->el_set(p->el, EL_REFRESH);
}

static void tell(struct tm_prompt *p)
{
  if (p->o.on_happened)
    p->o.on_happened(p->o.data);
}

/* Waits until there is input, a job has news, or a signal came. */
static void wait_for_input(struct tm_prompt *p)
{
  struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
                          { .fd = p->wake[0], .events = POLLIN },
                          { .fd = p->o.on_happened ? p->o.fd : -1, .events = POLLIN } };
  char bytes[64];
  poll(fds, 3, -1);
  while (read(p->wake[0], bytes, sizeof(bytes)) > 0)
    ;
  if (p->is_resized) {
    p->is_resized = 0;
    p->edit->el_resize(p->el);
  }
  if (p->is_continued) {
    p->is_continued = 0;
    take_terminal_again(p);
  }
}

static bool can_read(void)
{
  struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
  return poll(&fd, 1, 0) > 0;
}

static struct tm_prompt *prompt_of(EditLine *el)
{
  struct tm_prompt *p = NULL;
  tm_libedit(NULL)->el_get(el, EL_CLIENTDATA, &p);
  tm_require(p);
  return p;
}

static int read_char(EditLine *el, wchar_t *out)
{
  struct tm_prompt *p = prompt_of(el);
  char byte;
  for (;;) {
    if (!p->is_interrupted && !can_read())
      tell(p);
    if (!p->is_interrupted && !can_read())
      wait_for_input(p);
    if (p->is_interrupted) {
      errno = EINTR;
      return -1;
    }
    if (!can_read())
      continue;
    ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (n <= 0)
      return (int)n;
    size_t got = mbrtowc(out, &byte, 1, &p->shift);
    if (got == (size_t)-2)
      continue;
    if (got == (size_t)-1) { /* incomplete: takes no character */
      p->shift = (mbstate_t) { 0 };
      continue;
    }
    return 1;
  }
}

/* ---- output ---- */

int tm_prompt_width(const struct tm_prompt *p)
{
  struct winsize size = { 0 };
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* How many rows of the edited line are above the cursor. */
static int rows_above(struct tm_prompt *p)
{
  tm_require(p->is_reading);
  const LineInfoW *line = p->edit->el_wline(p->el);
  int columns = tm_prompt_width(p), at = (int)strlen(p->label);
  for (const wchar_t *c = line->buffer; c < line->cursor; c++) {
    int width = wcwidth(*c);
    at += width > 0 ? width : 0;
  }
  return at / columns;
}

/* Moves the cursor to the beginning of the status, or of the line if there is none, and clears from
 * there on. */
static void clear(struct tm_prompt *p)
{
  int rows = p->is_reading ? rows_above(p) + p->has_status : 0;
  if (!p->is_reading && !p->has_status)
    return;
  if (rows > 0)
    fprintf(stdout, "\033[%dA", rows);
  fputs("\r\033[J", stdout);
  p->has_status = false;
}

static void write_status(struct tm_prompt *p, const char *behind)
{
  tm_require(!p->has_status); /* clear() has removed it */
  struct tm_buf text = TM_BUF_NONE;
  int columns = tm_prompt_width(p);
  if (!p->status)
    return;
  tm_text_one_line(&text, p->status, strlen(p->status), columns > 8 ? (size_t)columns - 1 : 8);
  fprintf(stdout, "%s%s", tm_buf_str(&text), behind);
  p->has_status = true;
  tm_buf_release(&text);
}

/* After clear(): draws the status, and the line below it. */
static void draw(struct tm_prompt *p)
{
  write_status(p, p->is_reading ? "\n" : "");
  fflush(stdout);
  if (p->is_reading)
    p->edit->el_set(p->el, EL_REFRESH); /* keeps (2) */
}

void tm_prompt_say(struct tm_prompt *p, const char *text)
{
  clear(p);
  fprintf(stdout, "%s\n", text);
  draw(p);
}

void tm_prompt_set_status(struct tm_prompt *p, const char *text)
{
  if (text && p->status && p->has_status && strcmp(text, p->status) == 0)
    return;
  clear(p);
  free(p->status);
  p->status = tm_xstrdup(text);
  draw(p);
}

void tm_prompt_clear_status(struct tm_prompt *p)
{
  clear(p);
  fflush(stdout);
}

/* Removes the quote that ends `insert`, if the line has it behind the cursor already. */
static void drop_quote(struct tm_buf *insert, const LineInfo *line)
{
  char last = insert->len > 0 ? insert->data[insert->len - 1] : '\0';
  if ((last == '"' || last == '\'') && line->cursor < line->lastchar && *line->cursor == last)
    insert->data[--insert->len] = '\0';
}

static unsigned char on_tab(EditLine *el, int c)
{
  struct tm_prompt *p = prompt_of(el);
  struct tm_buf insert = TM_BUF_NONE, list = TM_BUF_NONE;
  unsigned char result = CC_REFRESH;
  const LineInfo *line = p->edit->el_line(el);
  p->o.complete(p->o.data, line->buffer, (size_t)(line->cursor - line->buffer), &insert, &list);
  drop_quote(&insert, line);
  if (insert.len == 0 && list.len == 0)
    result = CC_ERROR; /* beeps */
  if (insert.len > 0)
    p->edit->el_insertstr(el, tm_buf_str(&insert));
  if (list.len > 0) {
    fprintf(stdout, "\n%s\n", tm_buf_str(&list));
    fflush(stdout);
    p->edit->el_set(el, EL_REFRESH);
    result = CC_NORM;
  }
  tm_buf_release(&insert);
  tm_buf_release(&list);
  return result;
}

static char *label_of(EditLine *el)
{
  return prompt_of(el)->shown_label;
}

/* ---- life ---- */

static void add_line(void *data, const char *line)
{
  struct tm_prompt *p = data;
  HistEvent event;
  p->edit->history(p->history, &event, H_ENTER, line);
}

static void open_history(struct tm_prompt *p)
{
  HistEvent event;
  p->history = p->edit->history_init();
  p->edit->history(p->history, &event, H_SETSIZE, TM_LINE_HISTORY_LINES);
  p->edit->history(p->history, &event, H_SETUNIQUE, 1);
  if (p->o.history)
    tm_line_history_load(p->o.history, add_line, p);
}

/* Reads the terminal's bytes as characters of the user's locale; if that is plain ASCII, as
 * UTF-8. */
static void set_characters(void)
{
  if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    setlocale(LC_CTYPE, "C.UTF-8");
}

static void watch_terminal(struct tm_prompt *p)
{
  tm_signals_watch(SIGWINCH, on_change, p);
  tm_signals_watch(SIGCONT, on_change, p);
}

static void open_editor(struct tm_prompt *p)
{
  set_characters();
  setvbuf(stdin, NULL, _IONBF, 0); /* keeps what io.read() does not read for the next line */
  p->el = p->edit->el_init("tidemill", stdin, stdout, stderr);
  p->edit->el_set(p->el, EL_CLIENTDATA, p);
  p->edit->el_set(p->el, EL_EDITOR, "emacs");
  p->edit->el_set(p->el, EL_PROMPT_ESC, label_of, '\1');
  p->edit->el_set(p->el, EL_GETCFN, read_char);
  p->edit->el_set(p->el, EL_SETTY, "-d", "-inlcr",
                  NULL); /* text that is typed ahead gets the line end that io.read() needs */
  p->edit->el_set(p->el, EL_HIST, p->edit->history, p->history);
  p->edit->el_wset(p->el, EL_ADDFN, L"tidemill-complete", L"completes the word",
                   on_tab); /* keeps them */
  p->edit->el_set(p->el, EL_BIND, "^I", "tidemill-complete", NULL);
  p->edit->el_set(p->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  p->edit->el_source(p->el, NULL); /* ~/.editrc has the user's keys */
}

struct tm_prompt *tm_prompt_open(const struct tm_prompt_options *o, struct tm_err *err)
{
  const struct tm_libedit *edit = tm_libedit(err);
  struct tm_prompt *p = edit ? TM_NEW(struct tm_prompt) : NULL;
  if (!edit)
    return NULL;
  p->edit = edit;
  p->o = *o;
  p->label = "";
  p->has_before = tcgetattr(STDIN_FILENO, &p->before) == 0;
  if (pipe2(p->wake, O_CLOEXEC | O_NONBLOCK) < 0) {
    tm_err_system(err, -errno, "cannot make a pipe");
    free(p);
    return NULL;
  }
  open_history(p);
  open_editor(p);
  watch_terminal(p);
  return p;
}

void tm_prompt_close(struct tm_prompt *p)
{
  if (!p)
    return;
  tm_require(!p->is_reading);
  tm_signals_release();
  p->edit->el_end(p->el);
  p->edit->history_end(p->history);
  close(p->wake[0]);
  close(p->wake[1]);
  free(p->status);
  free(p);
}

/* ---- one line ---- */

void tm_prompt_interrupt(struct tm_prompt *p)
{
  p->is_interrupted = 1;
  wake(p);
}

bool tm_prompt_is_interrupted(const struct tm_prompt *p)
{
  return p->is_interrupted;
}

void tm_prompt_leave(const struct tm_prompt *p)
{
  if (p->is_reading && p->has_before)
    tcsetattr(STDIN_FILENO, TCSANOW, &p->before);
}

void tm_prompt_forget_interrupt(struct tm_prompt *p)
{
  p->is_interrupted = 0;
}

static void keep(struct tm_prompt *p, const char *line)
{
  if (!tm_line_history_is_kept(line))
    return;
  add_line(p, line);
  if (p->o.history)
    tm_line_history_add(p->o.history, line);
}

static int count_entries(struct tm_prompt *p)
{
  HistEvent event = { .num = 0 };
  return p->edit->history(p->history, &event, H_GETSIZE) < 0 ? 0 : event.num;
}

void tm_prompt_begin(struct tm_prompt *p)
{
  p->entries = count_entries(p);
}

void tm_prompt_join(struct tm_prompt *p, const char *text)
{
  HistEvent event;
  for (int n = count_entries(p);
       n > p->entries && p->edit->history(p->history, &event, H_FIRST) >= 0; n--)
    p->edit->history(p->history, &event, H_DEL, event.num);
  keep(p, text);
}

static int read_interrupted(struct tm_prompt *p, bool *had_text)
{
  const LineInfoW *line = p->edit->el_wline(p->el);
  tm_require(!p->is_reading);
  *had_text = line->lastchar > line->buffer;
  p->is_interrupted = 0;
  fputs("^C\n", stdout);
  fflush(stdout);
  return TM_PROMPT_INTERRUPTED;
}

int tm_prompt_read(struct tm_prompt *p, const char *label, struct tm_buf *line, bool *had_text)
{
  int n = 0;
  tm_require(!p->is_reading);
  p->label = label;
  snprintf(p->shown_label, sizeof(p->shown_label),
           p->o.has_color ? "\1\033[1;34m\1%s\1\033[0m\1" : "%s", label);
  clear(p);
  write_status(p, "\n");
  fflush(stdout);
  p->is_reading = true;
  /* before the label appears, so that text typed then is echoed once */
  p->edit->el_set(p->el, EL_PREP_TERM, 1);
  const char *text = p->edit->el_gets(p->el, &n);
  p->is_reading = p->has_status = false; /* keeps the text above */
  if (p->is_interrupted)
    return read_interrupted(p, had_text);
  if (!text || n <= 0) {
    fputs("\n", stdout);
    fflush(stdout);
    return TM_PROMPT_END;
  }
  while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
    n--;
  tm_buf_add(line, text, (size_t)n);
  keep(p, tm_buf_str(line));
  return TM_PROMPT_LINE;
}
