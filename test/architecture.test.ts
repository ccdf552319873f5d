import { existsSync, readFileSync } from 'node:fs'
import { basename, join, posix, relative } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { mustRun } from './packaging/command.ts'
import { filesBelow, packages, readManifest, root, type WorkspacePackage } from './repository.ts'

// from DESIGN: an arrow means "depends on". Packages that are not listed are not in the drawing.
const arrows: Readonly<Record<string, readonly string[]>> = {
  '@sluice/limiter-core': [],
  '@sluice/overload': ['@sluice/http', '@sluice/limiter-core'],
  '@sluice/http': ['@sluice/limiter-core'],
  '@sluice/node-http': ['@sluice/http', '@sluice/limiter-core', 'on-finished'],
  '@sluice/fetch': ['@sluice/http'],
  '@sluice/mcp': ['@sluice/http'],
  '@sluice/hono': ['@sluice/fetch', '@sluice/http'],
  '@sluice/express': ['@sluice/node-http'],
  '@sluice/koa': ['@sluice/node-http'],
  '@sluice/fastify': ['@sluice/node-http'],
  '@sluice/nest': ['@sluice/node-http'],
  '@sluice/sketches': ['@sluice/limiter-core'],
  '@sluice/fleet': ['@sluice/limiter-core'],
  '@sluice/redis': ['@sluice/fleet', '@sluice/limiter-core', '@sluice/sketches', 'cluster-key-slot'],
  '@sluice/counters': ['@sluice/fleet', '@sluice/limiter-core', '@sluice/redis', '@sluice/sketches'],
  '@sluice/quotas': [
    '@sluice/counters',
    '@sluice/fleet',
    '@sluice/limiter-core',
    '@sluice/sketches',
    '@js-temporal/polyfill',
    'csv-stringify',
  ],
  '@sluice/postgres': ['@sluice/fleet', '@sluice/limiter-core'],
  '@sluice/cloudflare': ['@sluice/fleet', '@sluice/limiter-core'],
  '@sluice/stores': ['@sluice/fleet', '@sluice/limiter-core'],
  '@sluice/policies': [
    '@sluice/http',
    '@sluice/limiter-core',
    '@sluice/sketches',
    'ajv',
    'fastest-levenshtein',
    're2js',
    'yaml',
  ],
  '@sluice/cli': [
    '@sluice/limiter-core',
    '@sluice/policies',
    '@sluice/sketches',
    'cli-progress',
    'cli-table3',
    'commander',
    'eventsource-parser',
    'path-to-regexp',
    'picocolors',
    'yaml',
  ],
  '@sluice/gossip': ['@sluice/counters', '@sluice/fleet', '@sluice/limiter-core'],
  '@sluice/insight': ['@sluice/fleet', '@sluice/limiter-core', '@sluice/sketches'],
  '@sluice/testkit': ['@sluice/fleet', '@sluice/http', '@sluice/limiter-core'],
}

// installed by the user: Sluice must not add a second copy of one of these to an application
const broughtByTheUser =
  /^(express|koa|fastify|hono|@modelcontextprotocol\/.*|@nestjs\/.*|(io)?redis|@redis\/.*|pg|postgres|@electric-sql\/pglite|mysql2?|memcache-client|@aws-sdk\/.*|better-sqlite3|mongodb)$/

const clockReads = /\b(setTimeout|setInterval|setImmediate|hrtime|(Date|performance)\.now)\b|\bnew Date\(\)/

// packages that a build tool bundles into the package
const embedded: Readonly<Record<string, readonly string[]>> = {
  '@sluice/insight': ['uplot'],
  // for runtimes without node:crypto
  '@sluice/limiter-core': ['@noble/ciphers', '@noble/hashes'],
  // without CommonJS
  '@sluice/policies': ['@marcbachmann/cel-js'],
}

// path → why this file may read time or set timers directly; every other file uses its Clock
const mayTouchTime: Readonly<Record<string, string>> = {
  'packages/limiter-core/src/time/clock.ts': 'it is the clock',
  'packages/http/src/login/proof-script.ts': 'it is the script of a page as a text',
  'packages/insight/src/page/browser/dom/browser-clock.ts': 'it is the clock of the page',
  'packages/insight/src/page/generated.ts': 'it is the page as a text',
}

const sources = packages.flatMap(({ folder }) =>
  filesBelow(join(folder, 'src')).map((path) => {
    const text = readFileSync(join(folder, 'src', path), 'utf8')
    return { path: relative(root, join(folder, 'src', path)).replaceAll('\\', '/'), text, code: withoutComments(text) }
  }),
)

