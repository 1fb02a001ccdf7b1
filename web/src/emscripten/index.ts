/**
 * Datagram sockets of programs that Emscripten has compiled already, over the transports of this package:
 *
 *     import 'causeway-net/emscripten';
 *     Module.websocket = { url: 'causeway:https://relay.example/' };
 *
 * Importing it puts a WebSocket into the page that takes addresses of this kind, and leaves all others to
 * the browser's own. It also keeps programs from ending at ioctl(FIONBIO). @module
 */
import { DatagramSocket } from './datagram_socket.js';
import { destinationOf } from './destination.js';
import { count } from './figures.js';
import { mendPrograms } from './imports.js';

export { stats } from './figures.js';
export type { SocketStats } from './figures.js';
export type { SocketDrops } from './datagram_socket.js';

const Native = globalThis.WebSocket as typeof WebSocket | undefined;

if (Native) {
  const Either = new Proxy(Native, {
    construct(target, args: unknown[], newTarget) {
      const destination = destinationOf(args[0], args[1]);
      if (destination) return count(new DatagramSocket(destination));
      return Reflect.construct(target, args, newTarget) as object;
    },
  });
  Native.prototype.constructor = Either;
  globalThis.WebSocket = Either;
}

mendPrograms();
