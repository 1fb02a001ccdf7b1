// Certificates that sign themselves.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const P256 = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

/**
 * Makes a key and a certificate of a name in a folder. Returns their files, and the relay's options that name them;
 * `kind` and `more` are arguments of openssl.
 */
export function certify(
  folder,
  {
    name = 'localhost',
    kind = P256,
    certificate = 'certificate.pem',
    key = 'key.pem',
    days = 2,
    more = [],
  } = {},
) {
  const files = { certificate: join(folder, certificate), key: join(folder, key) };
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', ...kind, '-nodes', '-days', String(days)],
      ...['-subj', `/CN=${name}`, '-keyout', files.key, '-out', files.certificate, ...more],
    ],
    { stdio: 'ignore' },
  );
  return { ...files, options: ['--tls-certificate', files.certificate, '--tls-key', files.key] };
}
