/* The datagram sockets of a program that is compiled with Emscripten, over Causeway's relay: WebRTC, or WebSocket
 * where that is blocked. The program needs no change.
 *
 *     emcc game.c causeway_sockets.c --js-library causeway_sockets.js --extern-pre-js causeway_transports.js -o game.js
 *
 * or with CMake `target_link_libraries(game causeway::emscripten_sockets)`. The page says where the relay is, or it is
 * where the page came from:
 *
 *     Module.websocket = { url: 'causeway:https://relay.example/' };
 *
 * The address that the program sends to names the game server to the relay, whose --upstream must list it.
 * `Module.causeway.stats()` tells the traffic of all sockets, what carries them, and what was dropped and why.
 * Each error puts one line on the console.
 *
 * With -sASYNCIFY, poll, select, recv, recvfrom, recvmsg and nanosleep wait as elsewhere. Older Emscriptens have
 * to learn from ASYNCIFY_IMPORTS which functions these call; an error says how.
 *
 * TCP sockets stay as they are. Datagrams have 1 to 1,400 bytes: a longer one is EMSGSIZE, an empty one goes nowhere.
 *
 * Emscripten knows these functions by their text: they see nothing but what __deps names, and the names of the
 * page's objects are in quotes, which the Closure compiler leaves alone. This was tested
 * with Emscripten 3.1.6, and relies on nothing that 6.0 has not. */
