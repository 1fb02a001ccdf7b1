/**
 * The part of this package that core/emscripten/causeway_sockets.js needs. esbuild makes one script of it, which is put
 * before the program's own, so that C developers need no npm. @module
 */
import { DatagramSocket } from './datagram_socket.js';
import { count, stats } from './figures.js';

/** Opens a socket. It takes two arguments, because the Closure compiler could rename the members of an object. */
const open = (relay: string, server: string): DatagramSocket =>
  count(new DatagramSocket({ relay, server }));

Object.assign(globalThis, { causewaySockets: { open, stats } });
