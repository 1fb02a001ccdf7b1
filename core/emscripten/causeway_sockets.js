/* The datagram sockets of a program that is compiled with Emscripten, over Causeway's relay: WebRTC, or WebSocket
 * where that is blocked. The program needs no change.
 *
 *     emcc game.c --js-library causeway_sockets.js --extern-pre-js causeway_transports.js -o game.js
 *
 * or with CMake `target_link_libraries(game causeway::emscripten_sockets)`. The page says where the relay is, or it is
 * where the page came from:
 *
 *     Module.websocket = { url: 'causeway:https://relay.example/' };
 *
 * The address that the program sends to names the game server to the relay, whose --upstream must list it.
 * `Module.causeway.stats()` tells what went through all sockets, what carries them, and what was dropped and why.
 * Each error puts one line on the console.
 *
 * With -sASYNCIFY, poll, select, recv, recvfrom and recvmsg wait as elsewhere. Programs that give ASYNCIFY_IMPORTS of
 * their own add __syscall_poll, __syscall__newselect, __syscall_recvfrom and __syscall_recvmsg.
 *
 * TCP sockets stay as they are. Datagrams have 1 to 1,400 bytes: a longer one is EMSGSIZE, an empty one goes nowhere.
 *
 * Emscripten knows these functions by their text: they see nothing but what __deps names, and the names of the
 * page's objects are in quotes, which the Closure compiler leaves alone. Tested with Emscripten 3.1.6, and written
 * against what 6.0 has too. */
mergeInto(LibraryManager.library, {
  $causeway__deps: ['$FS'],
  $causeway__postset: function () {
    addAtInit('causeway.begin();');
  },
  $causeway: {
    /* Of Emscripten's headers. */
    EADDRINUSE: 3,
    EAGAIN: 6,
    EBADF: 8,
    EINVAL: 28,
    EMSGSIZE: 35,
    SOCK_DGRAM: 2,
    O_NONBLOCK: 2048,
    MSG_PEEK: 2,
    MSG_TRUNC: 32,
    MSG_DONTWAIT: 64,
    FIONBIO: 0x5421,
    POLLIN: 0x41, // with POLLRDNORM
    POLLOUT: 4,
    LONGEST: 1400,
    /* Milliseconds. A longer one is over at once, says setTimeout. */
    LONGEST_WAIT: 0x7fffffff,
    /* Datagrams that a socket keeps for the program. */
    MOST_WAITING: 256,

    /* Those for sockets that ask for none begin where no service has any (IANA). */
    nextPort: 49152,
    /* Those that sockets have. */
    ports: {},
    /* What Emscripten does, by name. */
    stock: {},
    /* Looks whether the program need not wait any more. */
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

    relay: function () {
      var url = String((Module['websocket'] || {})['url']);
      return url.indexOf('causeway:') === 0 ? url.slice(9) : '/';
    },

    /* Something has happened on a socket. */
    happened: function () {
      if (causeway.waiter) causeway.waiter();
    },

    /* What take() gives as soon as that is not `nothing`, or when the time (milliseconds, none if negative) is over. */
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

    /* The datagram socket that this is, if it is one. */
    find: function (fd) {
      var sock = SOCKFS.getSocket(fd);
      return sock && sock.type === causeway.SOCK_DGRAM ? sock : null;
    },

    /* How long recv and its kin wait. */
    patience: function (fd, flags) {
      var sock = causeway.find(fd);
      var hurries =
        flags & causeway.MSG_DONTWAIT || !sock || sock.stream.flags & causeway.O_NONBLOCK;
      return hurries ? 0 : -1;
    },

    /* The next datagram, if there is one. */
    take: function (sock, flags) {
      return flags & causeway.MSG_PEEK ? sock.recv_queue[0] : sock.recv_queue.shift();
    },

    /* These take the place of Emscripten's for datagram sockets. */
    ops: {
      createPeer: function (sock, addr, port) {
        if (typeof addr === 'object') return causeway.stock.createPeer(sock, addr, port);
        var host = addr.indexOf(':') < 0 ? addr : '[' + addr + ']';
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
       * in a loop would never wait again, and the page would stand still. SO_ERROR tells. */
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
  /* So it is in every program that has sockets. */
  $SOCKFS__deps: ['$FS', '$causeway'],

  $stockIoctl__deps: LibraryManager.library.__syscall_ioctl__deps || [],
  $stockIoctl: LibraryManager.library.__syscall_ioctl,
  __syscall_ioctl__deps: ['$SOCKFS', '$stockIoctl'],
  __syscall_ioctl: function (fd, request, varargs) {
    var sock = SOCKFS.getSocket(fd);
    if (!sock || request !== causeway.FIONBIO) return stockIoctl(fd, request, varargs);
    if (HEAP32[HEAP32[varargs >> 2] >> 2]) sock.stream.flags |= causeway.O_NONBLOCK;
    else sock.stream.flags &= ~causeway.O_NONBLOCK;
    return 0;
  },

  __syscall_getsockname__deps: ['$getSocketFromFD', '$writeSockaddr', '$DNS'],
  __syscall_getsockname: function (fd, addr, addrlen) {
    var sock = SOCKFS.getSocket(fd);
    if (!sock) return -causeway.EBADF;
    writeSockaddr(
      addr,
      sock.family,
      DNS.lookup_name(sock.saddr || '0.0.0.0'),
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

  /* Emscripten's own writes all buffers but the first one to the wrong place. The words of a struct msghdr are: name,
   * its size, buffers (each an address and a size), their number, two for control data, flags. */
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

  /* Emscripten's sendto needs it, and has it only in programs that call it themselves. */
  ntohs: function (value) {
    return ((value & 255) << 8) | ((value >> 8) & 255);
  },
});

/* With ASYNCIFY, what would block does. */
if (ASYNCIFY) {
  mergeInto(LibraryManager.library, {
    $causeway__deps: ['$FS', '$Asyncify'],

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

/* Newer ones have their select in C, over poll. */
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
