// Lets Node load TypeScript, so that the blocks of the documentation run on the packages' source.
import { readFile } from 'node:fs/promises'
import { transform } from '@swc/core'

const options = {
  swcrc: false,
  sourceMaps: 'inline',
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { decoratorVersion: '2022-03' },
  },
  module: { type: 'es6' },
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const { code } = await transform(await readFile(new URL(url), 'utf8'), options)
  return { format: 'module', source: code, shortCircuit: true }
}
