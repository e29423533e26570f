# The program, but for its main().
foreach(name cli line_history manual markdown one_step options outlet signals terminal)
  tm_unit_test(${name})
  target_link_libraries(test_${name} PRIVATE tidemill_cli)
endforeach()
