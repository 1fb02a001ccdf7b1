// The messages of the echo server in core/examples, and the number that tells its game from others.
import { message, schema, string } from 'causeway-net';

export const PROTOCOL_ID = 0x1122334455667788n;
export const messages = schema(message('say', { text: string(200) }, { reliable: true }));
