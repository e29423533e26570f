# Writes OUT, a C file with the text of each Lua file (or C header, for ffi.cdef) of SOURCES
# (separated by '|', each "module=path"), in the order of their names, so that the same tree gives
# the same bytes. Run with cmake -P. With PAGES set, the files are pages of the manual, each
# "name=path", and the table is that of cli/help/cmd_manual.h.
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
  if(path MATCHES "\\.h$") # as a piece of Lua that returns its text: return [==[ ... ]==]
    string(PREPEND hex "72657475726e205b3d3d5b0a")
    string(APPEND hex "5d3d3d5d")
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  get_filename_component(file "${path}" NAME)
  if(path MATCHES "/stdlib/tidemill/(.+)$") # also of folders in it
    set(file "${CMAKE_MATCH_1}")
  endif()
  string(APPEND texts "static const unsigned char text_${n}[] = {\n${bytes}0 };\n")
  if(PAGES)
    string(APPEND rows "  { \"${module}\", (const char *)text_${n} },\n")
  else()
    string(APPEND rows "  { \"${module}\", \"=tidemill/${file}\", (const char *)text_${n}, sizeof(text_${n}) - 1 },\n")
  endif()
  math(EXPR n "${n} + 1")
endforeach()

if(PAGES)
  set(include "cli/help/cmd_manual.h")
  set(table "const struct tm_manual_page tm_manual_pages[]")
  set(last "{ NULL, NULL }")
else()
  set(include "bind/sources.h")
  set(table "const struct tm_lua_source tm_lua_sources[]")
  set(last "{ NULL, NULL, NULL, 0 }")
endif()
file(WRITE "${OUT}" "/* Written by embed.cmake. */\n#include \"${include}\"\n\n${texts}
${table} = {
${rows}  ${last},
};
")
