import { ConnectError } from '../../errors.js';
import { DATAGRAM_MAX, MESSAGE_MAX } from '../../generated.js';
import { nodeModule } from '../../node.js';
import { WEBSOCKET_PROTOCOL } from '../../transports/websocket.js';
import type { HttpRequest, HttpSocket } from './http.js';

/** The parts of a WebSocket of the package `ws` that are used here. */
export interface WsSocket {
  readonly bufferedAmount: number;
  readonly readyState: number;
  on(event: 'message', listener: (data: Uint8Array, isBinary: boolean) => void): void;
  on(event: 'ping' | 'pong' | 'error', listener: () => void): void;
  on(event: 'close', listener: (code: number) => void): void;
  send(data: Uint8Array, options: { binary: boolean }): void;
  ping(): void;
  pause(): void;
  resume(): void;
  close(code: number, text: string): void;
  terminate(): void;
}

/** The parts of the class `WebSocketServer` of the package `ws` that are used here. */
export interface WsServer {
  handleUpgrade(
    request: HttpRequest,
    socket: HttpSocket,
    head: Uint8Array,
    opened: (socket: WsSocket) => void,
  ): void;
}

/**
 * No browser sends a datagram in more fragments than this. Each piece of a message that is not complete takes memory of
 * its own.
 */
const FRAGMENTS_MAX = 16;

/**
 * Makes what turns requests into WebSockets, with the package `ws` of the application.
 * @throws {@link ConnectError} when the package is not installed
 */
export function createWsServer(): WsServer {
  const { createRequire } = nodeModule('node:module')!;
  let ws: { WebSocketServer: new (options: object) => WsServer };
  try {
    // No bundler follows this, so that applications without browsers need no `ws`.
    ws = createRequire(new URL(import.meta.url))('ws') as typeof ws;
  } catch (error) {
    throw new ConnectError(
      'LOAD',
      'load',
      'listen with a server needs the package ws: npm install ws',
      {
        cause: error,
      },
    );
  }
  return new ws.WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MESSAGE_MAX,
    maxFragments: FRAGMENTS_MAX,
    maxBufferedChunks: DATAGRAM_MAX,
    handleProtocols: () => WEBSOCKET_PROTOCOL,
  });
}
