# Run by CPack on the files of the package: the place where a Debian LuaJIT looks for modules,
# Debian's name for the licence, packed manual pages, and a static library without debug
# information (CPACK_STRIP_FILES leaves archives alone).
set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr")
if(NOT EXISTS "${root}/bin/tidemill")
  message(FATAL_ERROR "package_files.cmake: there is no program in '${root}'")
endif()
if(CPACK_TM_ARCHITECTURE)
  file(MAKE_DIRECTORY "${root}/lib/${CPACK_TM_ARCHITECTURE}/lua/5.1")
  file(CREATE_LINK ../../../lua/5.1/tidemill.so "${root}/lib/${CPACK_TM_ARCHITECTURE}/lua/5.1/tidemill.so" SYMBOLIC)
endif()
file(RENAME "${root}/share/doc/tidemill/LICENSE" "${root}/share/doc/tidemill/copyright")
file(CREATE_LINK copyright "${root}/share/doc/tidemill/LICENSE" SYMBOLIC)
file(GLOB pages "${root}/share/man/man*/*")
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB archives "${root}/lib/*.a")
execute_process(COMMAND strip --strip-debug ${archives} COMMAND_ERROR_IS_FATAL ANY)
