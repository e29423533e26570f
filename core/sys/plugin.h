/* plugin.h - a shared library that a user installs, because it is large or in no distribution: it
 * is searched for in one order, whichever library it is. The first place that has it decides:
 *
 *  1. the variable of its kind: a file, or a folder that contains it; if it is wrong, nothing else
 *     is tried
 *  2. the given folders: the script's own, and those of module_paths
 *  3. an npm package in node_modules, there or in a folder above:
 *     <package>/bin/napi-v<N>/linux/<x64 or arm64>/
 *  4. <prefix>/lib/tidemill, where this program is <prefix>/bin/tidemill
 *  5. $XDG_DATA_HOME/tidemill (~/.local/share/tidemill), and a node_modules there
 *  6. the system's loader
 *
 * The current folder is never searched. Links are followed once, and the file that they lead to is
 * checked and loaded. A file that other users could have changed is refused before any of its code
 * runs, and so is one that is cut or not a library for this machine.
 */
#ifndef TM_SYS_PLUGIN_H
#define TM_SYS_PLUGIN_H

#include <stdbool.h>

#include "base/err.h"

/* Which library; all memory is static. */
struct tm_plugin_kind {
  const char *name;         /* "ONNX Runtime" */
  const char *variable;     /* "TIDEMILL_ONNXRUNTIME" */
  const char *const *files; /* its names, best first, NULL-ended: "libonnxruntime.so.1" */
  const char *package;      /* npm's, "onnxruntime-node"; NULL: none */
  const char *get;          /* how to install the package: "npm install --ignore-scripts" */
  const char *entry;        /* a function that no other library has */
};

/* Zeroed: none. */
struct tm_plugin {
  void *handle;
  void *entry;       /* the function */
  char *path;        /* of the file */
  bool is_of_loader; /* only the system's loader knew it */
};

/* Where the search gets variables from: of this process, or as they will be in another. */
struct tm_plugin_variables {
  const char *(*value)(void *data, const char *name); /* NULL: it is not set */
  void *data;
};

/* Finds and loads it. `folders`: absolute, NULL-ended. -ENOENT: it is nowhere; the message lists
 * the places. TM_EUSAGE: it was found, but cannot be used. Release `p` in every case. */
int tm_plugin_open(struct tm_plugin *p, const struct tm_plugin_kind *kind,
                   const char *const *folders, struct tm_err *err);
/* The file that tm_plugin_open() would load in a process with these variables, to free(); nothing
 * is loaded or checked. NULL: there is none, or only the system's loader knows it. */
char *tm_plugin_locate(const struct tm_plugin_kind *kind, const char *const *folders,
                       const struct tm_plugin_variables *variables);
/* Unloads it: only where none of its code runs or will. */
void tm_plugin_close(struct tm_plugin *p);
/* Frees `p`; the library stays loaded. */
void tm_plugin_leave(struct tm_plugin *p);

/* The prefix of an installation with this file: "/usr" for "/usr/bin/tidemill" and
 * "/usr/lib/lua/5.1/tidemill.so"; to free(). NULL: the file is not in an installation. */
char *tm_plugin_prefix(const char *file);

#endif
