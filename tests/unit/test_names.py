"""Names of functions as people say them."""

from __future__ import annotations

import pytest
from tare.analysis.rows import Placed
from tare.reporters import names, terminal


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("main", "main"),
        ("hypre_SMGRelax", "hypre_SMGRelax"),
        ("solver::step", "solver::step"),
        ("LAMMPS_NS::CommBrick::forward_comm(int)", "LAMMPS_NS::CommBrick::forward_comm"),
        ("a::Grid<double, 3>::exchange(std::vector<int> const&) const", "a::Grid::exchange"),
        ("void reduce<std::pair<int, int> >(int (*)(int), long)", "reduce"),
        ("unsigned long count<3>()", "count"),
        ("(anonymous namespace)::halo(int)", "(anonymous namespace)::halo"),
        ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"),
        ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"),
        ("bool ns::A<int>::operator<(ns::A<int> const&) const", "ns::A::operator<"),
        ("A::operator unsigned long() const", "A::operator unsigned long"),
        ("f[abi:cxx11](int)", "f"),
        ("f(int) [clone .constprop.0]", "f"),
        ("a > b (odd", "a > b (odd"),
        ("<module>", "<module>"),
    ],
)
def test_short(name: str, short: str) -> None:
    assert names.short(name) == short


def test_inlined_functions_are_short_too() -> None:
    assert names.short_with_inlined("f<int>(int) (inlined in ns::g(long))") == "f (inlined in ns::g)"
    assert names.short_with_inlined("f (inlined in g)") == "f (inlined in g)"


def test_python_is_no_cpp() -> None:
    assert terminal.caller(Placed(caller="outer.<locals>.inner", object="python")) == "outer.<locals>.inner"
    assert terminal.caller(Placed(caller="f<int>(int) (inlined in g(int))", object="/bin/app")) == "f"


def test_long_names_are_cut_on_the_left() -> None:
    assert terminal._cut_cell("LAMMPS_NS::CommBrick::reverse_comm", 20) == "…Brick::reverse_comm"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("void sort_n<Vector<double>, 8, double __vector(8)>(double*, int)", "sort_n"),
        ("compute(int) (inlined in ns::S<int>::run())", "compute (inlined in ns::S::run)"),
        ("(anonymous namespace)::work(int)", "(anonymous namespace)::work"),
        ("<module>", "<module>"),
        ("outer.<locals>.inner", "outer.<locals>.inner"),
        ("(libm.so.6)", "(libm.so.6)"),
    ],
)
def test_functions_that_samples_find(name: str, shown: str) -> None:
    assert names.of_code(name) == shown
