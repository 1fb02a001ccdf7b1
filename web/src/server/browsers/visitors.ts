import { nodeModule, type BlockList } from '../../node.js';
import { isIp } from '../socket.js';
import { headerOf, listOf, type HttpRequest } from './http.js';

/** The options that say whose requests are taken, and who they come from. */
export interface VisitorOptions {
  /**
   * The origins whose pages may play and get tokens, such as `'https://game.example'`; `'*'` is all. Default: only
   * pages of the host that they connect to.
   */
  readonly origins?: readonly string[];
  /**
   * The addresses of your reverse proxies, or networks of them, as `'10.0.0.0/8'`. Their `X-Forwarded-For` says who
   * the player is, and their `X-Forwarded-Host` which host the page has asked for. Nobody else's is believed.
   */
  readonly trustedProxies?: readonly string[];
}

/** The other end of a request. */
export interface Visitor {
  /** The player's address; without a port when a proxy has told it. */
  readonly address: string;
  /** All addresses of one owner are this one: an IPv6 address is its /64. */
  readonly owner: string;
}

/** Returns an address without the port, the brackets, the zone, and the beginning of IPv4 in IPv6. */
const bare = (text: string): string =>
  text
    .replace(/^\[(.*)\](:\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=[\d.]+$)/i, '');

/** Returns what all addresses of one owner have in common. */
function ownerOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail].map((groups) => groups.split(':').filter(Boolean));
  const zeros = Array<string>(8 - before!.length - after!.length).fill('0');
  return [...before!, ...zeros, ...after!].slice(0, 4).join(':');
}

function proxyList(proxies: readonly string[]): BlockList {
  const list = new (nodeModule('node:net')!.BlockList)();
  for (const proxy of proxies) {
    const [address = '', bits, ...rest] = proxy.split('/');
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const size = Number(bits ?? most);
    if (!isIp(address) || rest.length > 0 || !/^\d*$/.test(bits ?? '') || size > most)
      throw new RangeError(
        `trustedProxies: '${proxy}' is no IP address, nor a network as 10.0.0.0/8`,
      );
    list.addSubnet(address, size, family);
  }
  return list;
}

const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

function originList(origins: readonly string[]): ReadonlySet<string> {
  return new Set(
    origins.map((text) => {
      const origin = text === '*' ? text : urlOf(text)?.origin;
      if (!origin || origin === 'null')
        throw new RangeError(`origins: '${text}' is no origin, as https://game.example`);
      return origin;
    }),
  );
}

/** Tells who a request comes from, and whether the page that has sent it is allowed. */
export class Visitors {
  readonly #origins: ReadonlySet<string> | undefined;
  readonly #proxies: BlockList;

  /** @throws RangeError that names the option */
  constructor({ origins, trustedProxies = [] }: VisitorOptions) {
    this.#origins = origins && originList(origins);
    this.#proxies = proxyList(trustedProxies);
  }

  /**
   * Returns who has sent a request: the last address in `X-Forwarded-For` that is not a trusted proxy's, because
   * anybody can write the first.
   */
  of(request: HttpRequest): Visitor {
    const { remoteAddress = '', remotePort = 0 } = request.socket;
    const source = bare(remoteAddress);
    const hops = listOf(request, 'x-forwarded-for');
    let address = source;
    while (this.#trusts(address)) {
      const hop = bare(hops.pop() ?? '');
      if (!isIp(hop)) break;
      address = hop;
    }
    const host = address.includes(':') ? `[${address}]` : address;
    return {
      address: address === source ? `${host}:${remotePort}` : host,
      owner: ownerOf(address),
    };
  }

  /** Returns whether a request comes from a page that may play, or from a program that is no browser. */
  allows(request: HttpRequest): boolean {
    const text = headerOf(request, 'origin');
    if (!text) return true;
    const origin = urlOf(text);
    if (!origin) return this.#origins?.has('*') ?? false;
    if (this.#origins) return this.#origins.has('*') || this.#origins.has(origin.origin);
    const isProxied = this.#trusts(bare(request.socket.remoteAddress ?? ''));
    const forwarded = isProxied ? listOf(request, 'x-forwarded-host').at(-1) : undefined;
    const host = forwarded ?? headerOf(request, 'host');
    return urlOf(`${origin.protocol}//${host}`)?.host === origin.host;
  }

  #trusts(address: string): boolean {
    return isIp(address) && this.#proxies.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
  }
}
