import { ConnectError } from '../errors.js';

/** Each fault that can stand in the way, with what to do about it; '' where the error's own message says it. */
export const advice = {
  DNS: 'check the spelling of the name, and its DNS records',
  TCP: 'check that the relay runs, what it listens on (--listen), and the firewalls on the way',
  TLS: 'give the relay a certificate (--tls-certificate), or use an http: address if it has none',
  CERTIFICATE_EXPIRED: 'renew the certificate, and check the clock of this machine',
  CERTIFICATE_NAME: 'get a certificate for the name in the address, or use the name that it is for',
  CERTIFICATE_UNTRUSTED: 'give the relay the whole chain of a certificate of a public authority',
  UNREACHABLE:
    'a page is not told whether name, port, TLS or certificate are the reason: run npx causeway-net doctor',
  POLICY: '',
  SANDBOX: '',
  LOCAL_NETWORK: '',
  NOT_RELAY: 'check host, port and path, and that a proxy before the relay passes WebSockets on',
  ORIGIN: '',
  RELAY_FULL: 'raise its --max-sessions or --max-sessions-per-address, or add relays',
  RELAY_STOPPING: 'wait until it has been started again',
  BLOCKED: 'ask its operator',
  TOKEN_FAILED: 'check that the backend runs at this address, and its log',
  INVALID_TOKEN: 'check what the backend answers: a token has 2048 bytes',
  CLOCK: 'set the clocks of this machine, the backend and the game server by NTP',
  TOKEN_EXPIRED: 'get a new token for each connection',
  SERVER_NOT_ALLOWED: '',
  SERVER_DOWN: 'start the game server, or correct the address',
  PROTOCOL: "give backend, relay (--protocol-id) and game server the game's number",
  KEY: 'give the backend the private key of the game server',
  NOT_ANSWERED:
    'compare key, protocol id and address of backend and game server, and their clocks; use a token once',
  DENIED: 'wait for a free slot, or start more game servers',
  ID_CONNECTED: "use a token for another client id, or end the player's other connection",
  NOT_YET: 'try again with a newer token',
  LOAD: '',
  UDP_BLOCKED:
    'open the UDP port of --rtc in all firewalls, and give its public address with --rtc-advertise',
  MTU: 'let UDP packets of 1,200 bytes through: check tunnels, VPNs and MTU settings on the way',
  LOSS: 'look for a bad radio link or a full line, at this end and at the server',
} as const;

/** The names of the faults, of which those of {@link ConnectError} have its meaning. */
export type FaultCode = keyof typeof advice;

/** A fault that a check has found. @internal */
export class Fault extends Error {
  constructor(
    readonly code: FaultCode,
    message: string,
  ) {
    super(message);
  }
}

/** The reason why a check could not be made, which is no fault. @internal */
export class Skipped extends Error {}

/** The relay ends a session with this code when its request is for a protocol id that it does not take. */
const REFUSED_PACKET = 1008;
/** With these codes, nobody has answered a request. */
const SILENT = ['NOT_ANSWERED', 'REQUEST_TIMED_OUT', 'RESPONSE_TIMED_OUT'];

/** Returns the fault of a game server that says nothing. */
export const silent = (): Fault =>
  new Fault('NOT_ANSWERED', 'the game server does not answer this token');

/** Returns the fault in an error of a handshake, whose transport was closed with this code. */
export function serverFault(error: unknown, closed: number | undefined): unknown {
  if (!(error instanceof ConnectError)) return error;
  if (SILENT.includes(error.code)) return silent();
  if (closed === REFUSED_PACKET)
    return new Fault('PROTOCOL', "the relay does not take the token's protocol id");
  return error;
}

/** Returns the fault that an error is, if it is one. */
export const codeOf = (error: unknown): FaultCode | undefined => {
  const { code } = Object(error) as { readonly code?: string };
  return code !== undefined && Object.hasOwn(advice, code) ? (code as FaultCode) : undefined;
};
