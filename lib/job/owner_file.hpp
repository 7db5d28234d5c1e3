// Says who runs in a directory, where the file system has no flock: a file that its owner renews
// as long as it lives.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "io/file/file.hpp"

namespace spillway {

struct OwnerTimes {
  double renew_s = 5;
  double watch_s = 20;  // several renewals: an owner that nobody can ask and that renews nothing
};

class OwnerFile {
 public:
  // Makes the file. One that is there is its owner's where that lives: a process of this machine
  // that runs, or any that renews it. Else it is taken over, with a word. Throws Error(bad_input)
  // that names the owner, or says what the system said.
  explicit OwnerFile(std::filesystem::path path, OwnerTimes times = {});
  ~OwnerFile();
  OwnerFile(OwnerFile const&) = delete;
  OwnerFile& operator=(OwnerFile const&) = delete;

  // False for good once another job has taken it over: this one was stopped for longer than its
  // patience. Known at the next renewal after that.
  bool is_ours() const { return m_ours; }
  // As is_ours(), but asks the file system now, which may take as long as that does.
  bool is_ours_now() const { return m_ours && lies_there(); }

 private:
  OwnerFile() = default;
  void make();
  void renew();
  void keep_renewing();
  bool lies_there() const;

  std::filesystem::path m_path;
  OwnerTimes m_times;
  FileDescriptor m_file;
  long long m_count = 0;
  off_t m_count_offset = 0;
  std::atomic<bool> m_ours = true;
  std::mutex m_mutex;
  std::condition_variable m_end;
  bool m_ends = false;
  std::thread m_thread;
};

}  // namespace spillway
