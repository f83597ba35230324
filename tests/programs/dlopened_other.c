/* An MPI library, as far as MPI_Init goes, beside the one that is used: for programs/dlopened.c. */
int PMPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 42;
}
int MPI_Init(int* argc, char*** argv) __attribute__((alias("PMPI_Init")));
