# Writes OUT, a header with TM_BUILD_ID: a hash over the sources below ROOT that processes of a job
# have in common. No node runs the portal, and nothing of it is in the library. Two builds with one
# id can talk to each other; compilers and options do not count.
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${ROOT}
  ${ROOT}/core/*.[ch] ${ROOT}/lua/*.[ch] ${ROOT}/lua/*.lua ${ROOT}/stdlib/*.lua)
list(FILTER files EXCLUDE REGEX "^core/portal/")
list(SORT files)
set(all "")
foreach(file IN LISTS files)
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 12 id)
file(WRITE ${OUT} "#define TM_BUILD_ID \"${id}\"\n")
