"""What limits a program: findings, each of which tables of its run bear out (docs/analyses.md)."""
