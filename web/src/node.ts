/** The options of a UDP socket of Node. */
interface DgramOptions {
  readonly type: 'udp4' | 'udp6';
  /** The function that turns a host into an address when a datagram is sent. */
  readonly lookup?: (
    host: string,
    family: number,
    done: (error: null, address: string, family: number) => void,
  ) => void;
}

/** The parts of a UDP socket of Node that are used here. */
export interface DgramSocket {
  bind(port: number, host: string): void;
  /** Connects the socket: from then on it sends only to this address, and takes nothing from others. */
  connect(port: number, host: string, done: (error?: Error) => void): void;
  address(): { readonly address: string; readonly port: number };
  on(event: 'message', listener: (datagram: Uint8Array, from: Sender) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  once(event: 'listening' | 'close', listener: () => void): void;
  once(event: 'error', listener: (error: Error) => void): void;
  off(event: 'error', listener: (error: Error) => void): void;
  send(datagram: Uint8Array, port: number, host: string, done: (error: Error | null) => void): void;
  /** Sends a datagram over a connected socket. */
  send(datagram: Uint8Array, done: (error: Error | null) => void): void;
  getSendQueueSize(): number;
  setRecvBufferSize(size: number): void;
  setSendBufferSize(size: number): void;
  close(): void;
}

/** The sender of a datagram. */
export interface Sender {
  readonly address: string;
  readonly port: number;
}

/** A list of addresses and networks of Node. */
export interface BlockList {
  addSubnet(network: string, bits: number, family: 'ipv4' | 'ipv6'): void;
  check(address: string, family: 'ipv4' | 'ipv6'): boolean;
}

/** The parts of Node that are used here. */
interface NodeModules {
  'node:dgram': { createSocket(options: DgramOptions): DgramSocket };
  'node:net': { isIP(text: string): 0 | 4 | 6; BlockList: new () => BlockList };
  'node:fs': {
    readFileSync(path: URL): Uint8Array<ArrayBuffer>;
    existsSync(path: URL): boolean;
  };
  'node:module': {
    createRequire(from: URL): { resolve(name: string): string; (name: string): unknown };
  };
  'node:url': { pathToFileURL(path: string): URL };
}

/** Returns a module of Node, if this is Node, without an import that a bundler would follow. */
export function nodeModule<Name extends keyof NodeModules>(
  name: Name,
): NodeModules[Name] | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: Name): NodeModules[Name] };
  };
  return process?.getBuiltinModule?.(name);
}
