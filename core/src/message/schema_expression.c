#include "message/schema_expression.h"

/* Loads the value of a field that always has one: it is neither an option nor an array. */
bool cw_expression_load(const struct cw_field *field, const uint8_t *structure, int64_t *value)
{
    static const uint8_t zeros[8];
    const uint8_t *const from = structure ? structure + field->offset : zeros;
    int32_t small;
    uint32_t word;
    switch (field->kind) {
    case CW_KIND_BOOL:
        *value = *from != 0;
        break;
    case CW_KIND_INT:
        memcpy(&small, from, sizeof small);
        *value = small;
        break;
    case CW_KIND_UINT:
    case CW_KIND_RELATIVE:
        memcpy(&word, from, sizeof word);
        *value = word;
        break;
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        memcpy(value, from, sizeof *value);
        break;
    default:
        return false;
    }
    return !field->optional && field->array == 0;
}

/* Sets the value of an operation on two numbers. */
static bool apply(unsigned operation, int64_t a, int64_t b, int64_t *value)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    uint64_t result;
    switch (operation) {
    case CW_OPERATION_SAME:
        result = x == y;
        break;
    case CW_OPERATION_BELOW:
        result = a < b;
        break;
    case CW_OPERATION_MOST:
        result = a <= b;
        break;
    case CW_OPERATION_BITS:
        result = x & y;
        break;
    case CW_OPERATION_LEFT:
        result = x << (y & 63);
        break;
    case CW_OPERATION_RIGHT:
        result = x >> (y & 63);
        break;
    case CW_OPERATION_ADD:
        result = x + y;
        break;
    case CW_OPERATION_SUBTRACT:
        result = x - y;
        break;
    case CW_OPERATION_MULTIPLY:
        result = x * y;
        break;
    case CW_OPERATION_DIVIDE: /* a division by 0 or -1 gives the product */
        result = y + 1 < 2 ? x * y : (uint64_t)(a / b);
        break;
    case CW_OPERATION_REST:
        result = y + 1 < 2 ? 0 : (uint64_t)(a % b);
        break;
    default:
        return false;
    }
    *value = (int64_t)result;
    return true;
}

bool cw_expression_value(const char *expression, const struct cw_field *field, uint32_t before,
                         const uint8_t *structure, int64_t *value)
{
    const uint8_t *at = (const uint8_t *)expression;
    int64_t stack[CW_EXPRESSION_STACK + 1], top = 0;
    unsigned depth = 0;
    while (*at != CW_OPERATION_END) {
        const unsigned operation = *at++;
        if (operation >= 192) {
            top = (int64_t)((uint64_t)top << 6 | (operation & 63));
        } else if (operation == CW_OPERATION_NOT) {
            top = top == 0;
        } else if (operation >= 128 || operation == CW_OPERATION_FIELD) {
            if (depth == CW_EXPRESSION_STACK)
                return false;
            stack[depth++] = top;
            top = operation & 63;
            if (operation == CW_OPERATION_FIELD &&
                (*at - 1u >= before || !cw_expression_load(field - *at++, structure, &top)))
                return false;
        } else if (depth < 2 || !apply(operation, stack[--depth], top, &top)) {
            return false;
        }
    }
    *value = top;
    return depth == 1;
}
