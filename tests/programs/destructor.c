/* destructor: calls MPI only through destructor_library; prints "ok". */
#include <stdio.h>

void library_call(void);

int main(void) {
  for (int i = 0; i < 5; i++) library_call();
  printf("ok\n");
  return 0;
}
