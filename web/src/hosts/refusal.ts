import { HandshakeError, type HandshakeCode, type HandshakeStage } from '../errors.js';

/** Why there is no connection; `expireTime` is that of the token, in seconds by the clock of the world. */
export const refusal = (
  code: HandshakeCode,
  stage: HandshakeStage,
  message: string,
  expireTime: number,
): HandshakeError => {
  const answered = stage === 'response' || ['DENIED', 'SCHEMA', 'ID_CONNECTED'].includes(code);
  // Neither relay nor server answer those whose token is no good any more.
  if (answered || Date.now() / 1000 < expireTime) return new HandshakeError(code, stage, message);
  return new HandshakeError(
    'TOKEN_EXPIRED',
    stage,
    'the connect token has expired; ask the backend for a new one',
  );
};
