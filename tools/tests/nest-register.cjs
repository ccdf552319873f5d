// Lets a Node of its own run the packages' source and the tests of Nest: compiled as users of Nest compile, with legacy
// decorators and their metadata. NEST=11 puts Nest 11 in the place of Nest 12.
const { existsSync } = require('node:fs')
const Module = require('node:module')
const { join } = require('node:path')
const { transformed } = require('./cached-transform.cjs')
const { optionsFor } = require('./swc-options.cjs')

const options = {
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
}

require.extensions['.ts'] = (module, filename) => {
  const { module: format } = optionsFor(filename)
  module._compile(transformed(filename, { ...options, module: format }), filename)
}

const nest11 = join(__dirname, '../../test/nest11')
const resolve = Module._resolveFilename
Module._resolveFilename = function (request, parent, isMain, options) {
  const [, name] = /^(@nestjs\/[^/]+)/.exec(request) ?? []
  const is11 = process.env.NEST === '11' && name && existsSync(join(nest11, 'node_modules', name))
  return resolve.call(this, request, parent, isMain, is11 ? { ...options, paths: [nest11] } : options)
}
