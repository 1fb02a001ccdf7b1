/**
 * What core/emscripten/causeway_sockets.js needs of this package. esbuild makes one script of it, which is put
 * before the program's own, so that C developers need no npm. @module
 */
import { DatagramSocket } from './datagram_socket.js';
import type { Destination } from './destination.js';
import { count, stats } from './figures.js';

const open = (destination: Destination): DatagramSocket => count(new DatagramSocket(destination));

Object.assign(globalThis, { causewaySockets: { open, stats } });
