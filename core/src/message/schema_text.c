#include "message/schema_expression.h"

#include <string.h>

/* The operators bind as in C. One that begins with another comes before it. Some are another
   operation, with a result or with operands that are negated so many times. */
static const struct {
    char text[3];
    uint8_t operation, rank, result, operands;
} operators[] = {
    {"||", CW_OPERATION_BITS, 1, 1, 1},    {"&&", CW_OPERATION_BITS, 2, 0, 2},
    {"==", CW_OPERATION_SAME, 4, 0, 0},    {"!=", CW_OPERATION_SAME, 4, 1, 0},
    {"<=", CW_OPERATION_MOST, 5, 0, 0},    {">=", CW_OPERATION_BELOW, 5, 1, 0},
    {"<<", CW_OPERATION_LEFT, 6, 0, 0},    {">>", CW_OPERATION_RIGHT, 6, 0, 0},
    {"&", CW_OPERATION_BITS, 3, 0, 0},     {"<", CW_OPERATION_BELOW, 5, 0, 0},
    {">", CW_OPERATION_MOST, 5, 1, 0},     {"+", CW_OPERATION_ADD, 7, 0, 0},
    {"-", CW_OPERATION_SUBTRACT, 7, 0, 0}, {"*", CW_OPERATION_MULTIPLY, 8, 0, 0},
    {"/", CW_OPERATION_DIVIDE, 8, 0, 0},   {"%", CW_OPERATION_REST, 8, 0, 0},
};
#define OPERATORS (sizeof operators / sizeof operators[0])

#define MAX_NESTING 16
#define MAX_DIGITS  18
#define MAX_BACK    255

/* A text that is being read. failed stays once it is set. */
struct parser {
    const char *at;
    const struct cw_message_type *type;
    uint32_t index;
    char *out;
    uint32_t size, nesting;
    bool failed;
};

static void put(struct parser *parser, unsigned byte)
{
    parser->failed |= parser->size == CW_EXPRESSION_MAX_SIZE;
    if (!parser->failed)
        parser->out[parser->size++] = (char)byte;
}

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

static void skip_spaces(struct parser *parser)
{
    while (*parser->at == ' ')
        ++parser->at;
}

static void read_name(struct parser *parser)
{
    const char *const name = parser->at;
    while (is_letter(*parser->at) || is_digit(*parser->at))
        ++parser->at;
    const size_t size = (size_t)(parser->at - name);
    uint32_t back = 1;
    for (; back <= parser->index && back <= MAX_BACK; ++back) {
        const char *const other = parser->type->fields[parser->index - back].name;
        if (strncmp(other, name, size) == 0 && other[size] == '\0')
            break;
    }
    parser->failed |= size == 0 || back > parser->index || back > MAX_BACK;
    put(parser, CW_OPERATION_FIELD);
    put(parser, back);
}

static void read_number(struct parser *parser)
{
    uint64_t number = 0;
    unsigned digits = 0, shift = 0;
    for (; is_digit(*parser->at) && digits < MAX_DIGITS; ++parser->at, ++digits)
        number = number * 10 + (unsigned)(*parser->at - '0');
    parser->failed |= is_digit(*parser->at) || is_letter(*parser->at);
    while (number >> shift >= 64)
        shift += 6;
    put(parser, 128 | (unsigned)(number >> shift));
    for (; shift > 0; shift -= 6)
        put(parser, 192 | (unsigned)(number >> (shift - 6) & 63));
}

static void read_operators(struct parser *parser, unsigned least);

static void read_operand(struct parser *parser)
{
    skip_spaces(parser);
    parser->failed |= ++parser->nesting > MAX_NESTING;
    if (parser->failed)
        return;
    const char first = *parser->at;
    if (first == '(') {
        ++parser->at;
        read_operators(parser, 1);
        parser->failed |= *parser->at != ')';
        parser->at += !parser->failed;
    } else if (first == '!') {
        ++parser->at;
        read_operand(parser);
        put(parser, CW_OPERATION_NOT);
    } else if (first == '-') {
        ++parser->at;
        put(parser, 128); /* 0 */
        read_operand(parser);
        put(parser, CW_OPERATION_SUBTRACT);
    } else if (is_digit(first)) {
        read_number(parser);
    } else {
        read_name(parser);
    }
    --parser->nesting;
    skip_spaces(parser);
}

/* Returns the index of the operator that comes next, or OPERATORS. */
static size_t next_operator(const struct parser *parser)
{
    size_t i = 0;
    while (i < OPERATORS && strncmp(parser->at, operators[i].text, strlen(operators[i].text)) != 0)
        ++i;
    return i;
}

static void negate(struct parser *parser, unsigned times)
{
    for (; times > 0; --times)
        put(parser, CW_OPERATION_NOT);
}

/* Reads operands with the operators between them that are at least of this rank. */
static void read_operators(struct parser *parser, unsigned least)
{
    read_operand(parser);
    while (!parser->failed) {
        const size_t next = next_operator(parser);
        if (next == OPERATORS || operators[next].rank < least)
            return;
        parser->at += strlen(operators[next].text);
        negate(parser, operators[next].operands);
        read_operators(parser, operators[next].rank + 1u);
        negate(parser, operators[next].operands);
        put(parser, operators[next].operation);
        negate(parser, operators[next].result);
    }
}

const char *cw_expression_make(const char *text, const struct cw_message_type *type, uint32_t index,
                               char *out)
{
    struct parser parser = {.at = text, .type = type, .index = index, .out = out};
    if (*text == CW_OPERATION_FIELD || (unsigned char)*text >= 128)
        return text;
    if (strncmp(text, ">=", 2) == 0) {
        parser.at += 2;
        put(&parser, CW_EXPRESSION_LEAST);
    }
    read_operators(&parser, 1);
    out[parser.size] = '\0';
    return parser.failed || *parser.at != '\0' ? NULL : out;
}
