// Lets a separate Node process run the source of the packages, compiled the way jest compiles it.
const { transformed } = require('../../../tools/tests/cached-transform.cjs')

const options = {
  swcrc: false,
  jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
  module: { type: 'commonjs' },
}

require.extensions['.ts'] = (module, filename) => module._compile(transformed(filename, options), filename)
