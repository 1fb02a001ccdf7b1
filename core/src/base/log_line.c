#include "base/log_line.h"

void cw_log_line_text(struct cw_log_line *line, const char *text)
{
    for (; *text && line->size + 1 < sizeof line->text; text++) {
        const bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        line->text[line->size++] = control ? ' ' : *text;
    }
    line->text[line->size] = '\0';
}

void cw_log_line_number(struct cw_log_line *line, uint64_t number)
{
    char digits[21], *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    cw_log_line_text(line, first);
}

void cw_log_line_hexadecimal(struct cw_log_line *line, uint64_t number)
{
    char digits[17] = {0};
    for (unsigned i = 0; i < 16; i++)
        digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
    cw_log_line_text(line, digits);
}

void cw_log_line_address(struct cw_log_line *line, const struct cw_address *address)
{
    char text[CW_ADDRESS_TEXT_SIZE];
    cw_log_line_text(line, cw_address_format(address, text));
}

void cw_log_line_write(const struct cw_log_line *line, const struct cw_log *log,
                       enum cw_log_level level)
{
    log->write(log->context, level, line->text);
}
