// A library that is no module of this program.
extern "C" [[gnu::visibility("default")]] int strange() {
  return 0;
}
