// Takes from an engine the features that one of the oldest supported ones (Safari 15.4, Chrome 94, Firefox 93) does not
// have. It is a classic script, for browsers before their pages and for `node --require`.
(() => {
  const missing = {
    Array: 'fromAsync',
    'Array.prototype': 'findLast findLastIndex toReversed toSorted toSpliced with group groupToMap',
    'ArrayBuffer.prototype':
      'resize transfer transferToFixedLength detached resizable maxByteLength',
    'Uint8Array.__proto__.prototype': 'findLast findLastIndex toReversed toSorted with',
    Uint8Array: 'fromBase64 fromHex',
    'Uint8Array.prototype': 'toBase64 toHex setFromBase64 setFromHex',
    'DataView.prototype': 'getFloat16 setFloat16',
    Error: 'isError',
    Map: 'groupBy',
    Math: 'f16round sumPrecise',
    Object: 'groupBy',
    Promise: 'withResolvers try',
    RegExp: 'escape',
    'Set.prototype':
      'union intersection difference symmetricDifference isSubsetOf isSupersetOf isDisjointFrom',
    'String.prototype': 'isWellFormed toWellFormed',
    URL: 'canParse parse',
    'URLSearchParams.prototype': 'size',
    AbortSignal: 'any timeout',
    'AbortSignal.prototype': 'throwIfAborted reason',
    'Blob.prototype': 'bytes',
    'Crypto.prototype': 'randomUUID',
    'Navigator.prototype': 'locks',
    Response: 'json',
    'Response.prototype': 'bytes',
    'ReadableStream.prototype': 'values',
    'RTCPeerConnection.prototype': 'connectionState', // Firefox has it from 113 on
    'CanvasRenderingContext2D.prototype': 'roundRect reset letterSpacing',
    'Document.prototype': 'adoptedStyleSheets',
    'Element.prototype': 'checkVisibility',
    globalThis:
      'structuredClone Iterator Float16Array scheduler CompressionStream DecompressionStream ' +
      'OffscreenCanvas SharedWorker WebTransport WebSocketStream navigation',
  };
  // Properties of Symbol cannot be taken away, so there is another Symbol without them.
  const Whole = Symbol;
  const Old = (description) => Whole(description);
  const parts = Object.getOwnPropertyDescriptors(Whole);
  delete parts.dispose;
  delete parts.asyncDispose;
  globalThis.Symbol = Object.defineProperties(Old, parts);

  for (const [place, names] of Object.entries(missing)) {
    let owner = globalThis;
    for (const part of place.split('.')) owner = owner?.[part];
    for (const name of names.split(' ').filter(Boolean)) if (owner) delete owner[name];
  }
})();
