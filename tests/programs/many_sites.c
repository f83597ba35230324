/* many_sites: calls MPI from 20,000 call sites, twice; 2 ranks; prints "ok". tests/integration/test_full_tables.py knows it. */
#include <mpi.h>
#include <stdio.h>

static double in[1], out[1];

#define ONE MPI_Reduce_local(in, out, 1, MPI_DOUBLE, MPI_SUM);
#define TEN(x) x x x x x x x x x x
#define THOUSAND TEN(TEN(TEN(ONE)))

static void thousand_0(void) { THOUSAND }
static void thousand_1(void) { THOUSAND }
static void thousand_2(void) { THOUSAND }
static void thousand_3(void) { THOUSAND }
static void thousand_4(void) { THOUSAND }
static void thousand_5(void) { THOUSAND }
static void thousand_6(void) { THOUSAND }
static void thousand_7(void) { THOUSAND }
static void thousand_8(void) { THOUSAND }
static void thousand_9(void) { THOUSAND }
static void ten_thousand(void) {
  thousand_0(), thousand_1(), thousand_2(), thousand_3(), thousand_4();
  thousand_5(), thousand_6(), thousand_7(), thousand_8(), thousand_9();
}
static void another_0(void) { THOUSAND }
static void another_1(void) { THOUSAND }
static void another_2(void) { THOUSAND }
static void another_3(void) { THOUSAND }
static void another_4(void) { THOUSAND }
static void another_5(void) { THOUSAND }
static void another_6(void) { THOUSAND }
static void another_7(void) { THOUSAND }
static void another_8(void) { THOUSAND }
static void another_9(void) { THOUSAND }
static void another_ten_thousand(void) {
  another_0(), another_1(), another_2(), another_3(), another_4();
  another_5(), another_6(), another_7(), another_8(), another_9();
}

__attribute__((noinline)) static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) {
    if (i > 0) {
      ten_thousand();
      another_ten_thousand();
    }
    barrier(); /* the same call path each time */
  }
  /* The table is full. */
  for (int i = 0; i < 3; i++) MPI_Bcast(in, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Sendrecv(in, 1, MPI_DOUBLE, 1 - rank, 0, out, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) printf("ok\n");
  MPI_Finalize();
  return 0;
}
