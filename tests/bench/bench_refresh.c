/* bench_refresh.c - how long a host takes to open the record of a running job, and to refresh it
 * when a few mini-batches have ended since: bench_refresh DIR FIFO [TIMES].
 *
 * The job in DIR runs. Each byte that is written to FIFO lets one of its mini-batches end. Prints
 * the shortest processor time of each. The refreshed record must have what one that is opened then
 * has.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tidemill.h>

#define TIMES_MAX 101
#define A_FEW     10 /* mini-batches */
#define LIMIT_S   60

/* CLOCK_PROCESS_CPUTIME_ID for what is measured: other work on the machine lengthens it least. */
static double now(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what, const struct tidemill_error *err)
{
  fprintf(stderr, "bench_refresh: %s: %s\n", what, err->text);
  exit(1);
}

static int64_t ended(const struct tidemill_record *r)
{
  const struct tidemill_counts *c = tidemill_record_info(r)->counts;
  return c->succeeded + c->failed;
}

/* Other work on the machine can only lengthen a call. */
static double shortest(const double *all, int n)
{
  double least = all[0];
  for (int i = 1; i < n; i++)
    least = all[i] < least ? all[i] : least;
  return least;
}

static struct tidemill_record *open_record(const char *dir, double *seconds)
{
  struct tidemill_record *r = NULL;
  struct tidemill_error err = { 0 };
  double begin = now(CLOCK_PROCESS_CPUTIME_ID);
  if (tidemill_record_open(&r, NULL, dir, &err) < 0)
    fail("cannot open the record", &err);
  *seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
  return r;
}

/* Lets a few mini-batches end. Returns how long the refresh took that saw the first of them. */
static double refresh(struct tidemill_record *r, int fd, int fifo)
{
  static const char go[A_FEW];
  struct tidemill_error err = { 0 };
  int64_t before = ended(r);
  double limit = now(CLOCK_MONOTONIC) + LIMIT_S, begin, seconds;
  if (write(fifo, go, A_FEW) != A_FEW)
    exit((perror("bench_refresh: the FIFO"), 1));
  do {
    struct pollfd p = { .fd = fd, .events = POLLIN };
    (void)poll(&p, 1, 2000);
    begin = now(CLOCK_PROCESS_CPUTIME_ID);
    if (tidemill_record_refresh(r, &err) < 0)
      fail("cannot refresh the record", &err);
    seconds = now(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (now(CLOCK_MONOTONIC) > limit)
      fail("no mini-batch has ended", &err);
  } while (ended(r) == before);
  return seconds;
}

int main(int argc, char **argv)
{
  double opened[TIMES_MAX], refreshed[TIMES_MAX], ignored;
  int times = argc > 3 ? atoi(argv[3]) : 25, fifo = argc > 2 ? open(argv[2], O_RDWR) : -1;
  struct tidemill_error err = { 0 };
  if (fifo < 0 || times < 1 || times > TIMES_MAX) {
    fprintf(stderr, "usage: bench_refresh DIR FIFO [TIMES], at most %d times\n", TIMES_MAX);
    return 2;
  }
  for (int i = 0; i < times; i++)
    tidemill_record_close(open_record(argv[1], &opened[i]));
  struct tidemill_record *r = open_record(argv[1], &ignored);
  int64_t first = ended(r);
  int fd = tidemill_record_fd(r, &err);
  if (fd < 0 || tidemill_record_refresh(r, &err) < 0)
    fail("cannot follow the record", &err);
  for (int i = 0; i < times; i++)
    refreshed[i] = refresh(r, fd, fifo);
  struct tidemill_record *then = open_record(argv[1], &ignored);
  int64_t now_ended = ended(then);
  if (tidemill_record_refresh(r, &err) < 0 || ended(r) < now_ended || ended(r) <= first)
    fail("the refreshed record differs", &err);
  printf("%lld mini-batches ended; open %.3f ms; refresh %.3f ms\n", (long long)first,
         1e3 * shortest(opened, times), 1e3 * shortest(refreshed, times));
  tidemill_record_close(then);
  tidemill_record_close(r);
  close(fifo);
  return 0;
}
