import { connect, type GameClient, type RelayTransportKind } from 'causeway-net';
import { SimulatedNetwork, type ServerCore, type SimulatorPath } from 'causeway-net/server';
import { messages } from './schema.js';

/** A connection with the game server through a bad network. */
export class Link {
  readonly #network: SimulatedNetwork;

  constructor(
    readonly core: ServerCore,
    path: SimulatorPath,
  ) {
    this.#network = new SimulatedNetwork(core, path, 1);
  }

  connect(
    url: URL,
    token: () => Promise<ArrayBuffer>,
    transports: readonly RelayTransportKind[] | undefined,
  ): Promise<GameClient<typeof messages>> {
    return connect(url, {
      ...(transports ? { transports: [...transports] } : {}),
      core: this.core,
      token,
      schema: messages,
      through: this.#network.through,
    });
  }

  /** Makes the network worse, both ways. */
  worsen(path: SimulatorPath): void {
    this.#network.change(path);
  }
}
