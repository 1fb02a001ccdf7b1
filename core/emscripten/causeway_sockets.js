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
    MSG_DONTWAIT: 64,
    FIONBIO: 0x5421,
    POLLIN: 0x41, // with POLLRDNORM
    POLLOUT: 4,
    POLLERR: 8,
    LONGEST: 1400,
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
          timer = setTimeout(function () {
            end(take());
          }, timeout);
      });
    },

    /* How long recv and its kin wait. */
    patience: function (fd, flags) {
      var stream = FS.getStream(fd);
      var hurries = flags & causeway.MSG_DONTWAIT || !stream || stream.flags & causeway.O_NONBLOCK;
      return hurries ? 0 : -1;
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
        var peer = causeway.stock.createPeer(sock, socket);
        ['open', 'message', 'error', 'close'].forEach(function (type) {
          socket.addEventListener(type, causeway.happened);
        });
        return peer;
      },
      poll: function (sock) {
        var mask = causeway.POLLOUT;
        if (sock.recv_queue.length) mask |= causeway.POLLIN;
        if (sock.error) mask |= causeway.POLLERR;
        return mask;
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
        if (length > causeway.LONGEST) causeway.fail(causeway.EMSGSIZE);
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

    $stockRecvfrom__deps: LibraryManager.library.__syscall_recvfrom__deps,
    $stockRecvfrom: LibraryManager.library.__syscall_recvfrom,
    __syscall_recvfrom__deps: ['$SOCKFS', '$stockRecvfrom'],
    __syscall_recvfrom__async: true,
    __syscall_recvfrom: function (fd, data, size, flags, from, fromSize) {
      return causeway.wait(causeway.patience(fd, flags), -causeway.EAGAIN, function () {
        return stockRecvfrom(fd, data, size, flags, from, fromSize);
      });
    },

    $stockRecvmsg__deps: LibraryManager.library.__syscall_recvmsg__deps,
    $stockRecvmsg: LibraryManager.library.__syscall_recvmsg,
    __syscall_recvmsg__deps: ['$SOCKFS', '$stockRecvmsg'],
    __syscall_recvmsg__async: true,
    __syscall_recvmsg: function (fd, message, flags) {
      return causeway.wait(causeway.patience(fd, flags), -causeway.EAGAIN, function () {
        return stockRecvmsg(fd, message, flags, 0, 0, 0);
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
