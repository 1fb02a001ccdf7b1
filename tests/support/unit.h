/* Headers that cmocka wants to be included before its own. */
#ifndef CAUSEWAY_TESTS_UNIT_H
#define CAUSEWAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The macro serves both kinds of errors: CW_OK and CW_PROTOCOL_OK are 0. */
#define assert_ok(call) assert_int_equal(call, 0)

/* Returns whether two numbers are the same double. Where arithmetic has more bits, as on the x87, a
   constant in an expression has them too. */
static inline bool unit_same(double a, double b)
{
    return a == b;
}

#endif
