// Files of a stranger's directory: which links are followed, and that nothing is waited for.
#include "io/file/inside.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::inside_test {
namespace {

namespace fs = std::filesystem;

class Inside : public testing::Test {
 protected:
  Inside() {
    fs::remove_all(m_dir);
    put("secret", "secret");
    put("model/plain", "plain");
  }
  ~Inside() override { fs::remove_all(m_dir); }

  void put(fs::path const& name, std::string const& text) const {
    fs::create_directories((m_dir / name).parent_path());
    std::ofstream(m_dir / name) << text;
  }
  void link(fs::path const& to, fs::path const& name) const {
    fs::create_directories((m_dir / name).parent_path());
    fs::remove(m_dir / name);
    fs::create_symlink(to, m_dir / name);
  }
  std::string get(fs::path const& directory, std::string const& name) const {
    return read_inside(m_dir / directory, name, 100);
  }
  // The line with which it is refused; empty where it is read.
  std::string refusal(fs::path const& directory, std::string const& name) const {
    try {
      get(directory, name);
      return "";
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::bad_input);
      std::string const line = error.what();
      EXPECT_EQ(line.find('\n'), line.npos);
      EXPECT_EQ(line.rfind((m_dir / directory / name).string() + ": ", 0), 0u) << line;
      return line;
    }
  }
  void expect_outside(fs::path const& directory, std::string const& name) const {
    EXPECT_NE(refusal(directory, name).find("leads out of its directory"), std::string::npos)
        << refusal(directory, name);
  }

  fs::path const m_dir = fs::canonical(testing::TempDir()) / "spillway_inside";
};

TEST_F(Inside, links_that_stay_there_are_followed) {
  link("plain", "model/relative");
  link(m_dir / "model/plain", "model/absolute");
  link("../model/plain", "model/around");
  link("relative", "model/chain");
  put("model/sub/deep", "deep");
  link("sub/deep", "model/deep");
  for (auto const* name : {"plain", "relative", "absolute", "around", "chain"})
    EXPECT_EQ(get("model", name), "plain") << name;
  EXPECT_EQ(get("model", "deep"), "deep");
  link("model", "named");  // the user's own word
  EXPECT_EQ(get("named", "plain"), "plain");
  EXPECT_EQ(get("named", "relative"), "plain");
}

TEST_F(Inside, links_that_lead_out_are_refused_by_name) {
  link("../secret", "model/relative");
  link(m_dir / "secret", "model/absolute");
  link("relative", "model/chain");
  link("..", "model/folder");
  link("folder/secret", "model/through");
  put("modelled/near", "near");  // its name begins alike
  link("../modelled/near", "model/near");
  for (auto const* name : {"relative", "absolute", "chain", "through", "near"})
    expect_outside("model", name);
  link("../model", "model/back");
  link("back/plain", "model/home");
  EXPECT_EQ(get("model", "home"), "plain");
}

TEST_F(Inside, the_hubs_cache_keeps_its_files_beside_the_snapshots) {
  fs::path const entry = "hub/models--a--b", revision = entry / "snapshots/0123";
  put(entry / "blobs/sum", "blob");
  put("hub/models--c--d/blobs/sum", "another's");
  put(entry / "refs/main", "0123");
  link("../../blobs/sum", revision / "file");
  EXPECT_EQ(get(revision, "file"), "blob");
  link(m_dir / revision, "named");
  EXPECT_EQ(get("named", "file"), "blob");

  link("../../refs/main", revision / "ref");
  link("../../../models--c--d/blobs/sum", revision / "other");
  link(m_dir / "secret", entry / "blobs/leads-out");
  link("../../blobs/leads-out", revision / "chain");
  for (auto const* name : {"ref", "other", "chain"}) expect_outside(revision, name);

  // What is called blobs elsewhere is anybody's.
  put("other/blobs/sum", "blob");
  link("../../blobs/sum", "other/snapshots/0123/file");
  expect_outside("other/snapshots/0123", "file");
}

TEST_F(Inside, what_is_no_file_is_named_and_not_waited_for) {
  ASSERT_EQ(::mkfifo((m_dir / "model/pipe").c_str(), 0600), 0);
  link("pipe", "model/piped");
  fs::create_directory(m_dir / "model/folder");
  link("nowhere", "model/dangling");
  link("circle", "model/circle");
  for (auto const& [name, why] :
       {std::pair("pipe", "is a pipe, not a file"), std::pair("piped", "is a pipe, not a file"),
        std::pair("folder", "is a directory, not a file"),
        std::pair("dangling", "cannot be read: No such file"),
        std::pair("circle", "cannot be read: Too many levels"),
        std::pair("missing", "cannot be read: No such file")})
    EXPECT_NE(refusal("model", name).find(why), std::string::npos) << refusal("model", name);
  link("/dev/zero", "model/device");
  expect_outside("model", "device");
  EXPECT_NE(refusal("no-directory", "plain"), "");
  put("model/large", std::string(101, 'x'));
  EXPECT_NE(refusal("model", "large").find("is larger than"), std::string::npos);
}

// As of a file that is named without its directory.
TEST_F(Inside, a_directory_without_a_name_is_the_one_in_which_the_process_is) {
  link("plain", "model/relative");
  link("../secret", "model/out");
  struct There {
    explicit There(fs::path const& directory) { fs::current_path(directory); }
    ~There() { fs::current_path(before); }
    fs::path const before = fs::current_path();
  } const there(m_dir / "model");
  for (auto const* name : {"plain", "relative"}) EXPECT_EQ(read_inside("", name, 5), "plain");
  EXPECT_EQ(test::refused_with([] { read_inside("", "out", 100); }),
            "out: leads out of its directory, to " + (m_dir / "secret").string() +
                ": put the file there instead of the link");
}

TEST_F(Inside, only_snapshots_of_the_hubs_cache_show_blobs) {
  fs::path const entry = "hub/models--a--b";
  put(entry / "blobs/sum", "blob");
  for (auto const* folder : {"branches/0123", "snapshots/0123/deep"}) {
    auto const name =
        folder == std::string("branches/0123") ? "../../blobs/sum" : "../../../blobs/sum";
    link(name, entry / folder / "file");
    expect_outside(entry / folder, "file");
  }
}

}  // namespace
}  // namespace spillway::inside_test
