// What src/openmp needs of the interface of OpenMP for tools (OMPT), under the names of OpenMP 5.2, section 19 (OMPT
// Interface). omp-tools.h, which declares all of it, comes with some compilers only.
#pragma once

#include <cstdint>

extern "C" {

union ompt_data_t {
  std::uint64_t value;
  void* ptr;
};

struct ompt_frame_t;
using ompt_wait_id_t = std::uint64_t;
using ompt_callback_t = void (*)();
using ompt_interface_fn_t = void (*)();
using ompt_function_lookup_t = ompt_interface_fn_t (*)(const char* interface_function_name);

enum ompt_callbacks_t : int {
  ompt_callback_parallel_begin = 3,
  ompt_callback_parallel_end = 4,
  ompt_callback_task_create = 5,
  ompt_callback_task_schedule = 6,
  ompt_callback_implicit_task = 7,
  ompt_callback_sync_region_wait = 16,
  ompt_callback_work = 20,
  ompt_callback_mutex_acquire = 26,
  ompt_callback_mutex_acquired = 27,
  ompt_callback_nest_lock = 28,
};

using ompt_set_callback_t = int (*)(ompt_callbacks_t event, ompt_callback_t callback);

enum ompt_scope_endpoint_t : int { ompt_scope_begin = 1, ompt_scope_end = 2, ompt_scope_beginend = 3 };

enum ompt_sync_region_t : int {
  ompt_sync_region_barrier = 1,
  ompt_sync_region_barrier_implicit = 2,
  ompt_sync_region_barrier_explicit = 3,
  ompt_sync_region_barrier_implementation = 4,
  ompt_sync_region_taskwait = 5,
  ompt_sync_region_taskgroup = 6,
  ompt_sync_region_reduction = 7,
  ompt_sync_region_barrier_implicit_workshare = 8,
  ompt_sync_region_barrier_implicit_parallel = 9,
  ompt_sync_region_barrier_teams = 10,
};

enum ompt_work_t : int {
  ompt_work_loop = 1,
  ompt_work_sections = 2,
  ompt_work_single_executor = 3,
  ompt_work_single_other = 4,
  ompt_work_workshare = 5,
  ompt_work_distribute = 6,
  ompt_work_taskloop = 7,
  ompt_work_scope = 8,
  ompt_work_loop_static = 10,
  ompt_work_loop_dynamic = 11,
  ompt_work_loop_guided = 12,
  ompt_work_loop_other = 13,
};

enum ompt_mutex_t : int {
  ompt_mutex_lock = 1,
  ompt_mutex_test_lock = 2,
  ompt_mutex_nest_lock = 3,
  ompt_mutex_test_nest_lock = 4,
  ompt_mutex_critical = 5,
  ompt_mutex_atomic = 6,
  ompt_mutex_ordered = 7,
};

enum ompt_task_flag_t : int { ompt_task_implicit = 0x2, ompt_task_explicit = 0x4 };

enum ompt_task_status_t : int { ompt_task_complete = 1, ompt_task_cancel = 3, ompt_task_detach = 4 };

struct ompt_start_tool_result_t {
  int (*initialize)(ompt_function_lookup_t lookup, int initial_device_num, ompt_data_t* tool_data);
  void (*finalize)(ompt_data_t* tool_data);
  ompt_data_t tool_data;
};
}
