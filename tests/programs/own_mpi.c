/* A program that has an MPI of its own, linked in. */
int PMPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
int PMPI_Initialized(int* flag) {
  *flag = 1;
  return 0;
}
int main(int argc, char** argv) {
  int flag = 0;
  PMPI_Init(&argc, &argv);
  PMPI_Initialized(&flag);
  return flag - 1;
}
