#include "format/function_meaning.h"

#include <gtest/gtest.h>

#include "format/functions.h"

namespace tare::format {
namespace {

const FunctionMeaning& of(Function function) { return meaning_of(static_cast<unsigned>(function)); }

TEST(FunctionMeaning, IsThatOfTheFunctionWithTheNumber) {
  const FunctionMeaning& send = of(Function::MPI_Send);
  EXPECT_EQ(send.kind, CallClass::send);
  EXPECT_EQ(send.form, CallForm::blocking);
  EXPECT_EQ(send.waits, Waits::buffer);
  EXPECT_FALSE(send.is_rooted || send.is_poll || send.bounds_net_time());
  const FunctionMeaning& reduce = of(Function::MPI_Ireduce_c);
  EXPECT_EQ(reduce.kind, CallClass::collective);
  EXPECT_EQ(reduce.form, CallForm::nonblocking);
  EXPECT_EQ(reduce.waits, Waits::at_root);
  EXPECT_TRUE(reduce.is_rooted);
  EXPECT_TRUE(of(Function::MPI_Testsome).is_poll);
  EXPECT_EQ(of(Function::MPI_Wtime).kind, CallClass::lookup);
}

TEST(FunctionMeaning, SaysWhatBecomesOfMessagesAndRequests) {
  EXPECT_TRUE(of(Function::MPI_Mprobe).is_matched_probe());
  EXPECT_FALSE(of(Function::MPI_Improbe).is_matched_probe());
  EXPECT_FALSE(of(Function::MPI_Probe).is_matched_probe());
  for (const Function receive :
       {Function::MPI_Mrecv, Function::MPI_Imrecv, Function::MPI_Mrecv_c, Function::MPI_Imrecv_c})
    EXPECT_TRUE(of(receive).receives_matched());
  EXPECT_FALSE(of(Function::MPI_Irecv).receives_matched());
  EXPECT_TRUE(of(Function::MPI_Cancel).cancels);
  EXPECT_FALSE(of(Function::MPI_Request_free).cancels);
}

TEST(FunctionMeaning, KnowsOperationsInAllForms) {
  EXPECT_EQ(of(Function::MPI_Ibarrier).operation, Operation::barrier);
  EXPECT_EQ(of(Function::MPI_Rget_c).operation, Operation::get);
  EXPECT_EQ(of(Function::MPI_Comm_idup).operation, Operation::none);
  EXPECT_TRUE(of(Function::MPI_Comm_idup).makes_communicator);
  EXPECT_TRUE(of(Function::MPI_Comm_disconnect).frees_communicator);
  EXPECT_EQ(of(Function::MPI_Win_unlock).completes_accesses, CompletesAccesses::target);
}

// The first and the last number, so that no function has the meaning of another.
TEST(FunctionMeaning, OfTheEnds) {
  EXPECT_STREQ(function_name(mpi_function_count), "MPI_Wtime");
  EXPECT_EQ(meaning_of(mpi_function_count).kind, CallClass::lookup);
  EXPECT_STREQ(function_name(function_count), "omp_workshare");
  EXPECT_EQ(meaning_of(function_count).kind, CallClass::other);
  EXPECT_TRUE(is_of_source(mpi_function_count, "MPI"));
  EXPECT_FALSE(is_of_source(mpi_function_count, "files"));
  EXPECT_TRUE(is_of_source(mpi_function_count + 1, "files"));
  EXPECT_TRUE(is_of_source(static_cast<unsigned>(Function::writev), "files"));
  EXPECT_FALSE(is_of_source(static_cast<unsigned>(Function::writev) + 1, "files"));
  EXPECT_TRUE(is_of_source(function_count, "openmp"));
  EXPECT_FALSE(is_of_source(function_count + 1, "openmp"));
  EXPECT_FALSE(is_of_source(0, "MPI"));
  EXPECT_STREQ(function_name(1), "MPI_Abi_get_fortran_booleans");
  EXPECT_EQ(meaning_of(1).kind, CallClass::lookup);
}

TEST(FunctionMeaning, NetTimeIsBetweenTheseCalls) {
  for (unsigned i = 1; i <= function_count; ++i) {
    const bool bounds =
        i == static_cast<unsigned>(Function::MPI_Init) || i == static_cast<unsigned>(Function::MPI_Init_thread) ||
        i == static_cast<unsigned>(Function::MPI_Finalize) || i == static_cast<unsigned>(Function::MPI_Session_init) ||
        i == static_cast<unsigned>(Function::MPI_Session_finalize);
    EXPECT_EQ(meaning_of(i).bounds_net_time(), bounds) << function_name(i);
  }
}

TEST(FunctionMeaning, LookUpsAreThoseThatAreCounted) {
  for (unsigned i = 1; i <= function_count; ++i)
    EXPECT_EQ(meaning_of(i).kind == CallClass::lookup, is_lookup(i)) << function_name(i);
}

TEST(FunctionMeaning, OfUnknownFunctionsNothingIsKnown) {
  for (const unsigned number : {0U, function_count + 1}) {
    EXPECT_EQ(meaning_of(number).kind, CallClass::other);
    EXPECT_EQ(meaning_of(number).waits, Waits::unknown);
  }
}

}  // namespace
}  // namespace tare::format
