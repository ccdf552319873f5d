// Writes the page of @sluice/insight, packages/insight/src/page/browser, into page/generated.ts next to it, which its
// server imports: scripts without types, each as a separate module, and the chart from node_modules. With --check it
// writes nothing, and fails if that module differs from its output.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join } from 'node:path'
import { transformSync } from '@swc/core'
import { root } from '../root-command.mjs'

// file inside the package
const { resolve } = createRequire(join(root, 'packages/insight/package.json'))
const folder = join(root, 'packages/insight/src/page')
// modules that the server shares with the page
const SHARED = ['duration-text.ts', 'number-text.ts', 'priorities.ts']
const chart = dirname(resolve('uplot'))
const TYPES = { '.ts': 'text/javascript', '.js': 'text/javascript', '.css': 'text/css', '.html': 'text/html' }

const path = join(folder, 'generated.ts')
const wanted = moduleText()
if (!existsSync(path) || readFileSync(path, 'utf8') !== wanted) {
  if (process.argv.includes('--check')) {
    console.error(
      'packages/insight/src/page/generated.ts is not what page/browser says: node tools/build/embed-page.mjs',
    )
    process.exitCode = 1
  } else {
    writeFileSync(path, wanted)
  }
}

function moduleText() {
  const files = readdirSync(join(folder, 'browser'), { recursive: true }).filter((name) => extname(name) in TYPES)
  const texts = [
    // served from one folder, whatever folder the source is in
    ...files.map((name) => [basename(name).replace(/\.ts$/, '.js'), textOf(join(folder, 'browser', name))]),
    ...SHARED.map((name) => [name.replace(/\.ts$/, '.js'), textOf(join(folder, '..', name))]),
    ['uplot.js', script(readFileSync(join(chart, 'uPlot.esm.js'), 'utf8'), 'ecmascript')],
    ['uplot.css', readFileSync(join(chart, 'uPlot.min.css'), 'utf8')],
  ].sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = texts.map(([name, text]) => {
    const type = TYPES[extname(name)]
    return `  ['${name}', { type: '${type}', text: ${JSON.stringify(text)} }],\n`
  })
  return `// Written by tools/build/embed-page.mjs: change what is in browser/, and run it. uplot.js is uPlot, MIT, Leon Sorokin.
import type { PageFile } from './page-response.ts'

export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
${lines.join('')}])
`
}

function textOf(file) {
  const text = readFileSync(file, 'utf8')
  if (file.endsWith('.ts')) return script(text, 'typescript')
  // only between lines, so that the remaining text stays unchanged
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}

function script(text, syntax) {
  const { code } = transformSync(text, {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax },
      minify: { compress: true, mangle: true, format: { comments: false } },
    },
    minify: true,
    module: { type: 'es6' },
  })
  return code
    .replace(/(from|import)\s*"uplot"/g, '$1"./uplot.js"')
    .replace(/(from|import)\s*"\.[\w./-]*?([\w-]+)\.ts"/g, '$1"./$2.js"')
}
