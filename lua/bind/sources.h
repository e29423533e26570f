/* sources.h - the Lua files that are part of the program, compiled in by embed.c. */
#ifndef TM_BIND_SOURCES_H
#define TM_BIND_SOURCES_H

#include <stddef.h>

struct tm_lua_source {
  const char *module; /* the name for require(): "tidemill.entry_script"; "boot" is not a module */
  const char *label;  /* its chunk name: "=tidemill/entry_script.lua" */
  const char *code;   /* compiled, with line numbers */
  size_t code_len;    /* bytes */
  const char *text;   /* as it is written, for the prompt's help */
  size_t text_len;    /* bytes */
};

/* Sorted by module; ends with a NULL module. */
extern const struct tm_lua_source tm_lua_sources[];

#endif
