import {
  ConnectError,
  ConnectionError,
  relaySays,
  type ConnectErrorCode,
  type HandshakeCode,
  type HandshakeStage,
} from '../errors.js';
import type { Policy } from '../secure/policy.js';
import type { TransportClose, TransportKind } from '../transports/transport.js';
import type { DisconnectReason } from './ending.js';

/** Returns the error of an attempt that leads to no connection. */
export const refusal = (
  code: HandshakeCode,
  stage: HandshakeStage,
  message: string,
  policy: Policy,
): ConnectError => {
  policy.fail(stage === 'response' ? 'RESPONSE_TIMED_OUT' : 'REQUEST_TIMED_OUT');
  const { end } = policy;
  // Neither relay nor server answers a client whose token has expired.
  return end === 'TOKEN_EXPIRED'
    ? new ConnectError(end, stage, 'the connect token has expired; ask the backend for a new one')
    : new ConnectError(code, stage, message);
};

const reasons: Partial<Record<ConnectErrorCode, DisconnectReason>> = {
  DENIED: 'server',
  ID_CONNECTED: 'server',
  NOT_YET: 'server',
  SCHEMA: 'server',
  REQUEST_TIMED_OUT: 'timeout',
  RESPONSE_TIMED_OUT: 'timeout',
};

/** Returns the reason for the end of an attempt that an error has ended. */
export const reasonFor = (error: unknown): DisconnectReason => {
  if (error instanceof ConnectionError) return 'client';
  return (error instanceof ConnectError && reasons[error.code]) || 'transport';
};

/** Explains why the other side closed a transport. */
export const transportEnd = (
  kind: TransportKind,
  { code, reason }: TransportClose,
): { code: HandshakeCode; message: string } => {
  const said = relaySays(code);
  const why = said ? `: it ${said.means}` : '';
  return {
    code: said?.code ?? 'TRANSPORT_CLOSED',
    message: `the relay ended the ${kind} transport (${[code, reason].filter(Boolean).join(' ')})${why}`,
  };
};
