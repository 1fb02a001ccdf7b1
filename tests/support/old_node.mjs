// Node as one of the oldest supported engines: import it before the package. Node needs for itself some of
// what is taken from it: what it loads late is loaded first, and what its fetch calls is given back.
import 'node:http';
import 'node:https';
import { require } from './packages.mjs';

void fetch('data:,');
void globalThis.WebSocket;
require('ws');
const { toWellFormed } = String.prototype;
// Nothing is awaited here: the package would be imported meanwhile.
require('../tests/support/old_engine.js');
Object.assign(String.prototype, { toWellFormed });
