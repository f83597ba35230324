"""How often ranks can hand over their profiles: monitoring trees measured, predicted and reported."""
