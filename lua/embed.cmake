# Writes OUT, a C file with the text of each Lua file of SOURCES (separated by '|', each "module=path"),
# in the order of their names, so that the same tree gives the same bytes. Run with cmake -P.
string(REPLACE "|" ";" sources "${SOURCES}")
list(SORT sources)

set(texts "")
set(rows "")
set(n 0)
foreach(source ${sources})
  string(REGEX MATCH "^([^=]+)=(.*)$" _ "${source}")
  set(module "${CMAKE_MATCH_1}")
  set(path "${CMAKE_MATCH_2}")
  file(READ "${path}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  get_filename_component(file "${path}" NAME)
  string(APPEND texts "static const unsigned char text_${n}[] = {\n${bytes}0 };\n")
  string(APPEND rows "  { \"${module}\", \"=tidemill/${file}\", (const char *)text_${n}, sizeof(text_${n}) - 1 },\n")
  math(EXPR n "${n} + 1")
endforeach()

file(WRITE "${OUT}" "/* Written by embed.cmake. */\n#include \"sources.h\"\n\n${texts}
const struct tm_lua_source tm_lua_sources[] = {
${rows}  { NULL, NULL, NULL, 0 },
};
")
