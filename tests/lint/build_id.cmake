# The portal is not a part of the build id, and the rest of core/ is.
#   cmake -DROOT=<repository> -DFOLDER=<scratch> -P build_id.cmake
function(expect what before) # EQUAL or DIFFERENT
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -DOUT=${FOLDER}/id.h -P ${ROOT}/core/node/build_id.cmake
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${FOLDER}/id.h id)
  if((what STREQUAL EQUAL AND NOT id STREQUAL before) OR (what STREQUAL DIFFERENT AND id STREQUAL before))
    message(FATAL_ERROR "the build id is not ${what}: ${before} and ${id}")
  endif()
  set(id "${id}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/core/job/job.c "1")
expect(DIFFERENT "")
file(WRITE ${FOLDER}/core/portal/pages/page.c "1")
expect(EQUAL "${id}")
file(WRITE ${FOLDER}/core/job/job.c "2")
expect(DIFFERENT "${id}")