mergeInto(LibraryManager.library, {
  $causeway__deps: ['$FS'],
  $causeway__postset: function () {
    addAtInit('causeway.begin();');
  },
  $causeway: {
    /* The values of Emscripten's headers. */
    EADDRINUSE: 3,
    EAGAIN: 6,
    EBADF: 8,
    EINVAL: 28,
    EMSGSIZE: 35,
    ENOPROTOOPT: 50,
    ENOTSOCK: 57,
    AF_INET6: 10,
    IPPROTO_UDP: 17,
    SOL_SOCKET: 1,
    SOCK_DGRAM: 2,
    F_SETFL: 4,
    O_NONBLOCK: 2048,
    MSG_PEEK: 2,
    MSG_TRUNC: 32,
    MSG_DONTWAIT: 64,
    FIONBIO: 0x5421,
    POLLIN: 0x41, // with POLLRDNORM
    POLLOUT: 4,
    LONGEST: 1400,
    /* The longest wait in milliseconds: setTimeout ends a longer one at once. */
    LONGEST_WAIT: 0x7fffffff,
    /* The datagrams that a socket keeps for the program. */
    MOST_WAITING: 256,
    /* Options, each a level and a name, that a program may set to any value: a page has nothing that they would
     * change. */
    WITHOUT_EFFECT: [
      '1:2', // SO_REUSEADDR
      '1:7', // SO_SNDBUF
      '1:8', // SO_RCVBUF
      '1:9', // SO_KEEPALIVE
      '1:12', // SO_PRIORITY
      '1:15', // SO_REUSEPORT
      '1:32', // SO_SNDBUFFORCE
      '1:33', // SO_RCVBUFFORCE
      '0:1', // IP_TOS
      '0:10', // IP_MTU_DISCOVER
      '41:23', // IPV6_MTU_DISCOVER
      '41:26', // IPV6_V6ONLY
      '41:67', // IPV6_TCLASS
    ],
    /* SO_RCVTIMEO and SO_SNDTIMEO, and their numbers where time has 64 bits. */
    RECEIVE_TIMEOUTS: ['1:20', '1:66'],
    SEND_TIMEOUTS: ['1:21', '1:67'],
    /* The bytes for datagrams that a new socket reports. */
    BUFFER: 65536,

    /* The next port for a socket that asks for none. They begin where no service has any (IANA). */
    nextPort: 49152,
    /* The ports that sockets have. */
    ports: {},
    /* Emscripten's own functions, by name. */
    stock: {},
    /* Checks whether the program can stop waiting. */
    waiter: null,

    begin: function () {
      var ops = SOCKFS.websocket_sock_ops;
      var ours = causeway.ops;
      var createSocket = SOCKFS.createSocket;
      Module['causeway'] = globalThis['causewaySockets'];
      SOCKFS.createSocket = function (family, type, protocol) {
        var sock = createSocket(family, type, protocol);
        if (type & causeway.O_NONBLOCK) sock.stream.flags |= causeway.O_NONBLOCK;
        return sock;
      };
      Object.keys(ours).forEach(function (name) {
        var stock = ops[name];
        causeway.stock[name] = stock;
        ops[name] = function (sock) {
          var is = sock.type === causeway.SOCK_DGRAM ? ours[name] : stock;
          return is.apply(ops, arguments);
        };
      });
      var createPeer = ops.createPeer;
      ops.createPeer = function () {
        var peer = createPeer.apply(ops, arguments);
        ['open', 'message', 'error', 'close'].forEach(function (type) {
          peer.socket.addEventListener(type, causeway.happened);
        });
        return peer;
      };
    },

    fail: function (errno) {
      throw new FS.ErrnoError(errno);
    },

    takePort: function (sock, port) {
      while (!port) {
        if (!causeway.ports[causeway.nextPort]) port = causeway.nextPort;
        causeway.nextPort = causeway.nextPort === 65535 ? 49152 : causeway.nextPort + 1;
      }
      causeway.ports[port] = true;
      sock.sport = port;
    },

    setNonBlocking: function (sock, on) {
      if (on) sock.stream.flags |= causeway.O_NONBLOCK;
      else sock.stream.flags &= ~causeway.O_NONBLOCK;
    },

    /* Returns the milliseconds of a struct timeval, which has words of 32 or 64 bits. */
    duration: function (bytes) {
      var words = new Int32Array(bytes.buffer);
      return words[0] * 1e3 + words[words.length > 2 ? 2 : 1] / 1e3;
    },

    /* Takes the option if it changes nothing in a page, or limits a wait. Options that a page does not have are off,
     * and may be turned off. Returns 0 or an error. */
    setOption: function (sock, level, name, bytes) {
      var key = level + ':' + name;
      var limits = causeway.RECEIVE_TIMEOUTS.indexOf(key) >= 0;
      var off = level === causeway.SOL_SOCKET && !bytes.some(Boolean);
      var known =
        limits ||
        off ||
        causeway.SEND_TIMEOUTS.indexOf(key) >= 0 ||
        causeway.WITHOUT_EFFECT.indexOf(key) >= 0;
      if (!known) return causeway.ENOPROTOOPT;
      if (bytes.length < (limits ? 8 : 4)) return causeway.EINVAL;
      if (limits) sock.patience = causeway.duration(bytes);
      sock.options = sock.options || {};
      sock.options[key] = bytes;
      return 0;
    },

    /* Returns the bytes of an option's value, if a datagram socket has such an option. */
    option: function (sock, level, name) {
      var key = level + ':' + name;
      if (sock.options && sock.options[key]) return sock.options[key];
      var word = {
        '1:3': causeway.SOCK_DGRAM, // SO_TYPE
        '1:6': 0, // SO_BROADCAST
        '1:7': causeway.BUFFER,
        '1:8': causeway.BUFFER,
        '1:38': causeway.IPPROTO_UDP, // SO_PROTOCOL
        '1:39': sock.family, // SO_DOMAIN
      }[key];
      if (word !== undefined) return new Uint8Array(new Int32Array([word]).buffer);
      if (causeway.WITHOUT_EFFECT.indexOf(key) >= 0) return new Uint8Array(4);
      if (causeway.RECEIVE_TIMEOUTS.concat(causeway.SEND_TIMEOUTS).indexOf(key) >= 0)
        return new Uint8Array(16);
      return undefined;
    },

    relay: function () {
      var url = String((Module['websocket'] || {})['url']);
      return url.indexOf('causeway:') === 0 ? url.slice(9) : '/';
    },

    /* Notes that something has happened on a socket. */
    happened: function () {
      if (causeway.waiter) causeway.waiter();
    },

    /* Returns the result of take() as soon as it is not `nothing`, or when the time in milliseconds is over (negative:
     * never). */
    wait: function (timeout, nothing, take) {
      return Asyncify.handleSleep(function (wake) {
        var result = take();
        if (result !== nothing || timeout === 0) {
          wake(result);
          return;
        }
        var timer;
        var end = function (result) {
          causeway.waiter = null;
          clearTimeout(timer);
          wake(result);
        };
        causeway.waiter = function () {
          var result = take();
          if (result !== nothing) end(result);
        };
        if (timeout > 0)
          timer = setTimeout(
            function () {
              end(take());
            },
            Math.min(timeout, causeway.LONGEST_WAIT),
          );
      });
    },

    /* Returns the datagram socket of a file descriptor, if it is one. */
    find: function (fd) {
      var sock = SOCKFS.getSocket(fd);
      return sock && sock.type === causeway.SOCK_DGRAM ? sock : null;
    },

    /* Returns the milliseconds that recv and its kin wait. */
    patience: function (fd, flags) {
      var sock = causeway.find(fd);
      var hurries =
        flags & causeway.MSG_DONTWAIT || !sock || sock.stream.flags & causeway.O_NONBLOCK;
      return hurries ? 0 : sock.patience || -1;
    },

    /* Takes the next datagram, if there is one. */
    take: function (sock, flags) {
      return flags & causeway.MSG_PEEK ? sock.recv_queue[0] : sock.recv_queue.shift();
    },

    /* These take the place of Emscripten's functions for datagram sockets. */
    ops: {
      createPeer: function (sock, addr, port) {
        if (typeof addr === 'object') return causeway.stock.createPeer(sock, addr, port);
        // To a relay, an IPv4 address inside an IPv6 one is the IPv4 address.
        var name = addr.replace(/^::ffff:(?=[\d.]+$)/i, '');
        var host = name.indexOf(':') < 0 ? name : '[' + name + ']';
        var server = host + ':' + port;
        var socket = globalThis['causewaySockets']['open'](causeway.relay(), server);
        socket._socket = { remoteAddress: addr, remotePort: port };
        socket['isFull'] = function () {
          return sock.recv_queue.length >= causeway.MOST_WAITING;
        };
        if (sock.sport === undefined) causeway.takePort(sock);
        return causeway.stock.createPeer(sock, socket);
      },
      /* A relay that cannot be reached loses datagrams, which is no error of a UDP socket: a program that waits
       * in a loop would never wait again, and the page would stand still. SO_ERROR has the error. */
      poll: function (sock) {
        return sock.recv_queue.length ? causeway.POLLOUT | causeway.POLLIN : causeway.POLLOUT;
      },
      bind: function (sock, addr, port) {
        if (sock.sport !== undefined) causeway.fail(causeway.EINVAL);
        if (causeway.ports[port]) causeway.fail(causeway.EADDRINUSE);
        sock.saddr = addr;
        causeway.takePort(sock, port);
      },
      connect: function (sock, addr, port) {
        sock.daddr = addr;
        sock.dport = port;
        if (sock.sport === undefined) causeway.takePort(sock);
      },
      close: function (sock) {
        delete causeway.ports[sock.sport];
        return causeway.stock.close(sock);
      },
      sendmsg: function (sock, buffer, offset, length, addr, port) {
        if (length >>> 0 > causeway.LONGEST) causeway.fail(causeway.EMSGSIZE);
        return causeway.stock.sendmsg(sock, buffer, offset, length, addr, port);
      },
    },
  },
  /* This dependency puts $causeway into every program that has sockets. */
  $SOCKFS__deps: ['$FS', '$causeway'],

  $stockIoctl__deps: LibraryManager.library.__syscall_ioctl__deps || [],
  $stockIoctl: LibraryManager.library.__syscall_ioctl,
  __syscall_ioctl__deps: ['$SOCKFS', '$stockIoctl'],
  __syscall_ioctl: function (fd, request, varargs) {
    var sock = SOCKFS.getSocket(fd);
    if (!sock || request !== causeway.FIONBIO) return stockIoctl(fd, request, varargs);
    causeway.setNonBlocking(sock, HEAP32[HEAP32[varargs >> 2] >> 2]);
    return 0;
  },

  /* Emscripten's own fcntl turns flags on and never off. */
  $stockFcntl__deps: LibraryManager.library.__syscall_fcntl64__deps || [],
  $stockFcntl: LibraryManager.library.__syscall_fcntl64,
  __syscall_fcntl64__deps: ['$SOCKFS', '$stockFcntl'],
  __syscall_fcntl64: function (fd, command, varargs) {
    var sock = causeway.find(fd);
    if (!sock || command !== causeway.F_SETFL) return stockFcntl(fd, command, varargs);
    causeway.setNonBlocking(sock, HEAP32[varargs >> 2] & causeway.O_NONBLOCK);
    return 0;
  },

  causeway_setsockopt__deps: ['$SOCKFS'],
  causeway_setsockopt__proxy: 'sync',
  causeway_setsockopt__sig: 'iiiiii',
  causeway_setsockopt: function (fd, level, name, value, size) {
    var stream = FS.getStream(fd);
    if (!stream) return -causeway.EBADF;
    if (!SOCKFS.getSocket(fd)) return -causeway.ENOTSOCK;
    var sock = causeway.find(fd);
    if (!sock) return -causeway.ENOPROTOOPT;
    return -causeway.setOption(sock, level, name, HEAPU8.slice(value, value + size));
  },

  $stockGetsockopt__deps: LibraryManager.library.__syscall_getsockopt__deps,
  $stockGetsockopt: LibraryManager.library.__syscall_getsockopt,
  __syscall_getsockopt__deps: ['$SOCKFS', '$stockGetsockopt'],
  __syscall_getsockopt: function (fd, level, name, value, size) {
    var sock = causeway.find(fd);
    var bytes = sock && causeway.option(sock, level, name);
    if (!bytes) return stockGetsockopt(fd, level, name, value, size, 0);
    bytes = bytes.subarray(0, HEAPU32[size >> 2]);
    HEAPU8.set(bytes, value);
    HEAPU32[size >> 2] = bytes.length;
    return 0;
  },

  /* Without ASYNCIFY, a page cannot sleep. */
  causeway_sleep: function () {
    return 0;
  },

  /* An address may come in more bytes than it needs, as in a struct sockaddr_storage. */
  $stockReadSockaddr__deps: LibraryManager.library.$readSockaddr__deps,
  $stockReadSockaddr: LibraryManager.library.$readSockaddr,
  $readSockaddr__deps: ['$stockReadSockaddr', '$causeway'],
  $readSockaddr: function (address, size) {
    var needed = HEAP16[address >> 1] === causeway.AF_INET6 ? 28 : 16;
    return stockReadSockaddr(address, size > needed ? needed : size);
  },

  __syscall_getsockname__deps: ['$getSocketFromFD', '$writeSockaddr', '$DNS'],
  __syscall_getsockname: function (fd, addr, addrlen) {
    var sock = SOCKFS.getSocket(fd);
    if (!sock) return -causeway.EBADF;
    writeSockaddr(
      addr,
      sock.family,
      DNS.lookup_name(sock.saddr || (sock.family === causeway.AF_INET6 ? '::' : '0.0.0.0')),
      sock.sport || 0,
      addrlen,
    );
    return 0;
  },

  $stockRecvfrom__deps: LibraryManager.library.__syscall_recvfrom__deps,
  $stockRecvfrom: LibraryManager.library.__syscall_recvfrom,
  $causewayRecvfrom__deps: ['$SOCKFS', '$stockRecvfrom', '$writeSockaddr', '$DNS'],
  $causewayRecvfrom: function (fd, data, size, flags, from, fromSize) {
    var sock = causeway.find(fd);
    if (!sock) return stockRecvfrom(fd, data, size, flags, from, fromSize);
    var datagram = causeway.take(sock, flags);
    if (!datagram) return -causeway.EAGAIN;
    var bytes = datagram.data.subarray(0, size >>> 0);
    HEAPU8.set(bytes, data);
    if (from)
      writeSockaddr(from, sock.family, DNS.lookup_name(datagram.addr), datagram.port, fromSize);
    return flags & causeway.MSG_TRUNC ? datagram.data.length : bytes.length;
  },
  __syscall_recvfrom__deps: ['$causewayRecvfrom'],
  __syscall_recvfrom: function (fd, data, size, flags, from, fromSize) {
    return causewayRecvfrom(fd, data, size, flags, from, fromSize);
  },

  /* Emscripten's own recvmsg writes all buffers but the first one to the wrong place. The words of a struct msghdr are:
   * name, its size, buffers (each an address and a size), their number, two for control data, flags. */
  $stockRecvmsg__deps: LibraryManager.library.__syscall_recvmsg__deps,
  $stockRecvmsg: LibraryManager.library.__syscall_recvmsg,
  $causewayRecvmsg__deps: ['$SOCKFS', '$stockRecvmsg', '$writeSockaddr', '$DNS'],
  $causewayRecvmsg: function (fd, message, flags) {
    var sock = causeway.find(fd);
    if (!sock) return stockRecvmsg(fd, message, flags, 0, 0, 0);
    var datagram = causeway.take(sock, flags);
    if (!datagram) return -causeway.EAGAIN;
    var words = HEAPU32.subarray(message >> 2, (message >> 2) + 7);
    var taken = 0;
    for (var i = 0; i < words[3]; i++) {
      var buffer = (words[2] >> 2) + 2 * i;
      var bytes = datagram.data.subarray(taken, taken + HEAPU32[buffer + 1]);
      HEAPU8.set(bytes, HEAPU32[buffer]);
      taken += bytes.length;
    }
    if (words[0])
      writeSockaddr(
        words[0],
        sock.family,
        DNS.lookup_name(datagram.addr),
        datagram.port,
        message + 4,
      );
    words[5] = 0;
    words[6] = taken < datagram.data.length ? causeway.MSG_TRUNC : 0;
    return flags & causeway.MSG_TRUNC ? datagram.data.length : taken;
  },
  __syscall_recvmsg__deps: ['$causewayRecvmsg'],
  __syscall_recvmsg: function (fd, message, flags) {
    return causewayRecvmsg(fd, message, flags);
  },

  /* Emscripten's functions for addresses need these, and have them only in programs that call them themselves. */
  htons: function (value) {
    return ((value & 255) << 8) | ((value >> 8) & 255);
  },
  ntohs: function (value) {
    return ((value & 255) << 8) | ((value >> 8) & 255);
  },
});

