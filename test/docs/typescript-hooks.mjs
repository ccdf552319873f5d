// Lets Node load TypeScript, so that the blocks of the documentation run on the packages' source, and the module
// `cloudflare:workers` of Workers.
import { fileURLToPath } from 'node:url'
import { transformed } from '../../tools/tests/cached-transform.cjs'

const options = {
  swcrc: false,
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { decoratorVersion: '2022-03' },
  },
  module: { type: 'es6' },
}

const WORKERS = 'cloudflare:workers'
const workers = 'export const env = { LIMITS: { idFromName: () => ({}), get: () => ({}) } }'

export async function resolve(specifier, context, nextResolve) {
  if (specifier !== WORKERS) return nextResolve(specifier, context)
  return { url: WORKERS, format: 'module', shortCircuit: true }
}

export async function load(url, context, nextLoad) {
  if (url === WORKERS) return { format: 'module', source: workers, shortCircuit: true }
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  return { format: 'module', source: transformed(fileURLToPath(url), options), shortCircuit: true }
}
