// The names of all entry points of the packages in node_modules/@sluice.
const { readdirSync } = require('node:fs')
const { join } = require('node:path')

const home = join(__dirname, 'node_modules/@sluice')
module.exports = readdirSync(home).flatMap((name) =>
  Object.keys(require(join(home, name, 'package.json')).exports)
    .filter((path) => path !== './package.json')
    .map((path) => `@sluice/${name}${path.slice(1)}`),
)
