"""Overhead studies: runs of programs under tools, in random order within blocks, and what they say.

description -> plan -> session (runner, facts, counts) -> store -> frames -> statistics -> analysis -> report
"""
