/**
 * The script of `proofField`: finds the nonce in parts of 20 ms, so that the page stays responsive. On `proofPage`, or if
 * the person has submitted the form in the meantime, it submits the form. SHA-256 is its own, because Web Crypto is asynchronous and
 * ten times slower for short texts. A text, because a bundler could add calls of its own functions to a function.
 */
export const proofScript: string = `
'use strict';
(function () {
  // fields of the form may have names such as submit, which hide the methods of the form
  var answer = document.querySelector('input[data-text]');
  var text = answer.getAttribute('data-text');
  var bits = Number(answer.getAttribute('data-bits'));
  var isWanted = document.querySelector('[data-submit]') !== null, button = null;
  function wait(event) {
    event.preventDefault();
    isWanted = true;
    button = event.submitter;
  }
  answer.form.addEventListener('submit', wait);
  var constants = [], first = [], words = new Int32Array(64);
  for (var n = 2; constants.length < 64; n++) {
    for (var d = 2; d * d <= n && n % d; d++);
    if (d * d <= n) continue;
    if (first.length < 8) first.push(fraction(Math.sqrt(n)));
    constants.push(fraction(Math.cbrt(n)));
  }
  function fraction(x) { return ((x - Math.floor(x)) * 4294967296) | 0; }
  // 'result' may be 'state'
  function compress(state, block, result) {
    var i, a = state[0], b = state[1], c = state[2], d = state[3];
    var e = state[4], f = state[5], g = state[6], h = state[7];
    for (i = 0; i < 16; i++) words[i] = block[i];
    for (; i < 64; i++) {
      var x = words[i - 15], y = words[i - 2];
      var s = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3;
      var t = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10;
      words[i] = words[i - 16] + s + words[i - 7] + t | 0;
    }
    for (i = 0; i < 64; i++) {
      var p = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
      var one = h + p + (e & f ^ ~e & g) + constants[i] + words[i] | 0;
      var q = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
      var two = q + (a & b ^ a & c ^ b & c) | 0;
      h = g; g = f; f = e; e = d + one | 0; d = c; c = b; b = a; a = one + two | 0;
    }
    result[0] = state[0] + a; result[1] = state[1] + b; result[2] = state[2] + c; result[3] = state[3] + d;
    result[4] = state[4] + e; result[5] = state[5] + f; result[6] = state[6] + g; result[7] = state[7] + h;
    return result;
  }
  // writes the characters of 'message' and the end of all 'length' bytes
  function fill(block, message, length) {
    block.fill(0);
    for (var i = 0; i < message.length; i++) block[i >> 2] |= message.charCodeAt(i) << 24 - i % 4 * 8;
    block[i >> 2] |= 128 << 24 - i % 4 * 8;
    block[15] = length * 8;
  }
  // RFC 2104: a key above 64 bytes, such as the text of a task, is hashed
  var block = new Int32Array(16), key = new Int32Array(16), hash = new Int32Array(8);
  for (var k = 0; k < 64; k++) block[k >> 2] |= text.charCodeAt(k) << 24 - k % 4 * 8;
  compress(first, block, key);
  fill(block, text.slice(64), text.length);
  compress(key, block, key);
  function keyed(mask) {
    return compress(first, key.map(function (word) { return word ^ mask; }), new Int32Array(8));
  }
  var inner = keyed(0x36363636), outer = keyed(0x5c5c5c5c), tried = 0;
  var last = new Int32Array(16);
  last[8] = 128 << 24;
  last[15] = 96 * 8;
  function solves(nonce) {
    fill(block, nonce, 64 + nonce.length);
    compress(inner, block, last);
    return Math.clz32(compress(outer, last, hash)[0]) >= bits;
  }
  function search() {
    for (var end = performance.now() + 20; performance.now() < end;) {
      for (var i = 0; i < 100; i++) {
        var nonce = (tried++).toString(36);
        if (solves(nonce)) {
          answer.value = text + '.' + nonce;
          answer.form.removeEventListener('submit', wait);
          if (!isWanted) return;
          if (button) HTMLFormElement.prototype.requestSubmit.call(answer.form, button);
          else HTMLFormElement.prototype.submit.call(answer.form);
          return;
        }
      }
    }
    setTimeout(search);
  }
  search();
})();
`
