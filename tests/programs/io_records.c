/* Uses files in known ways, which an export has to tell: io_records DIRECTORY. Rank 0 through POSIX and stdio, all
 * ranks through MPI-IO. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char data[4096];

static int is(long found, long wanted) {
  return found == wanted ? 0 : (fprintf(stderr, "%ld != %ld\n", found, wanted), 1);
}

static int posix_file(void) {
  int failed = 0;
  int file = open("posix", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  failed += is(write(file, data, 100), 100);
  failed += is(lseek(file, -90, SEEK_END), 10);
  failed += is(read(file, data, 50), 50);
  failed += is(pread(file, data, 60, 70), 30);
  failed += is(fsync(file), 0);
  failed += is(close(file), 0);
  failed += is(read(file, data, 1), -1);
  file = open("posix", O_RDONLY); /* the same descriptor and file */
  failed += is(read(file, data, 4096), 100);
  failed += is(close(file), 0);
  return failed;
}

static int stream(void) {
  FILE* file = fopen("stream", "w");
  int failed = is((long)fwrite(data, 10, 3, file), 3);
  failed += is(fseek(file, 5, SEEK_SET), 0);
  failed += is(fprintf(file, "%s\n", "seven.."), 8);
  return failed + is(fclose(file), 0);
}

static int inherited(int ends[2]) {
  int failed = is(write(ends[1], data, 7), 7);
  return failed + is(read(ends[0], data, 16), 7);
}

static int of_mpi(int rank) {
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  int failed = is(MPI_File_write_at_all(file, 64 * rank, data, 64, MPI_BYTE, &status), MPI_SUCCESS);
  failed += is(MPI_File_iwrite_at(file, 1000 + 32 * rank, data, 32, MPI_BYTE, &request), MPI_SUCCESS);
  failed += is(MPI_Wait(&request, &status), MPI_SUCCESS);
  failed += is(MPI_File_sync(file), MPI_SUCCESS);
  failed += is(MPI_File_read_at_all_begin(file, 0, data, 16, MPI_BYTE), MPI_SUCCESS);
  failed += is(MPI_File_read_at_all_end(file, data, &status), MPI_SUCCESS);
  failed += is(MPI_File_read_at(file, 0, data, 8, MPI_BYTE, &status), MPI_SUCCESS);
  return failed + is(MPI_File_close(&file), MPI_SUCCESS);
}

int main(int argc, char** argv) {
  int rank, failed = 0, ends[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2 || chdir(argv[1]) != 0 || pipe(ends) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  if (rank == 0) failed = posix_file() + stream() + inherited(ends);
  failed += of_mpi(rank);
  MPI_Finalize();
  return failed != 0;
}
