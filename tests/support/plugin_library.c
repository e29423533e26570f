/* plugin_library.c - a small shared library, for tests of searching and loading. */
int tidemill_plugin_answer(void);

__attribute__((visibility("default"))) int tidemill_plugin_answer(void)
{
  return 42;
}
