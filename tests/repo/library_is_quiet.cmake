# The library has no global state, no output, no exit and no signal handling:
# reads the symbols of ARCHIVE. Constants, named kName, are not state; kill is not
# banned: kill(pid, 0) asks whether a process lives.

set(banned exit _exit _Exit quick_exit abort __assert_fail atexit printf vprintf
  __printf_chk __vprintf_chk puts putchar perror psignal stdout stderr syslog
  signal sigaction sigprocmask raise std::cout std::cerr std::clog)

# Sets `result` to what breaks the rule in an object file or an archive.
function(find_noise file result)
  set(noise)
  execute_process(COMMAND ${NM} --demangle --undefined-only ${file}
    COMMAND sort -u OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
  foreach(name IN LISTS banned)
    string(REPLACE "." "\\." pattern "${name}")
    if(undefined MATCHES " U ${pattern}(@[^\n]*)?\n")
      list(APPEND noise "uses ${name}")
    endif()
  endforeach()
  execute_process(COMMAND ${OBJDUMP} --demangle --syms ${file}
    COMMAND grep -E "[O ] \\.(data|bss|tdata|tbss)"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  # Brackets and semicolons mean something in CMake's lists.
  string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
  string(REGEX MATCHALL "[^\n]*[O ] \\.(data|bss|tdata|tbss)[^\n]*" objects
    "${symbols}")
  foreach(object IN LISTS objects)
    string(REGEX REPLACE ".*[O ] (\\.[^ \t]*)[ \t]+[0-9a-f]+ +(.*)" "\\1;\\2"
      parts "${object}")
    list(POP_FRONT parts section)
    string(REGEX REPLACE "^(\\.hidden|0x[0-9a-f]+) " "" name "${parts}")
    if(NOT section MATCHES "^\\.data\\.rel\\.(ro|local\\.DW\\.ref)"
       AND NOT name MATCHES
         "^(\\.|guard variable for |std::|nlohmann::|simdjson::|rocksdb::)"
       AND NOT name MATCHES "(^|::)k[A-Z][A-Za-z0-9]*(_abi:cxx11_)?$")
      list(APPEND noise "state: ${name}")
    endif()
  endforeach()
  set(${result} "${noise}" PARENT_SCOPE)
endfunction()

# The check itself notices what it is for.
file(WRITE ${WORK}/noisy.cc "
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <string>
namespace satchel {
int counter = 1;
thread_local int own = 2;
std::string& cache() { static std::string text; return text; }
const std::string kConstant(100, 'x');
static const char* const kTable[] = {\"a\", \"b\"};
const char* table(int i) { return kTable[i]; }
void noisy() { std::puts(\"x\"); std::signal(2, SIG_IGN); std::exit(1); }
}\n")
execute_process(COMMAND ${CXX} -std=c++20 -O2 -fPIC -c ${WORK}/noisy.cc
  -o ${WORK}/noisy.o COMMAND_ERROR_IS_FATAL ANY)
find_noise(${WORK}/noisy.o planted)
list(SORT planted)
set(expected "state: satchel::cache_abi:cxx11_()::text"
  "state: satchel::counter" "state: satchel::own" "uses exit" "uses puts"
  "uses signal")
list(SORT expected)
if(NOT planted STREQUAL expected)
  message(FATAL_ERROR "planted: ${expected}\nfound: ${planted}")
endif()

find_noise(${ARCHIVE} noise)
if(noise)
  list(JOIN noise "\n  " noise)
  message(FATAL_ERROR "the library must not:\n  ${noise}")
endif()
