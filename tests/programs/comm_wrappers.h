#pragma once

void comm_barrier(void);
double comm_sum(double value);
void comm_share(double* values, int count);
