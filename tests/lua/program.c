/* program.c - our interpreter alone, for the specs: tests/lua does not wait for the command line to work. */
#include "lua/runtime.h"

int main(int argc, char **argv)
{
  return argc < 2 ? 2 : tm_lua_run_file(argc - 1, argv + 1);
}
