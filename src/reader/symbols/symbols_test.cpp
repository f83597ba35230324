#include "reader/symbols/symbols.h"

#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <filesystem>

#include "reader/symbols/call_targets.h"
#include "reader/symbols/symbol_table.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

int line_of_call;

std::uint64_t return_address() __attribute__((noinline));
std::uint64_t return_address() {
  return reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

}  // namespace

// Not static and not inlined, because the test looks for its name.
__attribute__((noinline)) std::uint64_t the_caller() {
  line_of_call = __LINE__ + 1;
  const std::uint64_t address = return_address();
  asm volatile("");  // prevents a tail call
  return address;
}

[[gnu::always_inline]] inline std::uint64_t inlined() {
  const std::uint64_t address = return_address();
  asm volatile("");
  return address;
}
__attribute__((noinline)) std::uint64_t around_it() {
  {
    const std::uint64_t address = inlined();
    asm volatile("" ::"r"(address));
    return address;
  }
}

namespace {

std::uint64_t load_bias() {
  std::uint64_t bias = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) = info->dlpi_addr;
        return 1;  // stops after the first object, which is the program
      },
      &bias);
  return bias;
}

CodeAddress this_program(std::string build_id = "", std::uint64_t address = the_caller()) {
  return {std::filesystem::read_symlink("/proc/self/exe"), std::move(build_id), address - load_bias()};
}

TEST(Symbolizer, FindsFunctionFileAndLine) {
  const auto symbol = Symbolizer().find(this_program());
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->caller, "tare::reader::the_caller()");
  EXPECT_TRUE(symbol->file.ends_with("symbols_test.cpp")) << symbol->file;
  EXPECT_EQ(symbol->line, static_cast<std::uint32_t>(line_of_call));
}

TEST(Symbolizer, NamesWhatIsInlinedAndWhere) {
  const auto symbol = Symbolizer().find(this_program("", around_it()));
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->caller, "tare::reader::inlined() (inlined in tare::reader::around_it())");
}

TEST(Symbolizer, RefusesAnotherBuild) { EXPECT_FALSE(Symbolizer().find(this_program("another build id"))); }

TEST(Symbolizer, SaysNothingOfWhatItCannotOpen) {
  Symbolizer symbolizer;
  EXPECT_FALSE(symbolizer.find({"/no/such/file", "", 64}));
  const synthetic::TempDir dir;
  ASSERT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(symbolizer.find({dir.path("pipe"), "", 64})) << "which nobody would have written to";
  EXPECT_FALSE(symbolizer.find({"[vdso]", "", 64}));
  EXPECT_FALSE(symbolizer.find({"", "", 64}));
  EXPECT_FALSE(symbolizer.find({"/dev/null", "", 64}));
}

TEST(Symbolizer, FindsWhatACallNames) {
  const auto symbol = Symbolizer().find(this_program());
  ASSERT_TRUE(symbol);
  EXPECT_EQ(demangled(symbol->callee), "tare::reader::(anonymous namespace)::return_address()");
  ASSERT_EQ(symbol->functions.size(), 1U);
  EXPECT_EQ(demangled(symbol->functions[0]), "tare::reader::the_caller()");
}

TEST(TailCalls, AreWhereTheCallNamesAnotherFunction) {
  EXPECT_TRUE(is_tail_call("g", {"f"}));
  EXPECT_FALSE(is_tail_call("f", {"f_alias", "f"}));
  EXPECT_FALSE(is_tail_call("", {"f"})) << "a call through a pointer";
  EXPECT_FALSE(is_tail_call("g", {})) << "a function without symbols";
  // Frames of bindings are left out of call paths.
  for (const char* binding : {"MPI_Send", "PMPI_Send", "mpi_send_", "_ZNK3MPI4Comm7BarrierEv", "ompi_send_f"}) {
    EXPECT_FALSE(is_tail_call_of_mpi(binding)) << binding;
    EXPECT_FALSE(is_tail_call(binding, {"f"})) << binding;
  }
  EXPECT_TRUE(is_tail_call_of_mpi("solver_MPI_Send"));
}

TEST(Demangled, CppAndFortran) {
  EXPECT_EQ(demangled("_ZN1a1bEv"), "a::b()");
  EXPECT_EQ(demangled("__heat_MOD_exchange"), "heat::exchange");
  EXPECT_EQ(demangled("hypre_SMGRelax"), "hypre_SMGRelax");
  EXPECT_EQ(demangled("_Zbroken"), "_Zbroken");
}

TEST(SymbolTable, GivesBackWhatWasStored) {
  std::string payload;
  append_symbol(payload, {"/lib/a.so", "id", 100}, {"f", "/src/a.c", 12});
  append_symbol(payload, {"/lib/a.so", "", 100}, {"g", "", 0});
  SymbolTable table;
  ASSERT_TRUE(table.apply(payload));
  const Symbol* f = table.find({"/lib/a.so", "id", 100});
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->caller, "f");
  EXPECT_EQ(f->file, "/src/a.c");
  EXPECT_EQ(f->line, 12U);
  ASSERT_NE(table.find({"/lib/a.so", "", 100}), nullptr);
  EXPECT_EQ(table.find({"/lib/a.so", "id", 101}), nullptr);
}

TEST(SymbolTable, KeepsWhatTheCallNames) {
  std::string payload;
  append_symbol(payload, {"/lib/a.so", "id", 100}, {"f", "/src/a.c", 12, "g", {"f", "f_alias"}});
  append_symbol(payload, {"/lib/a.so", "id", 200}, {"f", "", 0, "", {"f"}});
  SymbolTable table;
  ASSERT_TRUE(table.apply(payload));
  const Symbol* named = table.find({"/lib/a.so", "id", 100});
  ASSERT_NE(named, nullptr);
  EXPECT_EQ(named->callee, "g");
  EXPECT_EQ(named->functions, (std::vector<std::string>{"f", "f_alias"}));
  const Symbol* unnamed = table.find({"/lib/a.so", "id", 200});
  ASSERT_NE(unnamed, nullptr);
  EXPECT_EQ(unnamed->callee, "");
  EXPECT_EQ(unnamed->functions, std::vector<std::string>{"f"});
}

TEST(SymbolTable, MalformedEntriesAreRefused) {
  std::string payload;
  append_symbol(payload, {"/lib/a.so", "id", 100}, {"f", "/src/a.c", 12});
  for (std::size_t bytes = 1; bytes < payload.size(); ++bytes)
    EXPECT_FALSE(SymbolTable().apply(std::string_view(payload).substr(0, bytes))) << bytes;
}

}  // namespace
}  // namespace tare::reader
