#include "tools/program.h"

int main(int argc, char** argv) {
  return satchel::tools::run_program(argc, argv);
}
