#include "causeway/native/clock.h"

#include <windows.h>

/* Windows counts in units of 100 ns from the year 1601. */
#define UNITS_PER_SECOND 1e7
#define SECONDS_TO_1970  11644473600.0

double cw_clock_now(void)
{
    LARGE_INTEGER count, per_second;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&per_second);
    return (double)count.QuadPart / (double)per_second.QuadPart;
}

double cw_clock_unix(void)
{
    FILETIME time;
    GetSystemTimePreciseAsFileTime(&time);
    const ULARGE_INTEGER units = {.LowPart = time.dwLowDateTime, .HighPart = time.dwHighDateTime};
    return (double)units.QuadPart / UNITS_PER_SECOND - SECONDS_TO_1970;
}
