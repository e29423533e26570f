# Compiles text files, such as style sheets and scripts of pages, into a target.
#
#   tm_embed_text(TARGET NAME FILE)
#
# adds a C file to TARGET that defines the bytes of FILE, and a NUL behind them:
#
#   extern const char tm_text_NAME[];
#   extern const size_t tm_text_NAME_len;
#
# A header of the target declares both. As a script (cmake -DNAME= -DFILE= -DOUT= -P), this file
# writes that C file.
if(CMAKE_SCRIPT_MODE_FILE)
  get_filename_component(base ${FILE} NAME)
  file(READ ${FILE} bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR len "${digits} / 2")
  string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  file(WRITE ${OUT} "/* ${base}, written by embed_text.cmake. */
#include <stddef.h>

extern const char tm_text_${NAME}[];
extern const size_t tm_text_${NAME}_len;

const char tm_text_${NAME}[] = {
${bytes}
0 };
const size_t tm_text_${NAME}_len = ${len};
")
  return()
endif()

set(TM_EMBED_TEXT ${CMAKE_CURRENT_LIST_FILE})
function(tm_embed_text target name file)
  get_filename_component(path ${file} ABSOLUTE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/text_${name}.c)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DFILE=${path} -DOUT=${out} -P ${TM_EMBED_TEXT}
    DEPENDS ${path} ${TM_EMBED_TEXT} VERBATIM)
  # The target may be of another folder, which knows nothing of this rule.
  add_custom_target(text_${name} DEPENDS ${out})
  add_dependencies(${target} text_${name})
  target_sources(${target} PRIVATE ${out})
endfunction()
