import type { Schema } from '../messages/schema.js';
import type { ServerClient } from './client.js';

/** A client has connected. */
export class ConnectEvent<Of extends Schema = Schema> extends Event {
  constructor(readonly client: ServerClient<Of>) {
    super('connect');
  }
}

/** It is time for the next step of the game. Everything that the listeners send goes out right after it. */
export class TickEvent extends Event {
  /** The number of the tick, from 0. */
  readonly tick: number;

  constructor(tick: number) {
    super('tick');
    this.tick = tick;
  }
}

/** The system has reported an error of the socket, which stays open. */
export class SocketErrorEvent extends Event {
  constructor(readonly error: Error) {
    super('error');
  }
}

/** The events of a `ServerHost`. */
export interface ServerHostEvents<Of extends Schema> {
  connect: ConnectEvent<Of>;
  tick: TickEvent;
  error: SocketErrorEvent;
}
