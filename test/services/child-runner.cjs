// Loads the TypeScript program that its first argument names, and calls what it exports for the process that started it.
// IOREDIS names another package to be loaded in the place of ioredis.
const Module = require('node:module')
require('./typescript-hook.cjs')

const { IOREDIS } = process.env
if (IOREDIS !== undefined) {
  const resolve = Module._resolveFilename
  Module._resolveFilename = (request, ...rest) => resolve(request === 'ioredis' ? IOREDIS : request, ...rest)
}

// nobody listens any more
process.once('disconnect', () => process.exit())
const program = require(process.argv[2])

process.on('message', async ({ id, name, args }) => {
  try {
    process.send({ id, value: await program[name](...args) })
  } catch (error) {
    process.send({ id, error: String(error?.stack ?? error) })
  }
})
