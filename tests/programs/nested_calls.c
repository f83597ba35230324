/* nested_calls: calls that MPI libraries make of other MPI functions, which they call by their names: deprecated
 * functions of their successors, MPI-IO and Sendrecv_replace of whatever they need; and further look-ups. 2 ranks;
 * prints "ok". The comments are explained in c_calls.c. With -DOLD also functions that MPI 3.0 has removed.
 */
// An expectation stands on the very line of its calls, so these lines stay as they are.
// clang-format off
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 100 };

static double out[CELLS], in[CELLS]; /* 8 bytes each */
static int rank, peer;

static void check(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "nested_calls: wrong result: %s\n", what);
        exit(1);
    }
}

#ifdef OLD
static void handle(MPI_Comm *comm, int *error, ...) { (void)comm, (void)error; }

static void removed(void)
{
    int key, found, value = 7, *got, one = 1;
    MPI_Aint place, extent, zero = 0;
    MPI_Datatype type;
    MPI_Errhandler handler;
    MPI_Address(out, &place); /* expect: MPI_Address calls=1 lookup */
    check(place != 0, "an address");
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL); /* expect: MPI_Keyval_create calls=1 */
    MPI_Attr_put(MPI_COMM_WORLD, key, &value); /* expect: MPI_Attr_put calls=1 */
    for (int i = 0; i < 3; i++) MPI_Attr_get(MPI_COMM_WORLD, key, &got, &found); /* expect: MPI_Attr_get calls=3 lookup */
    check(found && *got == 7, "an attribute");
    MPI_Attr_delete(MPI_COMM_WORLD, key); /* expect: MPI_Attr_delete calls=1 */
    MPI_Keyval_free(&key); /* expect: MPI_Keyval_free calls=1 */
    MPI_Errhandler_create(handle, &handler); /* expect: MPI_Errhandler_create calls=1 */
    MPI_Errhandler_set(MPI_COMM_SELF, handler); /* expect: MPI_Errhandler_set calls=1 */
    MPI_Errhandler_free(&handler); /* expect: MPI_Errhandler_free calls=1 lookup */
    for (int i = 0; i < 2; i++) MPI_Errhandler_get(MPI_COMM_SELF, &handler), MPI_Errhandler_free(&handler); /* expect: MPI_Errhandler_get calls=2 lookup; MPI_Errhandler_free calls=2 lookup */
    MPI_Type_hvector(2, 1, 16, MPI_DOUBLE, &type); /* expect: MPI_Type_hvector calls=1 */
    MPI_Type_extent(type, &extent); /* expect: MPI_Type_extent calls=1 lookup */
    check(extent == 24, "an extent");
    MPI_Type_free(&type); /* expect: MPI_Type_free calls=1 since=MPI_Type_hvector */
    MPI_Type_hindexed(1, &one, &zero, MPI_DOUBLE, &type); /* expect: MPI_Type_hindexed calls=1 */
    MPI_Type_free(&type); /* expect: MPI_Type_free calls=1 since=MPI_Type_hvector */
    MPI_Type_struct(1, &one, &zero, (MPI_Datatype[]){MPI_DOUBLE}, &type); /* expect: MPI_Type_struct calls=1 */
    MPI_Type_free(&type); /* expect: MPI_Type_free calls=1 since=MPI_Type_hvector */
}
#else
static void removed(void) {}
#endif

static void files(const char *path)
{
    MPI_File file;
    MPI_Group group;
    MPI_Info info;
    MPI_Datatype element, type;
    MPI_Aint extent;
    MPI_Offset place;
    int mode, size;
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file); /* expect: MPI_File_open calls=1 */
    MPI_Type_contiguous(2, MPI_DOUBLE, &type); /* expect: MPI_Type_contiguous calls=1 */
    MPI_Type_commit(&type); /* expect: MPI_Type_commit calls=1 */
    MPI_File_set_view(file, 0, MPI_DOUBLE, type, "native", MPI_INFO_NULL); /* expect: MPI_File_set_view calls=1 */
    MPI_Type_free(&type); /* expect: MPI_Type_free calls=1 */
    for (int i = 0; i < 2; i++) {
        MPI_File_get_view(file, &place, &element, &type, representation); /* expect: MPI_File_get_view calls=2 lookup */
        if (type != MPI_DOUBLE) MPI_Type_free(&type); /* expect: MPI_Type_free calls=2 */
    }
    check(place == 0 && strcmp(representation, "native") == 0, "a view");
    for (int i = 0; i < 2; i++) MPI_File_get_group(file, &group), MPI_Group_size(group, &size), MPI_Group_free(&group); /* expect: MPI_File_get_group calls=2 lookup; MPI_Group_size calls=2 lookup; MPI_Group_free calls=2 lookup */
    check(size == 2, "the group of a file");
    for (int i = 0; i < 2; i++) MPI_File_get_info(file, &info), MPI_Info_free(&info); /* expect: MPI_File_get_info calls=2 lookup; MPI_Info_free calls=2 lookup */
    for (int i = 0; i < 2; i++) MPI_File_get_type_extent(file, MPI_DOUBLE, &extent); /* expect: MPI_File_get_type_extent calls=2 lookup */
    check(extent == 8, "an extent in a file");
    MPI_File_get_amode(file, &mode); /* expect: MPI_File_get_amode calls=1 lookup */
    MPI_File_preallocate(file, 4096); /* expect: MPI_File_preallocate calls=1 */
    MPI_File_set_size(file, 4096); /* expect: MPI_File_set_size calls=1 */
    MPI_File_get_size(file, &place); /* expect: MPI_File_get_size calls=1 lookup */
    check(place == 4096, "the size of a file");
    MPI_File_write_ordered(file, out, 4, MPI_DOUBLE, MPI_STATUS_IGNORE); /* expect: MPI_File_write_ordered calls=1 bytes=32 */
    MPI_File_close(&file); /* expect: MPI_File_close calls=1 */
}

