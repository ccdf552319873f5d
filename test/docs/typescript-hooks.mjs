// Lets Node load TypeScript, so that the blocks of the documentation run on the packages' source.
import { fileURLToPath } from 'node:url'
import { transformed } from '../../tools/cached-transform.cjs'

const options = {
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { decoratorVersion: '2022-03' },
  },
  module: { type: 'es6' },
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  return { format: 'module', source: transformed(fileURLToPath(url), options), shortCircuit: true }
}
