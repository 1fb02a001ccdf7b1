// Links that do what a test says, in the place of the platform's WebSocket and RTCPeerConnection.

/** The base of both: listeners, and datagrams in both directions. */
class FakeLink {
  binaryType = '';
  bufferedAmount = 0;
  sent = [];
  #listeners = {};

  addEventListener(type, listener) {
    (this.#listeners[type] ??= []).push(listener);
  }

  tell(type, event = {}) {
    this.#listeners[type]?.forEach((listener) => listener(event));
  }

  send(datagram) {
    this.sent.push([...datagram]);
  }

  /** Lets a datagram arrive. */
  deliver(...bytes) {
    this.tell('message', { data: Uint8Array.from(bytes).buffer });
  }
}

/** A platform that hands out links, and keeps how many were asked for and with which keys. */
export class FakePlatform {
  sockets = [];
  rtcs = [];
  /** The bodies of requests to `/rtc`. */
  offers = [];

  constructor() {
    const platform = this;
    this.WebSocket = class extends FakeLink {
      protocol = 'causeway.v1';
      readyState = 0;
      closedWith = undefined;

      constructor(url, protocols) {
        super();
        Object.assign(this, { url, protocols });
        platform.sockets.push(this);
      }

      open() {
        this.readyState = 1;
        this.tell('open');
      }

      close(code, reason = '') {
        if (this.closedWith !== undefined) return;
        this.readyState = 2;
        this.closedWith = code;
        queueMicrotask(() => this.tell('close', { code, reason }));
      }

      /** Ends the link as the other side or the network would. */
      end(code = 1006, reason = '') {
        this.readyState = 3;
        this.closedWith = null;
        this.tell('close', { code, reason });
      }
    };
    this.RTCPeerConnection = class extends FakeLink {
      iceConnectionState = 'new';
      connectionState = 'new';
      channel = new FakeLink();
      closed = false;

      constructor() {
        super();
        platform.rtcs.push(this);
      }

      createDataChannel() {
        return this.channel;
      }

      async createOffer() {
        return { type: 'offer', sdp: 'v=0\r\ns=-\r\nm=application\r\na=mid:0\r\n' };
      }

      async setLocalDescription() {}

      async setRemoteDescription() {}

      open() {
        this.channel.tell('open');
      }

      end() {
        this.channel.tell('close');
      }

      fail() {
        this.connectionState = 'failed';
        this.tell('connectionstatechange');
      }

      close() {
        this.closed = true;
      }
    };
    this.fetch = async (url, { body, method }) => {
      if (method === 'POST') this.offers.push(body);
      return new Response('v=0\r\n', { status: 201 });
    };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  get rtc() {
    return this.rtcs.at(-1);
  }
}
