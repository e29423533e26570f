/* tidemill.h - run tidemill pipelines from a host application.
 *
 *   runtime -> pipeline (a file, a string, Lua, or step by step) -> job -> events -> result
 *   workspace -> records of jobs, logs, registered datasets
 *   entry scripts in this process, consoles, what definitions accept
 *
 *     struct tidemill_error err = { 0 };
 *     struct tidemill_runtime *rt;
 *     struct tidemill_pipeline *p;
 *     struct tidemill_job *job;
 *     if (tidemill_runtime_new(&rt, NULL, &err) < 0 ||
 *         tidemill_pipeline_load(&p, rt, "pipeline.lua", &err) < 0 ||
 *         tidemill_job_submit(&job, p, NULL, &err) < 0 || tidemill_job_wait(job, -1, &err) < 0)
 *       fprintf(stderr, "%s\n", err.text);
 *
 * The loop. The options of the runtime and the calls that you make choose one of three ways:
 *   block     tidemill_job_wait() and tidemill_runtime_run() turn the runtime's own loop.
 *   poll      Any loop polls tidemill_runtime_fd() for reading, for at most
 *             tidemill_runtime_timeout_ms(), then calls tidemill_runtime_turn(), which never waits.
 *   share     Give the runtime a uv_loop_t. Jobs make progress while the host runs that loop.
 * A process may have several runtimes, and a runtime several running jobs.
 *
 * Threads. One thread at a time uses a runtime and the objects made with it: the thread that made
 * it, or one to which the host hands it over under its own lock. tidemill_runtime_wake() is the
 * exception. Job callbacks run only during a turn of the loop, on the thread that turns it, and
 * never before tidemill_job_submit() has returned. A callback may call everything except the
 * functions that turn the loop or close the runtime; these fail. Loading or planning a pipeline
 * also calls on_log, on_lua and functions of the host. These must not close the runtime, and may
 * turn its loop only if the load or plan was not itself called from a callback.
 *
 * The process. While a job runs, the host has one more child: the keeper, which starts the workers.
 * The library starts it with posix_spawn, watches it by a descriptor, and reaps only that process.
 * The library installs no signal handler, raises no signal (not even SIGPIPE), prints nothing,
 * changes no process-wide setting (locale, directory, mask, limits) and never calls exit(). Its
 * threads block all signals. It never uses descriptors 0 to 2, even if they are closed. After a
 * fork, only the parent may use a runtime. LuaJIT's profiler and its timer signals are used only in
 * workers, and in the host for scripts and consoles that can be interrupted.
 */
#ifndef TIDEMILL_H
#define TIDEMILL_H

#include <tidemill/version.h>
#include <tidemill/error.h>
#include <tidemill/runtime.h>
#include <tidemill/pipeline.h>
#include <tidemill/job.h>
#include <tidemill/record.h>
#include <tidemill/timeline.h>
#include <tidemill/export.h>
#include <tidemill/insight.h>
#include <tidemill/script.h>
#include <tidemill/console.h>

/* Headers. Each of the headers above may be included alone; they are the manual.
 *
 * Errors. A function that can fail returns 0 or more on success (a number, or an enumerator that
 * its description names), and a negative code on failure: one of TIDEMILL_E... below, or a negated
 * errno value. `err` then holds the message; `err` may be NULL. Calls in a wrong order fail with
 * TIDEMILL_EUSAGE, and the message names the missing call. The library aborts when memory runs out
 * or when one of its own assertions fails, because it must not write any file after that. The
 * function given to tidemill_set_on_fault() is called first.
 *
 * Memory. Objects are opaque. A function that makes one stores it in *out, and the caller ends it
 * by the _close() or _free() function of its kind; if the call fails, *out is NULL. The library
 * copies the strings that you pass in. A string that a function returns belongs to the object that
 * it came from. It stays valid until you call the same function again or close the object; a string
 * in an event, until the callback returns. Text is UTF-8 as it was read. Closing or freeing NULL
 * does nothing. If another required argument is NULL, the call fails with TIDEMILL_EUSAGE and names
 * the argument. A function that cannot fail then does nothing, and returns NULL, 0, or -1 if its
 * description gives -1 a meaning.
 *
 * Paths. Unless a description says otherwise, a relative path starts in the current directory, at
 * the time of the call.
 *
 * Callbacks. The `data` that a host gives with a function is the last argument of each call.
 *
 * Stability. Before version 1.0, each minor version has its own ABI, and the name of the shared
 * library says so (libtidemill.so.0.2). From 1.0 on, each major version has. Within one ABI,
 * functions, enumerators and codes are added, but never changed or removed. A struct that begins
 * with `size` may grow at its end; set `size` to the size that the host was compiled with (the
 * _INIT macros do). If it is larger than the library knows, the bytes that it does not know must be
 * 0, or the call fails with TIDEMILL_EUSAGE. Other structs do not change. Ignore enumerators that
 * you do not know. Symbols that no header declares are hidden. The files in a job's
 * directory have versions of their own.
 */

#endif
