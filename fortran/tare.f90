! tare's recorder for Fortran (2008). Compile this file with your program and link with -ltare_record:
!
!   use tare
!   integer(tare_id) :: solve, step
!   solve = tare_define_region("solve")
!   step = tare_define_event("step", "id")
!   call tare_enter(solve)
!   call tare_record(step, 17, 0.5d0)
!   call tare_leave(solve)
!
! Names may be padded with blanks: trailing ones do not belong to them. See tare.h for what each procedure does.
module tare
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t, &
                                         c_float, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  implicit none
  private

  integer, parameter, public :: tare_id = c_int32_t
  integer, parameter, public :: tare_max_parameters = 10
  integer, parameter, public :: tare_max_raw_bytes = 2048

  public :: tare_start, tare_recording, tare_sample
  public :: tare_pause, tare_resume, tare_flush, tare_progress, tare_offload
  public :: tare_find_sweet_spot, tare_control
  public :: tare_define_region, tare_enter, tare_leave
  public :: tare_define_phase, tare_begin_phase, tare_end_phase
  public :: tare_define_counter, tare_count
  public :: tare_define_marker, tare_mark
  public :: tare_define_event, tare_define_packed, tare_record, tare_record_words, tare_word
  public :: tare_define_raw, tare_record_raw

  ! What is known of the tree of tare run --monitor, for profiles of so many events. Times are seconds; what is not
  ! known is negative. is_bound is 1 where the BOI is that or less; source is how the BOI is known. See tare.h.
  type, bind(c), public :: tare_sweet_spot
    integer(c_int32_t) :: events, source, is_bound
    real(c_double) :: boi, boi_spread
    real(c_double) :: resting_delay, resting_delay_deviation
    real(c_double) :: delay, delay_deviation
    real(c_double) :: direct_cost, direct_cost_deviation
    real(c_double) :: overall_cost, overall_cost_deviation
  end type

  integer(c_int32_t), parameter, public :: tare_spot_unknown = 0, tare_spot_measured = 1, tare_spot_cached = 2, &
    tare_spot_interpolated = 3

  ! A message of a user (tare monitor --send). Texts end at a null character; see tare.h.
  type, bind(c), public :: tare_control_message
    character(kind=c_char) :: name(32)
    integer(c_int32_t) :: type
    integer(c_int64_t) :: integer
    real(c_double) :: real
    character(kind=c_char) :: text(72)
    integer(c_int64_t) :: lost
  end type

  integer(c_int32_t), parameter, public :: tare_control_none = 0, tare_control_integer = 1, tare_control_real = 2, &
    tare_control_text = 3

  ! A parameter as tare_record_words wants it.
  interface tare_word
    module procedure word_of_int8, word_of_int16, word_of_int32, word_of_int64, word_of_float, word_of_double
  end interface

  interface
    subroutine tare_enter(region) bind(c, name="tare_enter")
      import :: tare_id
      integer(tare_id), value :: region
    end subroutine
    subroutine tare_leave(region) bind(c, name="tare_leave")
      import :: tare_id
      integer(tare_id), value :: region
    end subroutine
    subroutine tare_begin_phase(phase) bind(c, name="tare_begin_phase")
      import :: tare_id
      integer(tare_id), value :: phase
    end subroutine
    subroutine tare_end_phase(phase) bind(c, name="tare_end_phase")
      import :: tare_id
      integer(tare_id), value :: phase
    end subroutine
    subroutine tare_count(counter, value) bind(c, name="tare_count")
      import :: tare_id, c_double
      integer(tare_id), value :: counter
      real(c_double), value :: value
    end subroutine
    subroutine tare_mark(marker) bind(c, name="tare_mark")
      import :: tare_id
      integer(tare_id), value :: marker
    end subroutine

    ! The fastest way to record an event: words made by tare_word.
    subroutine tare_record_words(event, words, count) bind(c, name="tare_record")
      import :: tare_id, c_int64_t, c_int
      integer(tare_id), value :: event
      integer(c_int64_t), intent(in) :: words(*)
      integer(c_int), value :: count
    end subroutine

    ! Nothing that this thread does is recorded from here on; or it is again.
    subroutine tare_pause() bind(c, name="tare_pause")
    end subroutine
    subroutine tare_resume() bind(c, name="tare_resume")
    end subroutine
    ! The program has come round, for tare run --weigh.
    subroutine tare_progress() bind(c, name="tare_progress")
    end subroutine
    ! The profile may be handed to the monitor here, for tare run --monitor.
    subroutine tare_offload() bind(c, name="tare_offload")
    end subroutine
    ! Writes what this thread has recorded of the trace.
    subroutine tare_flush() bind(c, name="tare_flush")
    end subroutine

    function c_find_sweet_spot(events, spot) bind(c, name="tare_find_sweet_spot") result(known)
      import :: c_int32_t, c_int, tare_sweet_spot
      integer(c_int32_t), value :: events
      type(tare_sweet_spot), intent(out) :: spot
      integer(c_int) :: known
    end function
    function c_control(message) bind(c, name="tare_control") result(is_there)
      import :: c_int, tare_control_message
      type(tare_control_message), intent(out) :: message
      integer(c_int) :: is_there
    end function
    function c_start(directory) bind(c, name="tare_start") result(status)
      import :: c_ptr, c_int
      type(c_ptr), value :: directory
      integer(c_int) :: status
    end function
    function c_sample(spec) bind(c, name="tare_sample") result(status)
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: spec(*)
      integer(c_int) :: status
    end function
    function c_recording() bind(c, name="tare_recording") result(yes)
      import :: c_int
      integer(c_int) :: yes
    end function
    function c_define_region(name) bind(c, name="tare_define_region") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(tare_id) :: id
    end function
    function c_define_phase(name) bind(c, name="tare_define_phase") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(tare_id) :: id
    end function
    function c_define_counter(name, unit) bind(c, name="tare_define_counter") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(tare_id) :: id
    end function
    function c_define_marker(name) bind(c, name="tare_define_marker") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(tare_id) :: id
    end function
    function c_define_event(name, types) bind(c, name="tare_define_event") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*), types(*)
      integer(tare_id) :: id
    end function
    function c_define_packed(name) bind(c, name="tare_define_packed") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(tare_id) :: id
    end function
    function c_define_raw(name) bind(c, name="tare_define_raw") result(id)
      import :: tare_id, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(tare_id) :: id
    end function
    subroutine c_record_raw(event, text, bytes) bind(c, name="tare_record_raw")
      import :: tare_id, c_char, c_size_t
      integer(tare_id), value :: event
      character(kind=c_char), intent(in) :: text(*)
      integer(c_size_t), value :: bytes
    end subroutine
  end interface

