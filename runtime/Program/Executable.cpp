// Section look-up in a 64-bit little-endian ELF file; every offset is checked against the file's length.
#include "runtime/Program/Executable.h"
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace hocket::program {

using runtime::Error;
using runtime::invalid;
using runtime::Result;
using runtime::Status;

void ExecutableProgram::Free::operator()(uint8_t *bytes) const {
  ::operator delete[](bytes, std::align_val_t(fileAlignment));
}

namespace {
constexpr char sealMark[8] = {'H', 'O', 'C', 'K', 'S', 'E', 'A', 'L'};
struct Seal {
  char mark[8];
  uint64_t checksum;
};

class ElfFile {
public:
  // Messages speak of `name`.
  ElfFile(const std::string &file, const std::string &name)
      : path(name), file(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ElfFile(const ElfFile &) = delete;
  ~ElfFile() {
    if (file >= 0)
      ::close(file);
  }

  Status openHeader() {
    struct stat info{};
    if (file < 0 || ::fstat(file, &info) != 0)
      return invalid(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
    if (!S_ISREG(info.st_mode))
      return invalid(fmt::format("'{}' is not a regular file", path));
    length = static_cast<uint64_t>(info.st_size);
    if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
      return invalid(fmt::format("'{}' is not an executable made by hocket compile: it is no ELF file", path));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      return invalid(
          fmt::format("'{}' is not an executable made by hocket compile: not 64-bit little-endian ELF", path));
    return {};
  }

  Result<Elf64_Shdr> section(const char *name) const {
    Elf64_Shdr names;
    if (header.e_shstrndx >= header.e_shnum || !read(headerOffset(header.e_shstrndx), &names, sizeof names))
      return truncated();
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      if (!read(headerOffset(i), &section, sizeof section))
        return truncated();
      char found[sizeof programSection] = {};
      if (section.sh_name < names.sh_size && read(names.sh_offset + section.sh_name, found, std::strlen(name) + 1) &&
          std::memcmp(found, name, std::strlen(name) + 1) == 0)
        return section;
    }
    return invalid(fmt::format("'{}' is not an executable made by hocket compile: it has no section {}", path, name));
  }

  bool read(uint64_t offset, void *to, uint64_t bytes) const {
    if (offset > length || bytes > length - offset)
      return false;
    for (uint64_t done = 0; done < bytes;) {
      ssize_t count = ::pread(file, static_cast<char *>(to) + done, bytes - done, static_cast<off_t>(offset + done));
      if (count <= 0)
        return false;
      done += static_cast<uint64_t>(count);
    }
    return true;
  }

  // A seal that does not fit the bytes before it; nothing where its mark is not found.
  Status checkSeal() const {
    Seal seal;
    if (!hasMark(seal))
      return {};
    std::vector<uint8_t> bytes(length - sizeof seal);
    if (!read(0, bytes.data(), bytes.size()))
      return truncated();
    if (uint64_t found = checksum(bytes); found != seal.checksum)
      return invalid(fmt::format("'{}' is damaged: its {} bytes have the checksum {:016x}, its seal says {:016x}", path,
                                 bytes.size(), found, seal.checksum));
    return {};
  }

  // Without its mark nothing says whether the bytes before it are those that were written. The section headers end the
  // file that the linker made; the seal comes next.
  Status checkMark() const {
    Seal seal;
    if (hasMark(seal))
      return {};
    uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * sizeof(Elf64_Shdr);
    if (length == end + sizeof seal)
      return invalid(fmt::format("'{}' is damaged: its last {} bytes do not begin with the mark of a seal, {}", path,
                                 sizeof seal, std::string_view(sealMark, sizeof sealMark)));
    return invalid(fmt::format("'{}' has no seal: its {} bytes should end with the {} that hocket compile wrote; they "
                               "are cut off, or the file was written anew by another program",
                               path, length, sizeof seal));
  }

  Error truncated() const {
    return invalid(
        fmt::format("'{}' is truncated: its {} bytes end before what its ELF header announces", path, length));
  }

private:
  bool hasMark(Seal &seal) const {
    return length >= sizeof seal && read(length - sizeof seal, &seal, sizeof seal) &&
           std::memcmp(seal.mark, sealMark, sizeof sealMark) == 0;
  }
  uint64_t headerOffset(unsigned index) const { return header.e_shoff + index * sizeof(Elf64_Shdr); }

  const std::string &path;
  int file;
  uint64_t length = 0;
  Elf64_Ehdr header{};
};
} // namespace

Status sealExecutable(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
  Seal seal;
  std::memcpy(seal.mark, sealMark, sizeof sealMark);
  seal.checksum = checksum(bytes);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char *>(&seal), sizeof seal).flush();
  if (!in || !out)
    return Error{runtime::ErrorKind::Lacking, fmt::format("cannot seal '{}': {}", path, std::strerror(errno)), {}};
  return {};
}

Status checkSeal(const std::string &path, const std::string &name) {
  ElfFile elf(path, name);
  if (Status opened = elf.openHeader(); !opened)
    return opened;
  Status sound = elf.checkSeal();
  return sound ? elf.checkMark() : std::move(sound);
}

Result<ExecutableProgram> readExecutable(const std::string &path) {
  ElfFile elf(path, path);
  if (Status opened = elf.openHeader(); !opened)
    return opened.error();
  if (Status sound = elf.checkSeal(); !sound)
    return sound.error();
  Result<Elf64_Shdr> section = elf.section(programSection);
  if (!section)
    return section.error();
  // The length in a section header may be anything; take no memory before it is known to lie within the file.
  uint8_t probe;
  if (section->sh_size == 0 || section->sh_size > (uint64_t(1) << 32) ||
      !elf.read(section->sh_offset + section->sh_size - 1, &probe, 1))
    return elf.truncated();
  ExecutableProgram result;
  result.bytes.reset(static_cast<uint8_t *>(::operator new[](section->sh_size, std::align_val_t(fileAlignment))));
  if (!elf.read(section->sh_offset, result.bytes.get(), section->sh_size))
    return elf.truncated();
  if (Status marked = elf.checkMark(); !marked)
    return marked.error();
  Opened opened = open({result.bytes.get(), section->sh_size});
  if (!opened.program) {
    std::string all;
    for (const std::string &fault : opened.faults)
      all += fmt::format("{}'{}': {}", all.empty() ? "" : "\n", path, fault);
    return invalid(all);
  }
  result.program = opened.program;
  return result;
}

} // namespace hocket::program
