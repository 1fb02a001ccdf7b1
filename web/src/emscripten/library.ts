/**
 * What core/emscripten/causeway_sockets.js needs of this package. esbuild makes one script of it, which is put
 * before the program's own, so that C developers need no npm. @module
 */
import { DatagramSocket } from './datagram_socket.js';
import { count, stats } from './figures.js';

/** Arguments have no names that the Closure compiler could change. */
const open = (relay: string, server: string): DatagramSocket =>
  count(new DatagramSocket({ relay, server }));

Object.assign(globalThis, { causewaySockets: { open, stats } });
