// Node as one of the oldest supported engines: import it before the package. Node itself needs some of the features
// that are taken from it: the modules that it loads late are loaded first, and the functions that its fetch calls are
// given back.
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
