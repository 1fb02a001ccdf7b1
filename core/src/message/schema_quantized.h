/* Structs with whole numbers only: every compressed float is replaced, in its place, by the number
   of its step on the wire. A float is then quantized once, not once for each end to which it is
   sent, and differences of steps are exact. */
#ifndef CAUSEWAY_SCHEMA_QUANTIZED_H
#define CAUSEWAY_SCHEMA_QUANTIZED_H

#include "base/memory.h"

#include "causeway/schema.h"

/* The schema of the quantized structs, taken from the arena; NULL while measuring. Its types have
   the sizes and numbers of those they come from; the schema must outlive it. Types with a function
   of their own have no fields to quantize. */
struct cw_schema *cw_schema_quantized(const struct cw_schema *schema, struct cw_arena *arena);

/* Returns whether structs of the type have anything to quantize. */
bool cw_schema_quantizes(const struct cw_schema *schema, uint32_t type);

/* Turns a struct of the type, in place, into a quantized one and back. schema is the one from which
   the quantized schema was made. */
void cw_schema_quantize(const struct cw_schema *schema, uint32_t type, void *message);
void cw_schema_dequantize(const struct cw_schema *schema, uint32_t type, void *message);

#endif
