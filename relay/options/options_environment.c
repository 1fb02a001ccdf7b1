#include "options/options_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "CAUSEWAY_RELAY_"

#define BLANKS " \t\r\n"

void options_variable(const struct option_row *row, char out[OPTION_VARIABLE_MAX])
{
    snprintf(out, OPTION_VARIABLE_MAX, PREFIX "%s", row->name);
    for (char *c = out; *c; c++)
        *c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
}

static const struct option_row *row_of(const char *variable, size_t size)
{
    char name[OPTION_VARIABLE_MAX];
    for (const struct option_row *row = options_table; row->name; row++) {
        options_variable(row, name);
        if (strlen(name) == size && memcmp(name, variable, size) == 0)
            return row;
    }
    return NULL;
}

/* Returns whether Kubernetes has set a variable. It sets some in every container for a service that
   is called causeway-relay. */
static bool is_of_kubernetes(const char *variable)
{
    return strstr(variable, "_SERVICE_") || strstr(variable, "_PORT");
}

static bool give_words(struct options *options, const struct option_row *row, const char *text)
{
    while (*(text += strspn(text, BLANKS))) {
        const size_t size = strcspn(text, BLANKS);
        char *word = strndup(text, size);
        const bool given = word && options_give(options, OPTIONS_ENVIRONMENT, row, word, 0);
        free(word);
        if (!given)
            return false;
        text += size;
    }
    return true;
}

/* Takes the value of a variable. An empty value counts as none, because a variable that cannot be
   removed can still be made empty. */
static bool take(struct options *options, const char *variable, struct options_error *error)
{
    const size_t size = strcspn(variable, "=");
    const struct option_row *row = row_of(variable, size);
    if (!row && is_of_kubernetes(variable))
        return true;
    if (!row)
        return options_fail(error, "no such option: %.*s", (int)size, variable);
    if (variable[size] == '\0' || variable[size + 1] == '\0')
        return true;
    const char *value = variable + size + 1;
    return (row->repeats > 0 ? give_words(options, row, value)
                             : options_give(options, OPTIONS_ENVIRONMENT, row, value, 0)) ||
           options_fail(error, "no memory");
}

bool options_take_environment(struct options *options, struct options_error *error)
{
    for (char **variable = environ; *variable; variable++) {
        if (strncmp(*variable, PREFIX, strlen(PREFIX)) == 0 && !take(options, *variable, error))
            return false;
    }
    return true;
}
