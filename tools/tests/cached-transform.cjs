// TypeScript as JavaScript, kept by its content: hundreds of processes of the tests load the same few hundred files.
const { createHash, randomUUID } = require('node:crypto')
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const { version } = require('@swc/core/package.json')

const folder = join(__dirname, '../../node_modules/.cache/sluice-transform')

/** The JavaScript of a file under `options` of swc. */
exports.transformed = function transformed(filename, options) {
  const text = readFileSync(filename, 'utf8')
  const salt = JSON.stringify([version, filename, options])
  const cached = join(folder, `${createHash('sha256').update(salt).update(text).digest('hex')}.js`)
  try {
    return readFileSync(cached, 'utf8')
  } catch {
    // loaded only when it is needed: this takes as long as starting Node
    const { transformSync } = require('@swc/core')
    const { code } = transformSync(text, { filename, ...options })
    mkdirSync(folder, { recursive: true })
    // whole or not at all: other processes and threads run at the same time
    const own = `${cached}.${randomUUID()}`
    writeFileSync(own, code)
    renameSync(own, cached)
    return code
  }
}
