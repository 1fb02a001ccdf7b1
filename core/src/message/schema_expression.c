#include "message/schema_expression.h"

#include <string.h>

/* The codes from the first operator on are in the order of the table of operators. */
enum {
    CODE_END,
    CODE_NUMBER,
    CODE_BOOL,
    CODE_INT,
    CODE_UINT,
    CODE_64,
    CODE_NOT,
    CODE_MINUS,
    CODE_OR,
    CODE_AND,
    CODE_BITS,
    CODE_SAME,
    CODE_DIFFERENT,
    CODE_MOST,
    CODE_LEAST,
    CODE_LEFT,
    CODE_RIGHT,
    CODE_BELOW,
    CODE_ABOVE,
    CODE_ADD,
    CODE_SUBTRACT,
    CODE_MULTIPLY,
    CODE_DIVIDE,
    CODE_REST
};

/* The operators bind as in C. One that begins with another comes before it. */
static const struct {
    char text[3];
    uint8_t code, rank;
} operators[] = {
    {"||", CODE_OR, 1},        {"&&", CODE_AND, 2},     {"==", CODE_SAME, 4},
    {"!=", CODE_DIFFERENT, 4}, {"<=", CODE_MOST, 5},    {">=", CODE_LEAST, 5},
    {"<<", CODE_LEFT, 6},      {">>", CODE_RIGHT, 6},   {"&", CODE_BITS, 3},
    {"<", CODE_BELOW, 5},      {">", CODE_ABOVE, 5},    {"+", CODE_ADD, 7},
    {"-", CODE_SUBTRACT, 7},   {"*", CODE_MULTIPLY, 8}, {"/", CODE_DIVIDE, 8},
    {"%", CODE_REST, 8},
};
#define OPERATORS (sizeof operators / sizeof operators[0])

#define MAX_NESTING 16

/* A text that is being read. failed stays once it is set. */
struct parser {
    const char *at;
    const struct cw_message_type *type;
    uint32_t index, offset;
    struct cw_operation *out;
    uint32_t count, held, nesting;
    bool failed;
};

