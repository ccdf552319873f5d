// Loads the TypeScript program named by the first argument, and calls its exports on request of the parent process.
// IOREDIS and NODE_REDIS name other packages to load in place of ioredis and redis. PACKAGES names a folder whose packages
// are loaded in place of those of the repository.
const { existsSync } = require('node:fs')
const Module = require('node:module')
const { join } = require('node:path')
require('./typescript-hook.cjs')

const { IOREDIS: ioredis = 'ioredis', NODE_REDIS: redis = 'redis', PACKAGES: folder } = process.env
const replaced = { ioredis, redis }
const resolve = Module._resolveFilename
Module._resolveFilename = (request, parent, isMain, options) => {
  const [name] = /^(@[^/]+\/)?[^/.]+/.exec(request) ?? []
  const isInFolder = folder && name && existsSync(join(folder, 'node_modules', name))
  return resolve(replaced[request] ?? request, parent, isMain, isInFolder ? { ...options, paths: [folder] } : options)
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
