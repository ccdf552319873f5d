// Loads the TypeScript program named by the first argument, and calls its exports on request of the parent process.
// IOREDIS and NODE_REDIS name other packages to load in place of ioredis and redis.
const Module = require('node:module')
require('./typescript-hook.cjs')

const { IOREDIS: ioredis = 'ioredis', NODE_REDIS: redis = 'redis' } = process.env
const replaced = { ioredis, redis }
const resolve = Module._resolveFilename
Module._resolveFilename = (request, ...rest) => resolve(replaced[request] ?? request, ...rest)

// the parent no longer listens
process.once('disconnect', () => process.exit())
const program = require(process.argv[2])

process.on('message', async ({ id, name, args }) => {
  try {
    process.send({ id, value: await program[name](...args) })
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) })
  }
})
