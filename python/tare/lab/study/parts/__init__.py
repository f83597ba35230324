"""The sections of a report, one subject a module: functions of an Analysis that make a Section, or none."""
