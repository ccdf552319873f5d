// Loads entry points, and prints which of these functions their code called meanwhile:
// node -e recorded-loading.cjs require|import <entry> …; run by loading.test.ts.
const crypto = require('node:crypto')
const fs = require('node:fs')

const OURS = /packages\/([\w-]+\/dist\/\w+\/[\w/-]+\.js:\d+)/
const used = new Set()
const { exec } = RegExp.prototype

/** Replaces a function by one that records calls of our code. */
function record(home, name) {
  const original = home[name]
  home[name] = new Proxy(original, {
    apply(target, self, args) {
      note(name)
      return Reflect.apply(target, self, args)
    },
    construct(target, args, made) {
      note(name)
      return Reflect.construct(target, args, made)
    },
  })
}

function note(name) {
  // the caller, not code that it loads
  const caller = new Error(name).stack.split('\n').slice(3)[0] ?? ''
  const [, place] = Reflect.apply(exec, OURS, [caller]) ?? []
  if (place) used.add(`${name} at ${place}`)
}

const globals = ['FinalizationRegistry', 'WeakRef', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']
for (const name of [...globals, 'fetch', 'MessageChannel']) record(globalThis, name)
for (const name of ['on', 'once', 'addListener', 'emitWarning', 'nextTick']) record(process, name)
for (const name of ['randomBytes', 'randomUUID', 'createHash', 'createHmac', 'getRandomValues']) record(crypto, name)
for (const name of ['readFileSync', 'statSync', 'existsSync']) record(fs, name)
// addresses and ranges are parsed by regular expressions
record(RegExp.prototype, 'exec')
record(performance, 'now')
record(Date, 'now')

async function load(how, entries) {
  let loaded = 0
  for (const entry of entries) {
    if (how === 'require') require(entry)
    else await import(entry)
    loaded++
  }
  console.log(JSON.stringify({ loaded, used: [...used] }))
}

const [how, ...entries] = process.argv.slice(1)
load(how, entries)
