import {
  ClosedError,
  HandshakeError,
  relaySays,
  type HandshakeCode,
  type HandshakeStage,
} from '../errors.js';
import type { Policy } from '../secure/policy.js';
import type { TransportClose, TransportKind } from '../transports/transport.js';
import type { DisconnectReason } from './ending.js';

/** Why there is no connection. */
export const refusal = (
  code: HandshakeCode,
  stage: HandshakeStage,
  message: string,
  policy: Policy,
): HandshakeError => {
  policy.fail(stage === 'response' ? 'RESPONSE_TIMED_OUT' : 'REQUEST_TIMED_OUT');
  // Neither relay nor server answer those whose token is no good any more.
  if (policy.end !== 'TOKEN_EXPIRED') return new HandshakeError(code, stage, message);
  return new HandshakeError(
    'TOKEN_EXPIRED',
    stage,
    'the connect token has expired; ask the backend for a new one',
  );
};

const reasons: Partial<Record<HandshakeCode, DisconnectReason>> = {
  DENIED: 'server',
  ID_CONNECTED: 'server',
  SCHEMA: 'server',
  REQUEST_TIMED_OUT: 'timeout',
  RESPONSE_TIMED_OUT: 'timeout',
};

/** The reason with which a connection ends that never was one, because of an error. */
export const reasonFor = (error: unknown): DisconnectReason => {
  if (error instanceof ClosedError) return 'client';
  return (error instanceof HandshakeError && reasons[error.code]) || 'transport';
};

/** Why a transport has ended that the other side closed. */
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
