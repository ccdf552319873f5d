// Builds the package in the working folder twice: ESM into dist/esm, CommonJS into dist/cjs.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
// what an earlier build left of a file since deleted would be published
rmSync('dist', { recursive: true, force: true })
for (const config of ['tsconfig.json', 'tsconfig.cjs.json']) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
// without it Node would read dist/cjs as ESM, as the package says "type": "module"
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n')
