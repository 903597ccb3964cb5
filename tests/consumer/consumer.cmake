# One STEP of a user's way: install the library under WORK/installed, then build
# against that tree and run, with find_package, with pkg-config, and with the
# example in README.md.

set(prefix ${WORK}/installed)
set(folder ${WORK}/${STEP})
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder})
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
# Nothing may be written outside of the test's folder.
set(ENV{HOME} ${folder})
unset(ENV{XDG_DATA_HOME})
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()

macro(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${folder}
    COMMAND_ERROR_IS_FATAL ANY)
endmacro()

# Compiles the sources as pkg-config says and runs the program.
macro(compile_and_run)
  execute_process(COMMAND pkg-config --cflags satchel OUTPUT_VARIABLE cflags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND pkg-config --libs satchel OUTPUT_VARIABLE libs
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${cflags}" cflags)
  separate_arguments(libs UNIX_COMMAND "${libs}")
  # Headers of ours, and nlohmann/json, which is in the system's folder.
  string(REGEX REPLACE "^-I" "" include "${cflags}")
  file(REAL_PATH "${include}" include)
  file(REAL_PATH ${prefix}/include expected)
  if(NOT include STREQUAL expected)
    message(FATAL_ERROR "include folders other than ours: ${cflags}")
  endif()
  run(${CXX} -std=c++20 -Wall -Wextra -Wpedantic -Werror ${sanitize} ${cflags}
    ${ARGN} ${libs} -o ${folder}/program)
  run(${folder}/program)
endmacro()

if(STEP STREQUAL install)
  file(REMOVE_RECURSE ${prefix})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
elseif(STEP STREQUAL find_package)
  list(JOIN sanitize " " flags)
  run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/consumer/project
    -B ${folder}/build -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${flags})
  run(${CMAKE_COMMAND} --build ${folder}/build)
  run(${folder}/build/consumer)
elseif(STEP STREQUAL pkg_config)
  compile_and_run(${SOURCE}/tests/consumer/project/main.cc
    ${SOURCE}/tests/consumer/project/other.cc)
elseif(STEP STREQUAL readme)
  if(NOT EXISTS ${SOURCE}/README.md)
    message(FATAL_ERROR "there is no README.md")
  endif()
  file(READ ${SOURCE}/README.md text)
  string(FIND "${text}" "```cpp\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md has no example: no block that begins ```cpp")
  endif()
  math(EXPR begin "${begin} + 7")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} example)
  if(NOT example MATCHES "int main\\(")
    message(FATAL_ERROR "README.md's first example is no whole program")
  endif()
  file(WRITE ${folder}/example.cc "${example}")
  compile_and_run(${folder}/example.cc)
else()
  message(FATAL_ERROR "no such step: ${STEP}")
endif()
