import { seconds, worldSeconds } from '../clock.js';
import { CoreObject, type Core } from '../core.js';
import {
  CLIENT_SILENCE_SECONDS,
  clientActions,
  clientPolicyAt,
  clientPolicyConfigStruct,
  clientPolicySize,
  clientStates,
} from '../generated.js';
import type { ClientState } from './core_client.js';

/** A client makes this many attempts to connect again after an absence. */
const ATTEMPTS = 8;
const UNLIMITED = 2 ** 32 - 1;

const numbers = Object.fromEntries(
  Object.entries(clientStates).map(([number, name]) => [name, Number(number)]),
);

/** The things that a host is to do, by the names of `enum cw_client_action`. */
export type PolicyAction = keyof typeof clientActions;

const actions = Object.fromEntries(
  Object.entries(clientActions).map(([name, number]) => [number, name]),
) as Record<number, PolicyAction>;

/**
 * This is a client's policy, `cw_client_policy` in C. The host tells it what happens, and asks {@link next} what to do.
 */
export class Policy extends CoreObject {
  /** The index of the token's server that is tried or connected. */
  server = 0;
  /** Why the connection or the attempt has ended. */
  end: ClientState = 'DISCONNECTED';
  /** True when another attempt follows by itself. */
  returns = false;
  /** For how many seconds the page did not run before the end. */
  absence = 0;
  #tokenTime = 0;

  /**
   * @param renewable whether there can be another token
   * @param afterAnyEnd whether it also comes back after ends that no absence has caused, for as long as it takes
   */
  constructor(core: Core, renewable: boolean, afterAnyEnd: boolean) {
    const address = core.allocate(clientPolicySize);
    core.memory.bytes.fill(0, address, address + clientPolicySize);
    core.memory.setConfig(address + clientPolicyAt.config, clientPolicyConfigStruct, {
      silenceSeconds: CLIENT_SILENCE_SECONDS,
      attempts: afterAnyEnd ? UNLIMITED : renewable ? ATTEMPTS : 0,
      afterAnyEnd,
    });
    super(core, address, core.exports.release);
  }

  /**
   * Begins to connect: get a token, after an absence when {@link pause} is over.
   * @param afterAbsence whether an attempt that fails is repeated
   */
  start(afterAbsence: boolean): void {
    this.core.exports.cw_client_policy_start(this.address, Number(afterAbsence), seconds());
    this.#tokenTime = 0;
    if (afterAbsence) return;
    this.update();
    this.next();
  }

  token(servers: number, expireTime: number): void {
    this.core.exports.cw_client_policy_token(this.address, servers, expireTime);
    this.next();
  }

  link(linked: boolean): void {
    this.core.exports.cw_client_policy_link(this.address, Number(linked), seconds());
  }

  /** There is no way to this server; says whether another one is to be tried. */
  skip(): boolean {
    const another = this.core.exports.cw_client_policy_skip(this.address) !== 0;
    if (another) this.next();
    return another;
  }

  fail(reason: ClientState): void {
    this.core.exports.cw_client_policy_fail(this.address, numbers[reason]!, seconds());
    this.next();
  }

  hear(): void {
    this.core.exports.cw_client_policy_received(this.address, seconds(), worldSeconds());
  }

  /** @param state the number of the client's state */
  follow(state: number, server: number): void {
    this.core.exports.cw_client_policy_follow(this.address, state, server, seconds());
  }

  update(): void {
    this.core.exports.cw_client_policy_update(this.address, seconds(), worldSeconds());
  }

  next(): PolicyAction {
    const { address } = this;
    const { exports, memory } = this.core;
    const action = actions[exports.cw_client_policy_next(address)]!;
    // This is called after each datagram, and mostly nothing has changed.
    if (action === 'NONE') return action;
    const end = memory.view.getInt32(address + clientPolicyAt.end, true);
    this.server = memory.u32(address + clientPolicyAt.server);
    this.end = clientStates[String(end) as keyof typeof clientStates];
    this.returns = exports.cw_client_policy_returns(address) !== 0;
    this.absence = memory.f64(address + clientPolicyAt.absence);
    this.#tokenTime = memory.f64(address + clientPolicyAt.tokenTime);
    return action;
  }

  /** Resolves when the next token is due, or when `over` says that none is wanted any more. */
  async pause(over: () => boolean): Promise<void> {
    do {
      const wait = (this.#tokenTime - seconds()) * 1000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(wait, 0)));
      if (over()) return;
      this.update();
    } while (this.next() !== 'TOKEN');
  }
}
