/* disturbed: linked to another program, changes what C leaves to a program to change, before main: the locale
 * (-DLOCALE: to that of the environment, which must have a decimal comma), the rounding mode (-DROUNDING), denormal
 * numbers are zero (-DFLUSHING), the time zone and errno (-DZONE). */
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void need(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "disturbed: %s\n", what);
  exit(1);
}

__attribute__((constructor)) static void disturb(void) {
#ifdef LOCALE
  need(setlocale(LC_ALL, "") != NULL, "the locale is not there");
  need(strcmp(localeconv()->decimal_point, ",") == 0, "the locale has no decimal comma");
#endif
#ifdef ROUNDING
  need(fesetround(FE_UPWARD) == 0, "cannot round upward");
#endif
#ifdef FLUSHING
#  if defined(__x86_64__)
  unsigned mode;
  __asm__ volatile("stmxcsr %0" : "=m"(mode));
  mode |= 0x8040;
  __asm__ volatile("ldmxcsr %0" : : "m"(mode));
#  elif defined(__aarch64__)
  unsigned long mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  mode |= 1UL << 24;
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#  endif
#endif
#ifdef ZONE
  need(setenv("TZ", "Asia/Kathmandu", 1) == 0, "cannot set TZ");
  tzset();
  errno = ERANGE;
#endif
  (void)need;
}
