# The Debian package, made by CPack: cmake --build build --target deb. It depends on the libraries
# that the files in it need (dpkg-shlibdeps). package_files.cmake adds what only a package has.
set(TM_MAINTAINER "the tidemill authors <tidemill@localhost>" CACHE STRING "maintainer of the Debian package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tidemill)
set(CPACK_PACKAGE_VENDOR "the tidemill authors")
set(CPACK_PACKAGE_CONTACT "${TM_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs a Lua function over many files or rows")
string(JOIN "\n" CPACK_PACKAGE_DESCRIPTION
  "tidemill hands files, rows of tables or entries of archives to supervised"
  "worker processes, which run a function written in Lua. It writes what the"
  "function returns to one file, each row exactly once, even if a worker, the"
  "program or the machine dies. The package has the program, its library for C"
  "programs and for LuaJIT, and the manual.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# These are loaded at run time, where dpkg-shlibdeps does not see them.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libarchive13 (>= 3.6), libedit2 (>= 3.1), libutf8proc2 (>= 2.8)")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# What pkg-config needs to compile a host.
string(JOIN ", " CPACK_DEBIAN_PACKAGE_SUGGESTS
  pkg-config libuv1-dev libluajit-5.1-dev libxxhash-dev libyajl-dev zlib1g-dev libisal-dev libsqlite3-dev
  libjpeg62-turbo-dev libpng-dev libwebp-dev)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_files.cmake)
set(CPACK_TM_ARCHITECTURE "${CMAKE_LIBRARY_ARCHITECTURE}")
include(CPack)

# Everything that is installed, without the tests; and the package of it.
add_custom_target(installable)
add_dependencies(installable tidemill tidemill_module tidemill_shared tidemill_archive tidemill_written)
add_custom_target(deb
  COMMAND ${CMAKE_CPACK_COMMAND} -G DEB
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
  VERBATIM)
add_dependencies(deb installable)
if(TM_PORTAL)
  add_dependencies(installable tidemill-portal)
endif()
