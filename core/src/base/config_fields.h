/* The fields of a config and the limits of each. A module lists them once, in its source:

       #define FIELDS(OTHER, RANGE, ...)                                  \
           OTHER(schema, "must not be NULL")                              \
           RANGE(__VA_ARGS__, UINT, capacity, 1, 65536)
       CW_CONFIG_FIELDS(cw_thing_config, 0x1234, FIELDS, cw_thing_errors)

   From the list come the table that CW_CHECK_FIELDS reads, an error for each field (ERROR_schema)
   and its sentence. Limits are plain numbers or names of such, because the sentences show them, and
   a float must hold them. A rule that is no range is OTHER, and its module checks it.

   The errors of a list are numbered from the given one on, and no two lists may overlap: each layer
   has 256 numbers, from CW_ERROR_CONFIG on. */
#ifndef CAUSEWAY_CONFIG_FIELDS_H
#define CAUSEWAY_CONFIG_FIELDS_H

#include "base/error_texts.h"

#include <stddef.h>

enum cw_config_rule {
    CW_CONFIG_OTHER,
    CW_CONFIG_UINT,   /* uint32_t */
    CW_CONFIG_AUTO,   /* uint32_t, or CW_AUTO */
    CW_CONFIG_POWER,  /* uint32_t, a power of two */
    CW_CONFIG_REAL,   /* double */
    CW_CONFIG_ABOVE,  /* double; the lowest itself is not allowed */
    CW_CONFIG_AMOUNT, /* double, finite and not negative; its limits are not looked at */
};

struct cw_config_field {
    uint16_t offset;
    uint8_t rule; /* an enum cw_config_rule */
    float lowest, highest;
};

/* Returns CW_OK, or the error of the first field that is out of its range. NaN is out of every
   range. */
enum cw_error cw_config_check(const void *config, const struct cw_config_field *fields,
                              uint32_t count, uint32_t first_error);

#define CW_CONFIG_FIELDS(config, first_error, FIELDS, errors)                                      \
    static const struct cw_config_field fields[] = {                                               \
        FIELDS(CW_OTHER_FIELD, CW_RANGE_FIELD, config)};                                           \
    CW_CONFIG_ERRORS(first_error, FIELDS, errors)

/* Does the same for a list that has no ranges. */
#define CW_CONFIG_ERRORS(first_error, FIELDS, errors)                                              \
    enum { ERROR_BEFORE = (first_error)-1, FIELDS(CW_OTHER_ERROR, CW_RANGE_ERROR, ) };             \
    CW_ERROR_TEXTS(errors, ERROR_BEFORE + 1, FIELDS(CW_OTHER_TEXT, CW_RANGE_TEXT, ))

#define CW_CHECK_FIELDS(config)                                                                    \
    cw_config_check(config, fields, sizeof fields / sizeof *fields, ERROR_BEFORE + 1)

/* The error for a field of the list. */
#define CW_FIELD_ERROR(name) ((enum cw_error)ERROR_##name)

#define CW_OTHER_ERROR(name, sentence) ERROR_##name,
#define CW_OTHER_FIELD(name, sentence) {0, CW_CONFIG_OTHER, 0, 0},
#define CW_OTHER_TEXT(name, sentence)  #name " " sentence "\0"

#define CW_RANGE_ERROR(config, rule, name, low, high) ERROR_##name,
#define CW_RANGE_FIELD(config, rule, name, low, high)                                              \
    {offsetof(struct config, name), CW_CONFIG_##rule, low, high},
#define CW_RANGE_TEXT(config, rule, name, low, high) #name " " CW_RULE_##rule(low, high) "\0"

#define CW_RULE_UINT(low, high)   "must be from " #low " to " #high
#define CW_RULE_AUTO(low, high)   CW_RULE_UINT(low, high)
#define CW_RULE_POWER(low, high)  "must be a power of two from " #low " to " #high
#define CW_RULE_REAL(low, high)   CW_RULE_UINT(low, high)
#define CW_RULE_ABOVE(low, high)  "must be above " #low " and at most " #high
#define CW_RULE_AMOUNT(low, high) "must be finite and not negative"

#endif