contains

  ! Of profiles of `events` events; without it, of those that the program has. True if the BOI is known.
  logical function tare_find_sweet_spot(spot, events) result(known)
    type(tare_sweet_spot), intent(out) :: spot
    integer(c_int32_t), intent(in), optional :: events
    integer(c_int32_t) :: size
    size = 0
    if (present(events)) size = events
    known = c_find_sweet_spot(size, spot) /= 0
  end function

  ! The next message of a user to this rank. False if there is none. `name` and `text` are padded with blanks.
  logical function tare_control(message, name, text) result(is_there)
    type(tare_control_message), intent(out) :: message
    character(*), intent(out), optional :: name, text
    is_there = c_control(message) /= 0
    if (present(name)) name = text_of(message%name)
    if (present(text)) text = text_of(message%text)
  end function

  pure function text_of(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(size(characters)) :: text
    integer :: i
    text = ""
    do i = 1, size(characters)
      if (characters(i) == c_null_char) exit
      text(i:i) = characters(i)
    end do
  end function

  ! Changes which messages are sampled. 0, or -1 if nothing changes.
  integer function tare_sample(spec) result(status)
    character(*), intent(in) :: spec
    status = c_sample(trim(spec)//c_null_char)
  end function

  ! Begins a run in a new directory, <program>-<time> if none is given. 0, or -1 if it cannot be made.
  integer function tare_start(directory) result(status)
    character(*), intent(in), optional :: directory
    character(kind=c_char, len=:), allocatable, target :: path
    if (present(directory)) then
      path = trim(directory)//c_null_char
      status = c_start(c_loc(path))
    else
      status = c_start(c_null_ptr)
    end if
  end function

  logical function tare_recording() result(yes)
    yes = c_recording() /= 0
  end function

  integer(tare_id) function tare_define_region(name) result(id)
    character(*), intent(in) :: name
    id = c_define_region(trim(name)//c_null_char)
  end function

  integer(tare_id) function tare_define_phase(name) result(id)
    character(*), intent(in) :: name
    id = c_define_phase(trim(name)//c_null_char)
  end function

  integer(tare_id) function tare_define_counter(name, unit) result(id)
    character(*), intent(in) :: name
    character(*), intent(in), optional :: unit
    if (present(unit)) then
      id = c_define_counter(trim(name)//c_null_char, trim(unit)//c_null_char)
    else
      id = c_define_counter(trim(name)//c_null_char, c_null_char)
    end if
  end function

  integer(tare_id) function tare_define_marker(name) result(id)
    character(*), intent(in) :: name
    id = c_define_marker(trim(name)//c_null_char)
  end function

  ! `types`: a letter for each parameter; b, h, i, q: integers of 1, 2, 4, 8 bytes, f: real, d: double precision.
  integer(tare_id) function tare_define_event(name, types) result(id)
    character(*), intent(in) :: name, types
    id = c_define_event(trim(name)//c_null_char, trim(types)//c_null_char)
  end function

  integer(tare_id) function tare_define_packed(name) result(id)
    character(*), intent(in) :: name
    id = c_define_packed(trim(name)//c_null_char)
  end function

  integer(tare_id) function tare_define_raw(name) result(id)
    character(*), intent(in) :: name
    id = c_define_raw(trim(name)//c_null_char)
  end function

  ! Text without its trailing blanks.
  subroutine tare_record_raw(event, text)
    integer(tare_id), intent(in) :: event
    character(*), intent(in) :: text
    call c_record_raw(event, text, int(len_trim(text), c_size_t))
  end subroutine

  ! Integers and reals of any kind that tare_word takes, as the event was defined; the first one missing ends them.
  subroutine tare_record(event, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10)
    integer(tare_id), intent(in) :: event
    class(*), intent(in), optional :: p1, p2, p3, p4, p5, p6, p7, p8, p9, p10
    integer(c_int64_t) :: words(tare_max_parameters)
    integer(c_int) :: count
    count = 0
    if (takes(p1)) then; if (takes(p2)) then; if (takes(p3)) then; if (takes(p4)) then; if (takes(p5)) then
    if (takes(p6)) then; if (takes(p7)) then; if (takes(p8)) then; if (takes(p9)) then; if (takes(p10)) then
    end if; end if; end if; end if; end if; end if; end if; end if; end if; end if
    call tare_record_words(event, words, count)
  contains
    logical function takes(p)
      class(*), intent(in), optional :: p
      takes = present(p)
      if (.not. takes) return
      count = count + 1
      select type (p)
      type is (integer(c_int32_t))
        words(count) = tare_word(p)
      type is (real(c_double))
        words(count) = tare_word(p)
      type is (integer(c_int64_t))
        words(count) = tare_word(p)
      type is (real(c_float))
        words(count) = tare_word(p)
      type is (integer(c_int16_t))
        words(count) = tare_word(p)
      type is (integer(c_int8_t))
        words(count) = tare_word(p)
      class default
        words(count) = 0
      end select
    end function
  end subroutine

  pure integer(c_int64_t) function word_of_int8(value) result(word)
    integer(c_int8_t), intent(in) :: value
    word = int(value, c_int64_t)
  end function

  pure integer(c_int64_t) function word_of_int16(value) result(word)
    integer(c_int16_t), intent(in) :: value
    word = int(value, c_int64_t)
  end function

  pure integer(c_int64_t) function word_of_int32(value) result(word)
    integer(c_int32_t), intent(in) :: value
    word = int(value, c_int64_t)
  end function

  pure integer(c_int64_t) function word_of_int64(value) result(word)
    integer(c_int64_t), intent(in) :: value
    word = value
  end function

  pure integer(c_int64_t) function word_of_float(value) result(word)
    real(c_float), intent(in) :: value
    word = iand(int(transfer(value, 0_c_int32_t), c_int64_t), int(z'ffffffff', c_int64_t))
  end function

  pure integer(c_int64_t) function word_of_double(value) result(word)
    real(c_double), intent(in) :: value
    word = transfer(value, 0_c_int64_t)
  end function

end module tare