static void further(void)
{
    MPI_Comm comm;
    MPI_Group group;
    MPI_Info info;
    int inter, length, flag, dimensions[2] = {0, 0}, version, subversion, place;
    char name[MPI_MAX_OBJECT_NAME], processor[MPI_MAX_PROCESSOR_NAME], value[16];
    void *memory;
    for (int i = 0; i < 6; i++) MPI_Sendrecv_replace(in, 20, MPI_DOUBLE, peer, 2, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* expect: MPI_Sendrecv_replace calls=6 bytes=960 */
    MPI_Comm_test_inter(MPI_COMM_WORLD, &inter); /* expect: MPI_Comm_test_inter calls=1 lookup */
    check(!inter, "an intracommunicator");
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length); /* expect: MPI_Comm_get_name calls=1 lookup */
    check(strcmp(name, "MPI_COMM_WORLD") == 0, "a name");
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &flag); /* expect: MPI_Comm_compare calls=1 lookup */
    MPI_Comm_group(MPI_COMM_WORLD, &group); /* expect: MPI_Comm_group calls=1 lookup */
    MPI_Group_rank(group, &place); /* expect: MPI_Group_rank calls=1 lookup */
    check(place == rank, "a rank of a group");
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm); /* expect: MPI_Comm_create calls=1 */
    MPI_Comm_free(&comm); /* expect: MPI_Comm_free calls=1 */
    MPI_Group_free(&group); /* expect: MPI_Group_free calls=1 lookup */
    MPI_Dims_create(2, 2, dimensions); /* expect: MPI_Dims_create calls=1 lookup */
    check(dimensions[0] * dimensions[1] == 2, "dimensions");
    MPI_Get_version(&version, &subversion); /* expect: MPI_Get_version calls=1 lookup */
    MPI_Get_processor_name(processor, &length); /* expect: MPI_Get_processor_name calls=1 lookup */
    MPI_Initialized(&flag); /* expect: MPI_Initialized calls=1 lookup */
    check(flag, "initialised");
    MPI_Info_create(&info); /* expect: MPI_Info_create calls=1 lookup */
    MPI_Info_set(info, "key", "value"); /* expect: MPI_Info_set calls=1 lookup */
    MPI_Info_get(info, "key", 15, value, &flag); /* expect: MPI_Info_get calls=1 lookup */
    check(flag && strcmp(value, "value") == 0, "a value");
    MPI_Info_free(&info); /* expect: MPI_Info_free calls=1 lookup */
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory); /* expect: MPI_Alloc_mem calls=1 */
    MPI_Free_mem(memory); /* expect: MPI_Free_mem calls=1 */
    MPI_Pcontrol(1); /* expect: MPI_Pcontrol calls=1 */
    for (int i = 0; i < 8; i++) MPI_Barrier(MPI_COMM_WORLD); /* expect: MPI_Barrier calls=8 bytes=0 */
    check(MPI_Wtick() > 0, "ticks"); /* expect: MPI_Wtick calls=1 lookup */
}

int main(int argc, char **argv)
{
    int provided, size;
    char path[4096];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); /* expect: MPI_Init_thread calls=1 */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* expect: MPI_Comm_rank calls=1 lookup */
    MPI_Comm_size(MPI_COMM_WORLD, &size); /* expect: MPI_Comm_size calls=1 lookup */
    check(size == 2, "not 2 ranks");
    peer = 1 - rank;
    snprintf(path, sizeof path, "%s.data", argv[0]);
    removed();
    files(path);
    further();
    if (rank == 0) printf("ok\n");
    MPI_Finalize(); /* expect: MPI_Finalize calls=1 */
    return 0;
}
