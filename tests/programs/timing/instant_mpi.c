/* instant_mpi: an MPI whose beginning and end take no time, so that what remains is the timing library. */
int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
int PMPI_Init(int* argc, char*** argv) { return MPI_Init(argc, argv); }
int MPI_Finalize(void) { return 0; }
int PMPI_Finalize(void) { return 0; }
