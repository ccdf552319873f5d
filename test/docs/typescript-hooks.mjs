// Lets Node load TypeScript, so that the blocks of the documentation run on the packages' source.
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { transform, version } from '@swc/core'

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

// every block loads the same few hundred files: what became of each is kept by its content
const cache = fileURLToPath(new URL('../../node_modules/.cache/sluice-blocks/', import.meta.url))
const salt = JSON.stringify([version, options])

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const text = await readFile(new URL(url), 'utf8')
  const cached = `${cache}${createHash('sha256').update(salt).update(url).update(text).digest('hex')}.js`
  const source = await readFile(cached, 'utf8').catch(() => transformed(text, cached))
  return { format: 'module', source, shortCircuit: true }
}

async function transformed(text, cached) {
  const { code } = await transform(text, options)
  await mkdir(cache, { recursive: true })
  // whole or not at all: other blocks run at the same time
  const own = `${cached}.${process.pid}`
  await writeFile(own, code)
  await rename(own, cached)
  return code
}