/* Adds an operation that leaves `more` values more than it finds. */
static void add(struct parser *parser, uint8_t code, int64_t value, uint32_t more)
{
    parser->held += more;
    parser->failed |=
        parser->count == CW_EXPRESSION_OPERATIONS || parser->held > CW_EXPRESSION_STACK;
    if (!parser->failed)
        parser->out[parser->count++] = (struct cw_operation){code, value};
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

static uint8_t code_of(enum cw_kind kind)
{
    switch (kind) {
    case CW_KIND_BOOL:
        return CODE_BOOL;
    case CW_KIND_INT:
        return CODE_INT;
    case CW_KIND_UINT:
    case CW_KIND_RELATIVE:
    case CW_KIND_SEQUENCE_RELATIVE:
        return CODE_UINT;
    case CW_KIND_INT_64:
    case CW_KIND_UINT_64:
        return CODE_64;
    default:
        return CODE_END;
    }
}

/* Reads the name of a field, which always has a value: it is neither an option nor an array. */
static void read_name(struct parser *parser)
{
    const char *const name = parser->at;
    while (is_letter(*parser->at) || is_digit(*parser->at))
        ++parser->at;
    const size_t size = (size_t)(parser->at - name);
    for (uint32_t i = 0; size > 0 && i < parser->index; ++i) {
        const struct cw_field *const field = &parser->type->fields[i];
        if (strncmp(field->name, name, size) != 0 || field->name[size] != '\0')
            continue;
        const uint8_t code = code_of(field->kind);
        parser->failed |= code == CODE_END || field->optional || field->array > 0;
        add(parser, code, (int64_t)parser->offset + field->offset, 1);
        return;
    }
    parser->failed = true;
}

static void read_number(struct parser *parser)
{
    int64_t number = 0;
    for (; is_digit(*parser->at) && number < INT64_MAX / 16; ++parser->at)
        number = number * 10 + (*parser->at - '0');
    parser->failed |= is_digit(*parser->at) || is_letter(*parser->at);
    add(parser, CODE_NUMBER, number, 1);
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
    } else if (first == '!' || first == '-') {
        ++parser->at;
        read_operand(parser);
        add(parser, first == '!' ? CODE_NOT : CODE_MINUS, 0, 0);
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

/* Reads operands with the operators between them that are at least of this rank. */
static void read_operators(struct parser *parser, unsigned least)
{
    read_operand(parser);
    while (!parser->failed) {
        const size_t next = next_operator(parser);
        if (next == OPERATORS || operators[next].rank < least)
            return;
        parser->at += strlen(operators[next].text);
        read_operators(parser, operators[next].rank + 1u);
        add(parser, operators[next].code, 0, UINT32_MAX);
    }
}

uint32_t cw_expression_make(const char *text, const struct cw_message_type *type, uint32_t index,
                            uint32_t offset, struct cw_operation *out)
{
    struct parser parser = {.at = text, .type = type, .index = index, .offset = offset, .out = out};
    read_operators(&parser, 1);
    if (parser.failed || *parser.at != '\0')
        return 0;
    out[parser.count] = (struct cw_operation){CODE_END, 0};
    return parser.count + 1;
}

static int64_t load(const struct cw_operation *operation, const uint8_t *message)
{
    const uint8_t *const from = message + operation->value;
    int32_t small;
    uint32_t word;
    int64_t wide;
    switch (operation->code) {
    case CODE_BOOL:
        return *from != 0;
    case CODE_INT:
        memcpy(&small, from, sizeof small);
        return small;
    case CODE_UINT:
        memcpy(&word, from, sizeof word);
        return word;
    default:
        memcpy(&wide, from, sizeof wide);
        return wide;
    }
}

/* Returns a divided by b, or what is left over. */
static int64_t divide(int64_t a, int64_t b, bool rest)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return rest ? 0 : (int64_t)(0 - (uint64_t)a);
    return rest ? a % b : a / b;
}

static int64_t apply(unsigned code, int64_t a, int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (code) {
    case CODE_OR:
        return a != 0 || b != 0;
    case CODE_AND:
        return a != 0 && b != 0;
    case CODE_BITS:
        return (int64_t)(x & y);
    case CODE_SAME:
        return a == b;
    case CODE_DIFFERENT:
        return a != b;
    case CODE_MOST:
        return a <= b;
    case CODE_LEAST:
        return a >= b;
    case CODE_LEFT:
        return (int64_t)(x << (y & 63));
    case CODE_RIGHT:
        return (int64_t)(x >> (y & 63));
    case CODE_BELOW:
        return a < b;
    case CODE_ABOVE:
        return a > b;
    case CODE_ADD:
        return (int64_t)(x + y);
    case CODE_SUBTRACT:
        return (int64_t)(x - y);
    case CODE_MULTIPLY:
        return (int64_t)(x * y);
    default:
        return divide(a, b, code == CODE_REST);
    }
}

int64_t cw_expression_value(const struct cw_operation *expression, const uint8_t *message)
{
    int64_t stack[CW_EXPRESSION_STACK] = {0};
    unsigned held = 0;
    for (; expression->code != CODE_END; ++expression) {
        if (expression->code == CODE_NUMBER) {
            stack[held++] = expression->value;
        } else if (expression->code < CODE_NOT) {
            stack[held++] = load(expression, message);
        } else if (expression->code == CODE_NOT) {
            stack[held - 1] = stack[held - 1] == 0;
        } else if (expression->code == CODE_MINUS) {
            stack[held - 1] = apply(CODE_SUBTRACT, 0, stack[held - 1]);
        } else {
            --held;
            stack[held - 1] = apply(expression->code, stack[held - 1], stack[held]);
        }
    }
    return stack[0];
}
