/* Expressions over the numbers that a struct has already got, for fields that depend on them. They
   are short programs for a stack of numbers, as bytes that end with a 0. There are no loops or
   jumps in them, so what one costs is known when it is made. */
#ifndef CAUSEWAY_SCHEMA_EXPRESSION_H
#define CAUSEWAY_SCHEMA_EXPRESSION_H

#include "causeway/schema.h"

/* The most bytes of an expression before its 0, and the most values that it may hold at once. */
#define CW_EXPRESSION_MAX_SIZE 128
#define CW_EXPRESSION_STACK    8
#define CW_EXPRESSION_LEAST    192

/* An operation is one byte, which works on the value on top of the stack and the one below. Bytes
   from 128 on are parts of a number: those below 192 push their low 6 bits, and the others put
   theirs behind what the number has. Before everything else, CW_EXPRESSION_LEAST does nothing: it
   says that what follows is the least number, not the number itself. */
enum cw_operation {
    CW_OPERATION_END,
    CW_OPERATION_FIELD, /* pushes a field that is as many back as the next byte says */
    CW_OPERATION_NOT,
    CW_OPERATION_SAME,
    CW_OPERATION_BELOW,
    CW_OPERATION_MOST,
    CW_OPERATION_BITS,
    CW_OPERATION_LEFT,
    CW_OPERATION_RIGHT,
    CW_OPERATION_ADD,
    CW_OPERATION_SUBTRACT,
    CW_OPERATION_MULTIPLY,
    CW_OPERATION_DIVIDE,
    CW_OPERATION_REST
};

/* Loads the value of a field that always has one, of the struct or, when that is NULL, 0. Returns
   false for a field that is no single integer or bool. */
bool cw_expression_load(const struct cw_field *field, const uint8_t *structure, int64_t *value);

/* Works out the expression of a field that has as many fields before it. With a NULL structure, the
   fields count as 0. Returns false for bytes that are no expression of them; whatever succeeds so
   succeeds for every struct: numbers wrap at 64 bits, and what is divided by 0 becomes 0. */
bool cw_expression_value(const char *expression, const struct cw_field *field, uint32_t before,
                         const uint8_t *structure, int64_t *value);

/* Makes the expression of the field at index from its text, as causeway/schema.h has it, in a
   buffer of CW_EXPRESSION_MAX_SIZE + 1 bytes. Returns the expression, which is the text itself when
   that is none yet to be made, as in the types of a schema; NULL for a text that is none. */
const char *cw_expression_make(const char *text, const struct cw_message_type *type, uint32_t index,
                               char *out);

/* Makes a schema as cw_schema_create does, with the expressions of texts made by this function;
   NULL: all are made. Pages make theirs in TypeScript, and have no code for it. */
typedef const char *cw_expression_maker(const char *text, const struct cw_message_type *type,
                                        uint32_t index, char *out);
enum cw_error cw_schema_make(const struct cw_schema_config *config, cw_expression_maker *make,
                             struct cw_schema **schema);

#endif
