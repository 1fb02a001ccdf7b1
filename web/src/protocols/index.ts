export { Bunch, type BunchConfig, type BunchEvent, type BunchStats } from './bunch.js';
export { loadProtocols, ProtocolCore, type ReceivedDatagram } from './module.js';
export { Notify, type NotifyEvent } from './notify.js';
export { Rudp, type RudpEvent } from './rudp.js';
export type { NotifyConfig, NotifyStats, RudpConfig, RudpStats } from './generated.js';