/* With ASYNCIFY, calls that would block do block. */
if (ASYNCIFY) {
  mergeInto(LibraryManager.library, {
    $causeway__deps: ['$FS', '$Asyncify'],

    causeway_sleep__deps: ['$causeway'],
    causeway_sleep__async: true,
    causeway_sleep: function (milliseconds) {
      return Asyncify.handleSleep(function (wake) {
        setTimeout(
          function () {
            wake(1);
          },
          Math.min(milliseconds, causeway.LONGEST_WAIT),
        );
      });
    },

    $stockPoll__deps: LibraryManager.library.__syscall_poll__deps || [],
    $stockPoll: LibraryManager.library.__syscall_poll,
    __syscall_poll__deps: ['$SOCKFS', '$stockPoll'],
    __syscall_poll__async: true,
    __syscall_poll: function (fds, count, timeout) {
      return causeway.wait(timeout, 0, function () {
        return stockPoll(fds, count, 0);
      });
    },

    __syscall_recvfrom__async: true,
    __syscall_recvfrom: function (fd, data, size, flags, from, fromSize) {
      return causeway.wait(causeway.patience(fd, flags), -causeway.EAGAIN, function () {
        return causewayRecvfrom(fd, data, size, flags, from, fromSize);
      });
    },

    __syscall_recvmsg__async: true,
    __syscall_recvmsg: function (fd, message, flags) {
      return causeway.wait(causeway.patience(fd, flags), -causeway.EAGAIN, function () {
        return causewayRecvmsg(fd, message, flags);
      });
    },
  });
}

