// The messages of chat_server.c; the build makes chat_schema.h from them.
import { array, compressedFloat, message, schema, string, uint } from './causeway.mjs';

export const PROTOCOL_ID = 0xca05e3a7de400001n;
export const MAX_PLAYERS = 64;

const player = () => uint(0, MAX_PLAYERS - 1);
const coordinate = () => compressedFloat(0, 1, 0.001);

export const messages = schema(
  message('say', { text: string(200) }, { reliable: true }),
  message('said', { player: player(), text: string(200) }, { reliable: true }),
  message('move', { x: coordinate(), y: coordinate() }),
  message('world', {
    players: array(player(), MAX_PLAYERS),
    xs: array(coordinate(), MAX_PLAYERS),
    ys: array(coordinate(), MAX_PLAYERS),
  }),
);
