/* driver.c - runs a fuzz target without libFuzzer: every file of the corpus, then mutations of
 * them.
 *
 *   fuzz_x DICTIONARY|- FILE|FOLDER...
 *   fuzz_x FILE                          one input alone
 *
 * The mutations depend on a counter, not on a clock: each run makes the same ones. If a signal ends
 * the program, its handler writes the current input to "crash-input".
 */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define INPUT_MAX 4096 /* bytes of an input */

struct piece {
  uint8_t *at;
  size_t len;
};

struct pieces {
  struct TM_ARRAY(struct piece) list;
};

static struct piece now; /* for the handler: the current input */

static void on_crash(int number)
{
  static const char words[] = "the input is in crash-input\n";
  int fd = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0 && write(fd, now.at, now.len) == (ssize_t)now.len)
    (void)!write(2, words, sizeof(words) - 1);
  signal(number, SIG_DFL);
  raise(number);
}

/* In memory of exactly its size, so that a sanitizer sees a read beyond it. */
static void run(const uint8_t *p, size_t n)
{
  uint8_t *copy = tm_xmalloc(n);
  if (n > 0)
    memcpy(copy, p, n);
  now = (struct piece) { copy, n };
  fuzz_require(LLVMFuzzerTestOneInput(copy, n) == 0);
  now = (struct piece) { NULL, 0 };
  free(copy);
}

static void read_input(struct pieces *out, const char *path)
{
  static uint8_t bytes[1 << 20];
  FILE *f = fopen(path, "rb");
  if (f == NULL) {
    fprintf(stderr, "cannot open '%s'\n", path);
    exit(2);
  }
  size_t n = fread(bytes, 1, sizeof(bytes), f);
  fclose(f);
  uint8_t *at = tm_xmalloc(n + 1);
  memcpy(at, bytes, n);
  *TM_ARRAY_ADD(&out->list) = (struct piece) { at, n };
}

static int is_name(const struct dirent *e)
{
  return e->d_name[0] != '.';
}

static void read_inputs(struct pieces *out, const char *path)
{
  struct dirent **names;
  char whole[4096];
  int n = scandir(path, &names, is_name, alphasort);
  if (n < 0) {
    read_input(out, path);
    return;
  }
  for (int i = 0; i < n; i++) {
    snprintf(whole, sizeof(whole), "%s/%s", path, names[i]->d_name);
    read_input(out, whole);
    free(names[i]);
  }
  free(names);
}

/* Lines of a libFuzzer dictionary: name="text", with \\ \" \xNN. */
static void read_words(struct pieces *out, const char *path)
{
  char line[1024];
  FILE *f = fopen(path, "r");
  if (f == NULL)
    return;
  while (fgets(line, sizeof(line), f) != NULL) {
    char *s = strchr(line, '"');
    uint8_t *to = tm_xmalloc(sizeof(line));
    size_t n = 0;
    unsigned byte;
    for (s = s == NULL ? NULL : s + 1; s != NULL && *s != '"' && *s != '\0' && line[0] != '#';) {
      if (s[0] == '\\' && s[1] == 'x' && sscanf(s + 2, "%2x", &byte) == 1) {
        to[n++] = (uint8_t)byte;
        s += 4;
      } else {
        s += s[0] == '\\';
        to[n++] = (uint8_t)*s++;
      }
    }
    if (n > 0)
      *TM_ARRAY_ADD(&out->list) = (struct piece) { to, n };
    else
      free(to);
  }
  fclose(f);
}

static uint32_t random_below(uint64_t *state, size_t below)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return below == 0 ? 0 : (uint32_t)(*state >> 32) % (uint32_t)below;
}

/* Writes `piece` at `at`: over the existing bytes, or before them. */
static size_t put(uint8_t *input, size_t n, size_t at, struct piece piece, int before)
{
  if (at + piece.len > INPUT_MAX || (before && n + piece.len > INPUT_MAX))
    return n;
  if (before)
    memmove(input + at + piece.len, input + at, n - at);
  if (piece.len > 0)
    memcpy(input + at, piece.at, piece.len);
  return before ? n + piece.len : at + piece.len > n ? at + piece.len : n;
}

static size_t mutate(uint8_t *input, size_t n, const struct pieces *inputs,
                     const struct pieces *words, uint64_t *state)
{
  static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff, '\n', '\r', '/', '"', '\\' };
  size_t at = random_below(state, n + 1), len = random_below(state, 8) + 1;
  struct piece other = inputs->list.at[random_below(state, inputs->list.len)];
  switch (random_below(state, 7)) {
  case 0:
    if (at < n)
      input[at] ^= (uint8_t)(1u << random_below(state, 8));
    return n;
  case 1:
    return put(input, n, at,
               (struct piece) { (uint8_t[]) { (uint8_t)random_below(state, 256) }, 1 }, 1);
  case 2:
    return put(input, n, at, (struct piece) { (uint8_t[]) { bytes[random_below(state, 10)] }, 1 },
               (int)(len & 1));
  case 3:
    if (at + len < n)
      memmove(input + at, input + at + len, n - at - len);
    return at + len < n ? n - len : at;
  case 4:
    other.at += at < other.len ? at : 0;
    other.len = at < other.len ? random_below(state, other.len - at) : 0;
    return put(input, n, random_below(state, n + 1), other, (int)(len & 1));
  case 5:
    if (words->list.len > 0)
      return put(input, n, at, words->list.at[random_below(state, words->list.len)],
                 (int)(len & 1));
    return n;
  default: return random_below(state, 4) == 0 ? at : n;
  }
}

static void run_mutations(const struct pieces *inputs, const struct pieces *words, long count)
{
  uint8_t input[INPUT_MAX];
  uint64_t state = 88172645463325252u;
  for (long i = 0; i < count; i++) {
    struct piece from = inputs->list.at[random_below(&state, inputs->list.len)];
    size_t n = from.len < INPUT_MAX ? from.len : INPUT_MAX;
    memcpy(input, from.at, n);
    for (uint32_t left = random_below(&state, 8) + 1; left > 0; left--)
      n = mutate(input, n, inputs, words, &state);
    run(input, n);
  }
}

int main(int argc, char **argv)
{
  struct pieces inputs = { { 0 } }, words = { { 0 } };
  const char *few = getenv("TM_MUTATIONS");
  long count = getenv("TM_LONG") != NULL ? 2000000 : few != NULL ? atol(few) : 10000;
  static const int signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
  for (size_t i = 0; i < TM_COUNT_OF(signals); i++)
    signal(signals[i], on_crash);
  if (argc > 2)
    read_words(&words, argv[1]);
  for (int i = argc > 2 ? 2 : 1; i < argc; i++)
    read_inputs(&inputs, argv[i]);
  if (inputs.list.len == 0) {
    fprintf(stderr, "usage: %s [DICTIONARY|-] FILE|FOLDER...\n", argv[0]);
    return 2;
  }
  for (size_t i = 0; i < inputs.list.len; i++)
    run(inputs.list.at[i].at, inputs.list.at[i].len);
  run((const uint8_t *)"", 0);
  if (argc > 2)
    run_mutations(&inputs, &words, count);
  printf("%zu inputs, %ld mutations\n", inputs.list.len, argc > 2 ? count : 0);
  for (size_t i = 0; i < inputs.list.len; i++)
    free(inputs.list.at[i].at);
  for (size_t i = 0; i < words.list.len; i++)
    free(words.list.at[i].at);
  TM_ARRAY_RELEASE(&inputs.list);
  TM_ARRAY_RELEASE(&words.list);
  return 0;
}