/* Newer Emscriptens have their select in C, over poll. */
if (ASYNCIFY && LibraryManager.library.__syscall__newselect) {
  mergeInto(LibraryManager.library, {
    $stockSelect__deps: LibraryManager.library.__syscall__newselect__deps || [],
    $stockSelect: LibraryManager.library.__syscall__newselect,
    __syscall__newselect__deps: ['$SOCKFS', '$stockSelect'],
    __syscall__newselect__async: true,
    __syscall__newselect: function (count, readable, writable, exceptional, timeout) {
      var sets = [readable, writable, exceptional].filter(Boolean);
      var wanted = sets.map(function (set) {
        return HEAP32.slice(set >> 2, (set >> 2) + 2);
      });
      var seconds = timeout ? HEAP32[timeout >> 2] + HEAP32[(timeout + 4) >> 2] / 1e6 : -1;
      return causeway.wait(seconds * 1000, 0, function () {
        sets.forEach(function (set, i) {
          HEAP32.set(wanted[i], set >> 2);
        });
        return stockSelect(count, readable, writable, exceptional, timeout);
      });
    },
  });
}

/* Older Emscriptens do not see __async: every function through which a waiting call goes must be in ASYNCIFY_IMPORTS,
 * or the program traps when it waits for the first time. */
if (ASYNCIFY && !LibraryManager.library.emscripten_sleep__async) {
  var waits = ['poll', '_newselect', 'recvfrom', 'recvmsg'].map(function (name) {
    return '__syscall_' + name;
  });
  waits.push('causeway_sleep');
  var instrumented = waits.every(function (name) {
    return ASYNCIFY_IMPORTS.some(function (given) {
      var start = given.replace(/^env\./, '').split('*');
      return start.length > 1 ? name.indexOf(start[0]) === 0 : name === start[0];
    });
  });
  if (!instrumented)
    error('causeway_sockets.js: add -sASYNCIFY_IMPORTS=' + waits.join(',') + ' beside -sASYNCIFY');
}
