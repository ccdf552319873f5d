// Loads the TypeScript program named by the first argument, and calls its exports on request of the parent process.
// IOREDIS names another package to load in place of ioredis.
const Module = require('node:module')
require('./typescript-hook.cjs')

const { IOREDIS } = process.env
if (IOREDIS !== undefined) {
  const resolve = Module._resolveFilename
  Module._resolveFilename = (request, ...rest) => resolve(request === 'ioredis' ? IOREDIS : request, ...rest)
}

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
