// Writes the algorithms of limiter-core as Lua and as PL/pgSQL, and the Lua of a package, src/lua/**/*.lua, into
// src/lua/generated.ts, which its code imports: a file `exact-head.lua` becomes the string `exactHead`, without
// comment-only lines. With --check it writes nothing, and fails if a module differs from its output.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../root-command.mjs'
import { luaModule } from './kernel/write-lua.mjs'
import { sqlModule } from './kernel/write-sql.mjs'

const isCheck = process.argv.includes('--check')

write('packages/redis/src/lua/algorithms/generated.ts', luaModule(), 'limiter-core says')
write('packages/postgres/src/functions/generated.ts', sqlModule(), 'limiter-core says')
for (const name of readdirSync(join(root, 'packages'))) {
  const folder = join(root, 'packages', name, 'src/lua')
  if (existsSync(folder)) write(`packages/${name}/src/lua/generated.ts`, moduleOf(folder), 'the .lua files say')
}

function write(name, wanted, source) {
  const path = join(root, name)
  if (existsSync(path) && readFileSync(path, 'utf8') === wanted) return
  if (isCheck) {
    console.error(`${name} is not what ${source}: node tools/build/embed-lua.mjs`)
    process.exitCode = 1
  } else writeFileSync(path, wanted)
}

function moduleOf(folder) {
  const files = readdirSync(folder, { recursive: true }).filter((path) => path.endsWith('.lua'))
  const texts = files.map((path) => [nameOf(path), textOf(join(folder, path))]).sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = texts.map(([name, text]) => `export const ${name}: string = ${JSON.stringify(text)}\n`)
  return `// Written by tools/build/embed-lua.mjs: change the .lua files, and run it.\n${lines.join('')}`
}

function nameOf(path) {
  return basename(path, '.lua').replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
}

function textOf(path) {
  const text = readFileSync(path, 'utf8')
  // lines of such a text could look like comments
  if (/\[=*\[/.test(text)) throw new Error(`${path}: long brackets are not understood here`)
  return text
    .split('\n')
    .filter((line) => !/^\s*(--.*)?$/.test(line))
    .join('\n')
}
