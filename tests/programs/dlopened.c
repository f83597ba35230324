/* dlopened: reaches MPI through dlopen and dlsym alone, as plugins and bindings of other languages do.
 *
 * usage: dlopened handle LIBRARY      MPI from the handle of the library, opened locally
 *        dlopened default LIBRARY     opened globally, and found by RTLD_DEFAULT
 *        dlopened plugin LIBRARY PLUGIN   from a plugin (dlopened_plugin.c) that was linked with MPI and opened locally,
 *                                     by RTLD_DEFAULT; what the library's handle has is asked for before
 *        dlopened other LIBRARY OTHER   MPI_Init of another MPI (dlopened_other.c) is asked for first, and called last
 *        dlopened only LIBRARY        asks, and does not use MPI
 *        dlopened past LIBRARY PLUGIN   a plugin makes all calls that was opened so that they do not pass tare
 *        dlopened namespace LIBRARY   MPI from a namespace of its own (dlmopen)
 * Every rank makes BARRIERS calls of MPI_Barrier and ASKED of MPI_Comm_rank. tests/integration/test_dlsym.py knows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BARRIERS = 5, ASKED = 3 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "dlopened: %s\n", what);
  exit(9);
}

static void* open_library(const char* path, int mode) {
  void* handle = dlopen(path, RTLD_NOW | mode);
  require(handle != NULL, dlerror());
  return handle;
}

static MPI_Comm world(void* library) {
#ifdef OMPI_MPI_H
  return (MPI_Comm)dlsym(library, "ompi_mpi_comm_world");
#else
  (void)library;
  return MPI_COMM_WORLD;
#endif
}

static void call_all(void* from, void* library) {
  int (*init)(int*, char***) = dlsym(from, "MPI_Init");
  int (*rank)(MPI_Comm, int*) = dlsym(from, "MPI_Comm_rank");
  int (*initialized)(int*) = dlsym(from, "MPI_Initialized");
  require(init && rank && initialized, "functions are missing");
  int flag = -1, number = -1;
  initialized(&flag);
  require(flag == 0, "MPI is initialised too early");
  init(NULL, NULL);
  // Asked for once MPI is used.
  int (*barrier)(MPI_Comm) = dlsym(from, "PMPI_Barrier");
  int (*finalize)(void) = dlsym(from, "MPI_Finalize");
  require(barrier && finalize, "functions are missing");
  for (int i = 0; i < ASKED; i++) rank(world(library), &number);
  for (int i = 0; i < BARRIERS; i++) barrier(world(library));
  initialized(&flag);
  require(flag == 1 && number >= 0, "MPI is not initialised");
  finalize();
}

static void nobody_has(void* handle, const char* name) {
  dlerror();
  require(dlsym(handle, name) == NULL, name);
  require(dlerror() != NULL, "dlerror says nothing");
}

int main(int argc, char** argv) {
  require(argc >= 3, "usage");
  const char* mode = argv[1];
  const char* none[] = {"MPI_Init", "PMPI_Init", "MPI_Send", "MPI_Get_version", "MPI_No_such_function"};
  for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
    nobody_has(RTLD_DEFAULT, none[i]);
    nobody_has(RTLD_NEXT, none[i]);
    nobody_has(dlopen(NULL, RTLD_LAZY), none[i]);
  }
  if (!strcmp(mode, "handle")) {
    void* library = open_library(argv[2], RTLD_LOCAL);
    nobody_has(RTLD_DEFAULT, "MPI_Init");
    nobody_has(library, "MPI_No_such_function");
    require(dlsym(library, "MPI_Send") == dlsym(library, "MPI_Send"), "two answers to one question");
    call_all(library, library);
  } else if (!strcmp(mode, "default")) {
    void* library = open_library(argv[2], RTLD_GLOBAL);
    require(dlsym(RTLD_DEFAULT, "MPI_Send") == dlsym(library, "MPI_Send"), "two answers to one question");
    call_all(RTLD_DEFAULT, library);
  } else if (!strcmp(mode, "plugin")) {
    void* library = open_library(argv[2], RTLD_LOCAL);
    require(dlsym(library, "MPI_Init") != NULL, "no MPI_Init");
    void* plugin = open_library(argv[3], RTLD_LOCAL);
    nobody_has(RTLD_DEFAULT, "MPI_Init");
    void* (*find)(const char*) = dlsym(plugin, "plugin_find");
    require(find("MPI_Init") != NULL && find("MPI_Init") == dlsym(plugin, "MPI_Init"), "not found by the plugin");
    call_all(plugin, library);
  } else if (!strcmp(mode, "namespace")) {
    void* library = dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW);
    require(library != NULL, dlerror());
    call_all(library, library);
  } else if (!strcmp(mode, "only")) {
    require(dlsym(open_library(argv[2], RTLD_LOCAL), "MPI_Init") != NULL, "no MPI_Init");
  } else if (!strcmp(mode, "past")) {
    int (*use)(void) = dlsym(open_library(argv[3], RTLD_LOCAL | RTLD_DEEPBIND), "plugin_use");
    require(use() == 0, "MPI failed");
  } else {
    void* other = open_library(argv[3], RTLD_LOCAL);
    int (*init)(int*, char***) = dlsym(other, "MPI_Init");
    require(init != NULL, "no MPI_Init");
    void* library = open_library(argv[2], RTLD_LOCAL);
    call_all(library, library);
    require(init(NULL, NULL) == 42, "this is not the other MPI");
  }
  return 0;
}
