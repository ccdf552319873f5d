// Lets a separate Node process run the source of the packages, compiled the way jest compiles it.
const { transformed } = require('../../../tools/tests/cached-transform.cjs')
const { optionsFor } = require('../../../tools/tests/swc-options.cjs')

require.extensions['.ts'] = (module, filename) => module._compile(transformed(filename, optionsFor(filename)), filename)
