// The names of all entry points of the packages in node_modules/@sluice. Jest with jsdom cannot load two of them: a
// dependency of Nest offers an ES module to browsers, and the SDK of AWS needs TextEncoder (docs/runtimes.md).
const { readdirSync } = require('node:fs')
const { join } = require('node:path')

const home = join(__dirname, 'node_modules/@sluice')
const isBrowser = typeof window !== 'undefined'

module.exports = readdirSync(home)
  .flatMap((name) =>
    Object.keys(require(join(home, name, 'package.json')).exports)
      .filter((path) => path !== './package.json')
      .map((path) => `@sluice/${name}${path.slice(1)}`),
  )
  .filter((entry) => !isBrowser || !/^@sluice\/(nest|stores\/dynamodb)/.test(entry))
