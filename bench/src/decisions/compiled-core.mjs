import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// an earlier commit may have the hash as a package of its own
const candidates = ['keyed-hash', 'limiter-core']
const flags = [
  ...['--module', 'commonjs', '--moduleResolution', 'bundler'],
  // no types: an old release may have been written for other versions of them
  ...['--noCheck', '--declaration', 'false', '--declarationMap', 'false', '--isolatedDeclarations', 'false'],
]

/**
 * Compiles limiter-core and its dependency into `folder`: as of a commit, or from the working tree if `commit` is
 * undefined. Returns the path of the compiled entry point.
 */
export function compileCore(root, folder, commit) {
  const sources = join(folder, 'sources')
  const packages = candidates.filter((name) => isPresent(root, `packages/${name}/package.json`, commit))
  mkdirSync(sources, { recursive: true })
  copySources(root, sources, packages, commit)
  for (const name of packages)
    compile(root, join(sources, 'packages', name), join(folder, 'node_modules/@sluice', name))
  return join(folder, 'node_modules/@sluice/limiter-core/index.js')
}

function isPresent(root, path, commit) {
  if (commit === undefined) return existsSync(join(root, path))
  return execFileSync('git', ['ls-tree', '--name-only', commit, path], { cwd: root }).length > 0
}

function copySources(root, sources, packages, commit) {
  const paths = ['tsconfig.base.json', ...packages.map((name) => `packages/${name}`)]
  if (commit === undefined) {
    const filter = (path) => !/[\\/](node_modules|dist)$/.test(path)
    for (const path of paths) cpSync(join(root, path), join(sources, path), { recursive: true, filter })
    return
  }
  const archive = execFileSync('git', ['archive', commit, ...paths], { cwd: root, maxBuffer: 1 << 28 })
  execFileSync('tar', ['-x', '-C', sources], { input: archive })
}

function compile(root, source, target) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', source, ...flags, '--outDir', target])
  if (status !== 0) throw new Error(`${source} does not compile:\n${stdout}`)
  const { exports } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const entries = Object.entries(exports).filter(([, entry]) => entry['@sluice/source'])
  const compiled = entries.map(([path, entry]) => {
    return [path, entry['@sluice/source'].replace(/^\.\/src\//, './').replace(/\.ts$/, '.js')]
  })
  const manifest = { type: 'commonjs', exports: Object.fromEntries(compiled) }
  writeFileSync(join(target, 'package.json'), JSON.stringify(manifest))
}
