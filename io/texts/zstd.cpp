#include <zstd.h>

#include <array>
#include <utility>

#include "base/cannot_give.hpp"
#include "io/texts/unpack.hpp"

namespace spillway {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
};

// A file of zstd has one frame or several, one behind the other.
class Zstd final : public ByteSource {
 public:
  Zstd(std::unique_ptr<ByteSource> packed, std::filesystem::path path)
      : m_packed(std::move(packed)), m_path(std::move(path)), m_stream(ZSTD_createDStream()) {
    if (!m_stream) throw no_more_memory();
  }

  std::size_t read(std::span<std::byte> to) override {
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    while (out.pos < out.size && (m_holds_back || has_more())) {
      auto const result = ZSTD_decompressStream(m_stream.get(), &out, &m_in);
      if (ZSTD_isError(result) != 0) cannot_unpack(m_path, ZSTD_getErrorName(result));
      m_is_in_frame = result != 0;
      m_holds_back = m_is_in_frame && out.pos == out.size;  // comes without more input
    }
    return out.pos;
  }
  std::int64_t file_bytes() const override { return m_packed->file_bytes(); }

 private:
  bool has_more() {
    if (m_in.pos < m_in.size) return true;
    m_in = {m_buffer.data(), m_packed->read(m_buffer), 0};
    if (m_in.size == 0 && m_is_in_frame) cannot_unpack(m_path, "the file ends too early");
    return m_in.size > 0;
  }

  std::unique_ptr<ByteSource> m_packed;
  std::filesystem::path m_path;
  std::unique_ptr<ZSTD_DStream, FreeStream> m_stream;
  ZSTD_inBuffer m_in{nullptr, 0, 0};
  bool m_is_in_frame = true, m_holds_back = false;
  std::array<std::byte, 1 << 16> m_buffer{};
};

}  // namespace

std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed,
                                        std::filesystem::path const& path) {
  return std::make_unique<Zstd>(std::move(packed), path);
}

}  // namespace spillway
