// The names of all entry points of the packages in node_modules/@sluice. Jest 29 with jsdom cannot load Nest itself: it reads
// the ES module that a dependency of Nest offers to browsers.
const { readdirSync } = require('node:fs')
const { join } = require('node:path')

const home = join(__dirname, 'node_modules/@sluice')
const names = readdirSync(home).filter((name) => name !== 'nest' || typeof window === 'undefined')

module.exports = names.flatMap((name) =>
  Object.keys(require(join(home, name, 'package.json')).exports)
    .filter((path) => path !== './package.json')
    .map((path) => `@sluice/${name}${path.slice(1)}`),
)
