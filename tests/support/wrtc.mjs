// Chromium's WebRTC stack for Node.
import { require } from './packages.mjs';

export const { RTCPeerConnection } = require('@roamhq/wrtc');

// When Node tears everything down at its end, a connection of this package may touch a channel that is gone already,
// and crash. A process that exits by itself skips that.
process.on('exit', (code) => process.exit(code));
