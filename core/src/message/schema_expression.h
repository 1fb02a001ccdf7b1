/* Expressions over the numbers that a struct has already got, for fields that depend on them: made
   once from their text, and worked out with a stack of fixed size. There are no loops or jumps in
   them, so what one costs is known when it is made. */
#ifndef CAUSEWAY_SCHEMA_EXPRESSION_H
#define CAUSEWAY_SCHEMA_EXPRESSION_H

#include "causeway/schema.h"

/* The number of operations and the values held at once are limited. */
#define CW_EXPRESSION_OPERATIONS 32
#define CW_EXPRESSION_STACK      8

/* An operation on the values on top of the stack. The last of an expression has code 0. */
struct cw_operation {
    uint8_t code;
    int64_t value; /* the number itself, or the offset of a field */
};

/* Makes the expression of a text about the fields of the type before the one at index, in a struct
   at the offset. Returns the number of operations with the last one, 0 when the text is none. out
   has room for one more than CW_EXPRESSION_OPERATIONS. */
uint32_t cw_expression_make(const char *text, const struct cw_message_type *type, uint32_t index,
                            uint32_t offset, struct cw_operation *out);

/* Works out an expression. It has a value for every message: numbers wrap at 64 bits, and what is
   divided by 0 becomes 0. */
int64_t cw_expression_value(const struct cw_operation *expression, const uint8_t *message);

#endif
