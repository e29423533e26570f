# Read by ctest before it starts a test: removes every TIDEMILL_* variable from its environment, and
# so from that of all tests. What a test needs it gets from its ENVIRONMENT property, which ctest
# sets later. Adds what onnxruntime/versions.sh finds.
execute_process(COMMAND env OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "TIDEMILL[A-Za-z0-9_]*=" names "${variables}")
foreach(name ${names})
  string(REPLACE "=" "" name "${name}")
  unset(ENV{${name}})
endforeach()

# The versions of ONNX Runtime that are on this machine. tests/run.sh knows why one is missing.
execute_process(COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/onnxruntime/versions.sh find OUTPUT_VARIABLE found)
string(REGEX MATCHALL "[^\n]+" lines "${found}")
foreach(line ${lines})
  string(REGEX MATCH "^([A-Z0-9_]+)=(.*)" line "${line}")
  if(NOT DEFINED ENV{${CMAKE_MATCH_1}})
    set(ENV{${CMAKE_MATCH_1}} "${CMAKE_MATCH_2}")
  endif()
endforeach()