describe.each(packages)('$name', ({ name, folder, manifest }) => {
  test('is in the architecture drawing, and has only the dependencies drawn there', () => {
    expect(Object.keys(arrows)).toContain(name)
    expect(arrows[name]).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies ?? {})))
  })

  test('does not install a framework or a database client for its users', () => {
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
    expect(installed.filter((dependency) => broughtByTheUser.test(dependency))).toEqual([])
  })

  test('imports only packages that its manifest lists', () => {
    const named = [
      ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      ...(embedded[name] ?? []),
    ]
    expect(importedPackages({ folder }).filter((imported) => !named.includes(imported))).toEqual([])
  })

  test('has the version of the repository, and depends on that version of its sibling packages', () => {
    const { version } = readManifest(root)
    expect(manifest.version).toBe(version)
    for (const [dependency, range] of Object.entries({ ...manifest.devDependencies, ...manifest.dependencies })) {
      if (dependency.startsWith('@sluice/')) expect({ dependency, range }).toEqual({ dependency, range: version })
    }
    // pack-all.mjs publishes the version in place of "*"
    for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
      if (peer.startsWith('@sluice/')) expect({ peer, range }).toEqual({ peer, range: '*' })
    }
  })

  // biome prevents cycles between files (noImportCycles), including type imports
  test('has no import cycles between folders', () => {
    expect(circleOf(folderArrows(folder))).toEqual([])
  })

  test('has a README', () => {
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
  })
})

describe('source files', () => {
  test('have at most 300 lines, and files over 250 lines are listed here', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    for (const { path, lines } of long) {
      if (lines > 250) process.stdout.write(`over 250 lines, cut it soon: ${path} (${lines})\n`)
    }
    expect(long.filter(({ lines }) => lines > 300)).toEqual([])
  })

  test('are at most 20 per folder', () => {
    const apart = ['test', 'tools', 'bench/src'].flatMap((folder) =>
      filesBelow(join(root, folder)).map((path) => `${folder}/${path}`),
    )
    const paths = [...sources.map(({ path }) => path), ...apart.filter((path) => !path.includes('/node_modules/'))]
    const folders = paths.map((path) => posix.dirname(path))
    const counts = new Map(folders.map((folder) => [folder, folders.filter((other) => other === folder).length]))
    expect([...counts].filter(([, files]) => files > 20)).toEqual([])
  })

  // limiter-core is the largest: 14,600 lines of limits, and 500 of the hash that sketches use without them
  test('make at most 15,100 lines per package', () => {
    const lines = packages.map(({ name, folder }) => {
      const prefix = `${relative(root, folder).replaceAll('\\', '/')}/`
      const own = sources.filter(({ path }) => path.startsWith(prefix) && basename(path) !== 'generated.ts')
      return { name, lines: own.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0) }
    })
    expect(lines.filter((one) => one.lines > 15_100)).toEqual([])
  })

  test('are named after their content, not utils or helpers', () => {
    const drawers = /^(utils?|helpers?|common|types|misc|shared)\.ts$/
    expect(sources.filter(({ path }) => drawers.test(basename(path))).map(({ path }) => path)).toEqual([])
  })

  test('use time only through the Clock', () => {
    const touching = sources.filter(({ code }) => clockReads.test(code)).map(({ path }) => path)
    expect(touching.sort()).toEqual(Object.keys(mayTouchTime).sort())
  })
})

test('package-lock.json names no registry, so that any mirror can serve it', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  expect(lock).not.toMatch(/"resolved": *"https?:/)
})

test('package-lock.json includes every platform, so that npm ci accepts it everywhere', async () => {
  await mustRun(process.execPath, ['tools/release/complete-lock.mjs', '--check'], root)
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** The imports between the folders of a package. A file at the root of the source counts as a folder. */
function folderArrows(folder: string): Map<string, Set<string>> {
  const prefix = `${relative(root, folder).replaceAll('\\', '/')}/src/`
  const arrows = new Map<string, Set<string>>()
  for (const { path, code } of sources.filter((source) => source.path.startsWith(prefix))) {
    const from = path.slice(prefix.length)
    for (const [, specifier] of code.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)) {
      const [one, other] = [from, posix.join(posix.dirname(from), specifier)].map(roomOf)
      if (one !== other) arrows.set(one, (arrows.get(one) ?? new Set()).add(other))
    }
  }
  return arrows
}

function roomOf(path: string): string {
  return path.includes('/') ? posix.dirname(path) : path
}

/** Returns one cycle of a graph as a list of names, or undefined. */
function circleOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>()
  const search = (name: string, way: readonly string[]): string[] => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
    if (done.has(name)) return []
    for (const next of arrows.get(name) ?? []) {
      const circle = search(next, [...way, name])
      if (circle.length > 0) return circle
    }
    done.add(name)
    return []
  }
  for (const name of arrows.keys()) {
    const circle = search(name, [])
    if (circle.length > 0) return circle
  }
  return []
}

/** Package names in import and export statements, without Node's modules and relative paths. */
function importedPackages({ folder }: Pick<WorkspacePackage, 'folder'>): string[] {
  const prefix = relative(root, folder).replaceAll('\\', '/')
  const code = sources.filter(({ path }) => path.startsWith(`${prefix}/`)).map((source) => source.code)
  const specifiers = code.flatMap((text) =>
    [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*'([\w@][^'\s]*)'/g)].map(([, specifier]) => specifier),
  )
  const names = specifiers.map((specifier) => specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier)
  return [...new Set(names)].filter((imported) => !imported.startsWith('node:'))
}
