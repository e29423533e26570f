# The binding. These link tidemill_lua besides the core.
foreach(name rows lua_frame script script_memory entry_script worker lua_interrupt)
  tm_unit_test(${name})
  target_link_libraries(test_${name} PRIVATE tidemill_lua PkgConfig::LUAJIT)
endforeach()
