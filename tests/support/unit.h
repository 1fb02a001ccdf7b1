/* What cmocka wants to be included before it. */
#ifndef CAUSEWAY_TESTS_UNIT_H
#define CAUSEWAY_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
