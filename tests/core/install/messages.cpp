// Declarations as a user writes them in C++: a type of every kind of field, structs among them, and
// one with a function.
#include <causeway/causeway.h>

#define POINT_FIELDS(FIELD)                                                                        \
    FIELD(x, CW_FLOAT)                                                                             \
    FIELD(y, CW_FLOAT)
CW_MESSAGE(point, POINT_FIELDS)

#define MOVE_FIELDS(FIELD)                                                                         \
    FIELD(jump, CW_BOOL)                                                                           \
    FIELD(direction, CW_INT(-3, 7))                                                                \
    FIELD(count, CW_UINT(0, UINT32_MAX))                                                           \
    FIELD(far, CW_INT_64(INT64_MIN, INT64_MAX))                                                    \
    FIELD(id, CW_UINT_64(0, UINT64_MAX))                                                           \
    FIELD(flags, CW_BITS(12))                                                                      \
    FIELD(mask, CW_BITS_64(64))                                                                    \
    FIELD(x, CW_FLOAT)                                                                             \
    FIELD(y, CW_DOUBLE)                                                                            \
    FIELD(angle, CW_COMPRESSED_FLOAT(-180, 180, 0.5f))                                             \
    FIELD(name, CW_STRING(32))                                                                     \
    FIELD(raw, CW_BYTES(32))                                                                       \
    FIELD(path, CW_ARRAY(CW_INT(-100, 100), 16))                                                   \
    FIELD(names, CW_ARRAY(CW_STRING(8), 4))                                                        \
    FIELD(blobs, CW_ARRAY(CW_BYTES(8), 4))                                                         \
    FIELD(target, CW_OPTIONAL(CW_BITS(12)))                                                        \
    FIELD(nick, CW_OPTIONAL(CW_STRING(8)))                                                         \
    FIELD(tail, CW_OPTIONAL(CW_BYTES(8)))                                                          \
    FIELD(start, CW_STRUCT(point))                                                                 \
    FIELD(stops, CW_ARRAY(CW_STRUCT(point), 4))                                                    \
    FIELD(end, CW_OPTIONAL(CW_STRUCT(point)))
CW_MESSAGE(move, MOVE_FIELDS)
CW_BLOCK_MESSAGE(parcel, MOVE_FIELDS)

struct place {
    int32_t x;
    bool known;
};

CW_SERIALIZE(serialize_place, place, stream, place)
{
    return cw_stream_int(stream, &place->x, 0, 7) && cw_stream_bool(stream, &place->known);
}

int main()
{
    const cw_message_type types[] = {
        move_type, parcel_type, {"place", nullptr, 0, sizeof(place), serialize_place, false}};
    const cw_schema_config config = {types, 3, {}};
    cw_schema *schema;
    const cw_error error = cw_schema_create(&config, &schema);
    cw_schema_destroy(schema);
    return error;
}
