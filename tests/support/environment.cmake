# Read by ctest before it starts a test: removes every TIDEMILL_* variable from its environment, and
# so from that of all tests. What a test needs it gets from its ENVIRONMENT property, which ctest
# sets later.
execute_process(COMMAND env OUTPUT_VARIABLE variables)
string(REGEX MATCHALL "TIDEMILL[A-Za-z0-9_]*=" names "${variables}")
foreach(name ${names})
  string(REPLACE "=" "" name "${name}")
  unset(ENV{${name}})
endforeach()
