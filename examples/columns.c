/* columns FILE: a matrix that a file has row by row, read by columns, and then by rows. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { size = 256 };

int main(int argc, char** argv) {
  static double matrix[size][size], column[size];
  FILE* to = argc == 2 ? fopen(argv[1], "w") : NULL;
  if (to == NULL || fwrite(matrix, sizeof matrix, 1, to) != 1 || fclose(to) != 0) return EXIT_FAILURE;
  const int file = open(argv[1], O_RDONLY);
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++)
      if (pread(file, &column[j], sizeof(double), (off_t)sizeof(double) * (j * size + i)) != sizeof(double))
        return EXIT_FAILURE;
  if (lseek(file, 0, SEEK_SET) != 0) return EXIT_FAILURE;
  for (int i = 0; i < size; i++)
    if (read(file, matrix[i], sizeof matrix[i]) != sizeof matrix[i]) return EXIT_FAILURE;
  return close(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
