// Writes the library of conditions, @marcbachmann/cel-js, into packages/policies/src/matching/cel/generated.ts, which
// conditions import: the library is published as ES modules only, which CommonJS loaders such as that of Jest reject.
// With --check it writes nothing, and fails if that module differs from its output.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { buildSync } from 'esbuild'
import { root } from '../root-command.mjs'

const home = join(root, 'packages/policies')
const { resolve } = createRequire(join(home, 'package.json'))
const path = join(home, 'src/matching/cel/generated.ts')
const wanted = moduleText()

if (!existsSync(path) || readFileSync(path, 'utf8') !== wanted) {
  if (process.argv.includes('--check')) {
    console.error('packages/policies/src/matching/cel/generated.ts is not the library: node tools/build/embed-cel.mjs')
    process.exitCode = 1
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, wanted)
  }
}

function moduleText() {
  const { outputFiles } = buildSync({
    stdin: { contents: "export { Environment } from '@marcbachmann/cel-js'", resolveDir: home },
    bundle: true,
    format: 'iife',
    globalName: 'cel',
    platform: 'neutral',
    target: 'es2022',
    minify: true,
    // the library compares names of classes
    keepNames: true,
    // it creates encoders for functions of bytes, and environments of tests that imitate browsers have none
    define: { TextEncoder: 'Encoder', TextDecoder: 'Decoder' },
    legalComments: 'none',
    write: false,
    logLevel: 'error',
  })
  // the library builds its registry of functions when it is loaded, which is left to the first condition
  const body = outputFiles[0].text.trim().replace(/^(?:"use strict";)?var cel=/, 'return ')
  const licence = readFileSync(join(dirname(resolve('@marcbachmann/cel-js')), '../LICENSE'), 'utf8').trim()
  return `// @ts-nocheck
// Written by tools/build/embed-cel.mjs from @marcbachmann/cel-js.
/*!
${licence}
*/
import type { Environment } from '@marcbachmann/cel-js'

/** Loads the library. */
export function loadCel(): { readonly Environment: typeof Environment } {
const Encoder = globalThis.TextEncoder ?? Object, Decoder = globalThis.TextDecoder ?? Object
${body}
}
`
}
