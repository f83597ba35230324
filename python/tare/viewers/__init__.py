"""Other people's viewers, served with a run of ours."""
