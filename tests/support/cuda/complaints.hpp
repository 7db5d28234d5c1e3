// Collects complaints: texts that say what the program did that CUDA forbids or does not promise.
#pragma once

#include <string>
#include <vector>

namespace spillway::test::cuda {

void complain(std::string const& text);  // keeps a text once, and at most 200 texts
std::vector<std::string> complaints();
void forget_complaints();

// Says what this thread does from now on; complaints and traps add this text. It must live until
// the thread's next call of doing(), which may be doing("").
void doing(char const* text);
char const* doing();  // returns "" if nothing was said

}  // namespace spillway::test::cuda
