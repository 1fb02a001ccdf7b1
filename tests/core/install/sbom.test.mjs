// Tests of the bill of materials that is installed with the native parts, in the file that CAUSEWAY_SBOM names.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { read_sbom } from '../../support/sbom.mjs';

const quic = process.env.CAUSEWAY_WEBTRANSPORT === 'ON' ? ['ngtcp2', 'nghttp3', 'gnutls'] : [];
const parts = ['libsodium', 'libwebsockets', 'libuv', 'inih', 'openssl', 'zlib', ...quic];

test('the installed bill of materials names what the native parts are built on', () =>
  read_sbom(process.env.CAUSEWAY_SBOM, parts));

// The names of parts as libraries, where these differ from their own names.
const libraries = {
  libinih: 'inih',
  libssl: 'openssl',
  libcrypto: 'openssl',
  libz: 'zlib',
  libngtcp2: 'ngtcp2',
  libngtcp2_crypto_gnutls: 'ngtcp2',
  libnghttp3: 'nghttp3',
  libgnutls: 'gnutls',
};
const system = ['libc', 'libm', 'libresolv', 'ld-linux-x86-64', 'ld-linux-aarch64'];

test('the relay loads nothing that it does not name', () => {
  const headers = execFileSync('readelf', ['-d', process.env.CAUSEWAY_RELAY], { encoding: 'utf8' });
  const loaded = [...headers.matchAll(/\(NEEDED\).*\[([^.]+)\./g)].map(([, name]) => name);
  const named = loaded
    .filter((name) => !system.includes(name))
    .map((name) => libraries[name] ?? name);
  assert.deepEqual([...new Set(named)].sort(), [...parts].sort());
});
