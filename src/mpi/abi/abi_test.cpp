// Holds a page against the real header and the real library it describes. Compiled once for each
// installed MPI, with TARE_ABI_HEADER (its header) and TARE_ABI_PAGE (the page's type), and run as a
// single process.

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "mpi/abi/mpich.h"
#include "mpi/abi/openmpi.h"
#include "mpi/abi/standard.h"

#include TARE_ABI_HEADER

namespace {

namespace abi = tare::mpi::abi;
using Page = abi::TARE_ABI_PAGE;

// Same size, and both pointers or both integers: the same registers.
template <typename Ours, typename Theirs>
constexpr bool same_convention =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    (std::is_pointer_v<Theirs> || std::is_integral_v<Theirs> || std::is_enum_v<Theirs>);

#define TARE_SAME_TYPE(type) static_assert(same_convention<Page::type, MPI_##type>, #type)
TARE_SAME_TYPE(Comm);
TARE_SAME_TYPE(Datatype);
TARE_SAME_TYPE(Errhandler);
TARE_SAME_TYPE(File);
TARE_SAME_TYPE(Group);
TARE_SAME_TYPE(Info);
TARE_SAME_TYPE(Message);
TARE_SAME_TYPE(Op);
TARE_SAME_TYPE(Request);
TARE_SAME_TYPE(Win);
TARE_SAME_TYPE(T_enum);
TARE_SAME_TYPE(T_cvar_handle);
TARE_SAME_TYPE(T_pvar_handle);
TARE_SAME_TYPE(T_pvar_session);
TARE_SAME_TYPE(Aint);
TARE_SAME_TYPE(Offset);
TARE_SAME_TYPE(Count);
#if !defined(OMPI_MAJOR_VERSION)
TARE_SAME_TYPE(T_event_registration);
TARE_SAME_TYPE(T_event_instance);
TARE_SAME_TYPE(T_cb_safety);
TARE_SAME_TYPE(T_source_order);
#endif
#if !defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION >= 5
#  define TARE_HAS_SESSIONS 1
TARE_SAME_TYPE(Session);
#endif
// MPICH's mpi_abi.h has no C type for the integer of Fortran.
#if defined(MPI_Fint) || defined(MPICH)
TARE_SAME_TYPE(Fint);
#endif

static_assert(sizeof(Page::Status) == sizeof(MPI_Status));
static_assert(alignof(Page::Status) == alignof(MPI_Status));
static_assert(offsetof(Page::Status, source) == offsetof(MPI_Status, MPI_SOURCE));
static_assert(offsetof(Page::Status, tag) == offsetof(MPI_Status, MPI_TAG));
static_assert(offsetof(Page::Status, error) == offsetof(MPI_Status, MPI_ERROR));

#define TARE_SAME_VALUE(ours, theirs) static_assert(Page::ours == (theirs), #theirs)
TARE_SAME_VALUE(proc_null, MPI_PROC_NULL);
TARE_SAME_VALUE(any_source, MPI_ANY_SOURCE);
TARE_SAME_VALUE(any_tag, MPI_ANY_TAG);
TARE_SAME_VALUE(root, MPI_ROOT);
TARE_SAME_VALUE(undefined, MPI_UNDEFINED);
TARE_SAME_VALUE(lock_shared, MPI_LOCK_SHARED);
TARE_SAME_VALUE(success, MPI_SUCCESS);
TARE_SAME_VALUE(err_arg, MPI_ERR_ARG);
TARE_SAME_VALUE(err_truncate, MPI_ERR_TRUNCATE);
TARE_SAME_VALUE(err_in_status, MPI_ERR_IN_STATUS);
TARE_SAME_VALUE(thread_single, MPI_THREAD_SINGLE);
TARE_SAME_VALUE(thread_funneled, MPI_THREAD_FUNNELED);
TARE_SAME_VALUE(thread_serialized, MPI_THREAD_SERIALIZED);
TARE_SAME_VALUE(thread_multiple, MPI_THREAD_MULTIPLE);
TARE_SAME_VALUE(ident, MPI_IDENT);
TARE_SAME_VALUE(unequal, MPI_UNEQUAL);
TARE_SAME_VALUE(cart, int{MPI_CART});
TARE_SAME_VALUE(graph, int{MPI_GRAPH});
TARE_SAME_VALUE(dist_graph, int{MPI_DIST_GRAPH});
TARE_SAME_VALUE(max_library_version_string, MPI_MAX_LIBRARY_VERSION_STRING);
TARE_SAME_VALUE(max_object_name, MPI_MAX_OBJECT_NAME);

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

void expect_equal(long long ours, long long theirs, const char* what) {
  if (ours == theirs) return;
  ++failures;
  std::printf("FAILED: %s: the page gives %lld, MPI %lld\n", what, ours, theirs);
}

template <typename Ours, typename Theirs>
bool same_bits(Ours ours, Theirs theirs) {
  static_assert(sizeof(Ours) == sizeof(Theirs));
  return std::memcmp(&ours, &theirs, sizeof ours) == 0;
}

Page::Datatype to_page(MPI_Datatype datatype) {
  Page::Datatype same;
  std::memcpy(&same, &datatype, sizeof same);
  return same;
}

Page::Status to_page(const MPI_Status& status) {
  Page::Status same;
  std::memcpy(&same, &status, sizeof same);
  return same;
}

void* global_symbol(const char* symbol, void*) noexcept { return dlsym(RTLD_DEFAULT, symbol); }
void* no_symbol(const char*, void*) noexcept { return nullptr; }

void test_special_values() {
#define TARE_SAME_BITS(ours, theirs) expect(same_bits(Page::ours(), theirs), #theirs)
  TARE_SAME_BITS(comm_world, MPI_COMM_WORLD);
  TARE_SAME_BITS(comm_null, MPI_COMM_NULL);
  TARE_SAME_BITS(request_null, MPI_REQUEST_NULL);
  TARE_SAME_BITS(datatype_byte, MPI_BYTE);
  TARE_SAME_BITS(datatype_null, MPI_DATATYPE_NULL);
  TARE_SAME_BITS(message_null, MPI_MESSAGE_NULL);
  TARE_SAME_BITS(group_null, MPI_GROUP_NULL);
  TARE_SAME_BITS(in_place, MPI_IN_PLACE);
  TARE_SAME_BITS(status_ignore, MPI_STATUS_IGNORE);
  TARE_SAME_BITS(statuses_ignore, MPI_STATUSES_IGNORE);
}

/// What abi.h says of recognising a library.
void test_recognition() {
  Dl_info object{};
  void* init = dlsym(RTLD_DEFAULT, "MPI_Init");
  expect(init != nullptr && dladdr(init, &object) != 0, "MPI_Init lies in an object");
  if (object.dli_fname == nullptr) return;
  const bool named_standard = std::strstr(object.dli_fname, "libmpi_abi.so") != nullptr;
  const bool has_world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") != nullptr;
  const bool has_unweighted = dlsym(RTLD_DEFAULT, "MPI_UNWEIGHTED") != nullptr;
  const abi::Kind recognised = named_standard ? abi::Kind::standard : has_world ? abi::Kind::openmpi : abi::Kind::mpich;
  expect(recognised == Page::kind, "the library is recognised");
  expect(has_unweighted == (Page::kind == abi::Kind::mpich), "only MPICH has MPI_UNWEIGHTED");
}

/// Compares every field a page reads with what MPI's own functions say of the status.
void check_status(const MPI_Status& status, MPI_Count bytes, bool cancelled) {
  const Page::Status ours = to_page(status);
  MPI_Count counted = -2;
  MPI_Get_elements_x(&status, MPI_BYTE, &counted);
  expect_equal(static_cast<long long>(bytes), static_cast<long long>(counted), "the count expected");
  expect_equal(Page::source(ours), status.MPI_SOURCE, "source");
  expect_equal(Page::tag(ours), status.MPI_TAG, "tag");
  expect_equal(static_cast<long long>(Page::byte_count(ours)),
               Page::has_byte_count ? static_cast<long long>(counted) : -1, "byte_count");
  int flag = -1;
  MPI_Test_cancelled(&status, &flag);
  expect(cancelled == (flag != 0), "cancelled as set");
  expect(Page::cancelled(ours) == (Page::has_cancelled && cancelled), "cancelled");
}

void test_status() {
  char out[137] = {};
  char in[200];
  MPI_Status status;
  std::memset(&status, 0x5a, sizeof status);
  status.MPI_ERROR = 7;
  MPI_Sendrecv(out, sizeof out, MPI_BYTE, 0, 4711, in, sizeof in, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
               &status);
  expect_equal(Page::source(to_page(status)), 0, "source of a message");
  expect_equal(Page::tag(to_page(status)), 4711, "tag of a message");
  check_status(status, sizeof out, false);

  // Doubles: the page counts bytes all the same.
  double numbers[3] = {};
  double received[5];
  MPI_Sendrecv(numbers, 3, MPI_DOUBLE, 0, 3, received, 5, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &status);
  check_status(status, sizeof numbers, false);

  std::memset(&status, 0x5a, sizeof status);
  MPI_Recv(in, sizeof in, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  expect_equal(Page::source(to_page(status)), MPI_PROC_NULL, "source of no process");
  check_status(status, 0, false);

  // More than 32 bits, and the mark of a cancelled call beside them.
  const MPI_Count large = (MPI_Count{5} << 32) + 0x80000001;
  MPI_Status_set_elements_x(&status, MPI_BYTE, large);
  check_status(status, large, false);
  MPI_Status_set_cancelled(&status, 1);
  check_status(status, large, true);
}

struct NamedType {
  MPI_Datatype datatype;
  const char* name;
};

#define TARE_TYPE(type) \
  NamedType { type, #type }

/// Every predefined datatype of MPI 5.0, less those the header does not have.
std::vector<NamedType> predefined_types() {
  return {
    TARE_TYPE(MPI_CHAR), TARE_TYPE(MPI_SIGNED_CHAR), TARE_TYPE(MPI_UNSIGNED_CHAR), TARE_TYPE(MPI_BYTE),
        TARE_TYPE(MPI_PACKED), TARE_TYPE(MPI_WCHAR), TARE_TYPE(MPI_SHORT), TARE_TYPE(MPI_UNSIGNED_SHORT),
        TARE_TYPE(MPI_INT), TARE_TYPE(MPI_UNSIGNED), TARE_TYPE(MPI_LONG), TARE_TYPE(MPI_UNSIGNED_LONG),
        TARE_TYPE(MPI_LONG_LONG), TARE_TYPE(MPI_LONG_LONG_INT), TARE_TYPE(MPI_UNSIGNED_LONG_LONG), TARE_TYPE(MPI_FLOAT),
        TARE_TYPE(MPI_DOUBLE), TARE_TYPE(MPI_LONG_DOUBLE), TARE_TYPE(MPI_C_BOOL), TARE_TYPE(MPI_INT8_T),
        TARE_TYPE(MPI_INT16_T), TARE_TYPE(MPI_INT32_T), TARE_TYPE(MPI_INT64_T), TARE_TYPE(MPI_UINT8_T),
        TARE_TYPE(MPI_UINT16_T), TARE_TYPE(MPI_UINT32_T), TARE_TYPE(MPI_UINT64_T), TARE_TYPE(MPI_AINT),
        TARE_TYPE(MPI_COUNT), TARE_TYPE(MPI_OFFSET), TARE_TYPE(MPI_C_COMPLEX), TARE_TYPE(MPI_C_FLOAT_COMPLEX),
        TARE_TYPE(MPI_C_DOUBLE_COMPLEX), TARE_TYPE(MPI_C_LONG_DOUBLE_COMPLEX), TARE_TYPE(MPI_CXX_BOOL),
        TARE_TYPE(MPI_CXX_FLOAT_COMPLEX), TARE_TYPE(MPI_CXX_DOUBLE_COMPLEX), TARE_TYPE(MPI_CXX_LONG_DOUBLE_COMPLEX),
        TARE_TYPE(MPI_FLOAT_INT), TARE_TYPE(MPI_DOUBLE_INT), TARE_TYPE(MPI_LONG_INT), TARE_TYPE(MPI_2INT),
        TARE_TYPE(MPI_SHORT_INT), TARE_TYPE(MPI_LONG_DOUBLE_INT), TARE_TYPE(MPI_CHARACTER), TARE_TYPE(MPI_LOGICAL),
        TARE_TYPE(MPI_INTEGER), TARE_TYPE(MPI_REAL), TARE_TYPE(MPI_DOUBLE_PRECISION), TARE_TYPE(MPI_COMPLEX),
        TARE_TYPE(MPI_DOUBLE_COMPLEX), TARE_TYPE(MPI_2REAL), TARE_TYPE(MPI_2DOUBLE_PRECISION), TARE_TYPE(MPI_2INTEGER),
        TARE_TYPE(MPI_INTEGER1), TARE_TYPE(MPI_INTEGER2), TARE_TYPE(MPI_INTEGER4), TARE_TYPE(MPI_INTEGER8),
        TARE_TYPE(MPI_REAL4), TARE_TYPE(MPI_REAL8), TARE_TYPE(MPI_COMPLEX8), TARE_TYPE(MPI_COMPLEX16),
#if defined(MPI_INTEGER16)
        TARE_TYPE(MPI_INTEGER16),
#endif
#if defined(MPI_REAL2)
        TARE_TYPE(MPI_REAL2),
#endif
#if defined(MPI_REAL16)
        TARE_TYPE(MPI_REAL16),
#endif
#if defined(MPI_COMPLEX4)
        TARE_TYPE(MPI_COMPLEX4),
#endif
#if defined(MPI_COMPLEX32)
        TARE_TYPE(MPI_COMPLEX32),
#endif
#if defined(MPI_LOGICAL1)
        TARE_TYPE(MPI_LOGICAL1), TARE_TYPE(MPI_LOGICAL2), TARE_TYPE(MPI_LOGICAL4), TARE_TYPE(MPI_LOGICAL8),
#endif
#if defined(MPI_LOGICAL16)
        TARE_TYPE(MPI_LOGICAL16),
#endif
#if defined(MPICH)  // removed in MPI 3.0, still there
        TARE_TYPE(MPI_LB), TARE_TYPE(MPI_UB),
#endif
  };
}

void test_builtin_sizes() {
  int compared = 0;
  for (const NamedType& type : predefined_types()) {
    const int ours = Page::builtin_size(to_page(type.datatype));
    if (type.datatype == MPI_DATATYPE_NULL) {
      expect_equal(ours, -1, type.name);
      continue;
    }
    int theirs = -1;
    // Types the library was built without: no program can use them.
    if (MPI_Type_size(type.datatype, &theirs) != MPI_SUCCESS || theirs == MPI_UNDEFINED) {
      std::printf("not in this library: %s\n", type.name);
      continue;
    }
    if (ours == -1) continue;
    ++compared;
    expect_equal(ours, theirs, type.name);
  }
  std::printf("%d predefined datatypes tell their size\n", compared);
  expect((compared > 40) == (Page::kind != abi::Kind::openmpi), "most handles tell their size");
  expect_equal(Page::builtin_size(to_page(MPI_DATATYPE_NULL)), -1, "MPI_DATATYPE_NULL");
}

/// Enough of them to leave every preallocated block of handles behind.
void test_derived_sizes() {
  std::vector<MPI_Datatype> types(5000);
  int wrong = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i % 2 == 0)
      MPI_Type_contiguous(static_cast<int>(i), MPI_INT, &types[i]);
    else
      MPI_Type_dup(MPI_DOUBLE, &types[i]);
    wrong += Page::builtin_size(to_page(types[i])) != -1;
  }
  expect_equal(wrong, 0, "derived datatypes that look predefined");
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

}  // namespace

int main() {
  // Without the library's symbols only Open MPI's page cannot do.
  expect(Page::bind(no_symbol, nullptr) == (Page::kind != abi::Kind::openmpi), "bind to nothing");
  expect(Page::bind(global_symbol, nullptr), "bind");
  test_special_values();
  test_recognition();

  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_special_values();
  test_status();
  test_builtin_sizes();
  test_derived_sizes();
  MPI_Finalize();

  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
