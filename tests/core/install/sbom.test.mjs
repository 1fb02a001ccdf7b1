// The bill of materials that is installed with the native parts, in the file that CAUSEWAY_SBOM names.
import { test } from 'node:test';
import { read_sbom } from '../../support/sbom.mjs';

test('the installed bill of materials names what the native parts are built on', () =>
  read_sbom(process.env.CAUSEWAY_SBOM, ['libsodium', 'libwebsockets', 'libuv', 'openssl', 'zlib']));
