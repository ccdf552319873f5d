import { existsSync, readFileSync } from 'node:fs'
import { basename, join, posix, relative } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { mustRun } from './packaging/command.ts'
import { filesBelow, packages, readManifest, root, type WorkspacePackage } from './repository.ts'

// DESIGN: an arrow = depends on. A package that is not here has no place in the drawing yet.
const arrows: Readonly<Record<string, readonly string[]>> = {
  '@sluice/keyed-hash': [],
  '@sluice/limiter-core': ['@sluice/keyed-hash'],
  '@sluice/node-http': ['@sluice/limiter-core', 'on-finished'],
  '@sluice/express': ['@sluice/node-http'],
  '@sluice/koa': ['@sluice/node-http'],
  '@sluice/fastify': ['@sluice/node-http', 'fastify-plugin'],
  '@sluice/nest': ['@sluice/node-http'],
  '@sluice/sketches': ['@sluice/keyed-hash', '@sluice/limiter-core'],
  '@sluice/redis': ['@sluice/limiter-core', '@sluice/sketches', 'cluster-key-slot'],
  '@sluice/counters': [
    '@sluice/limiter-core',
    '@sluice/redis',
    '@sluice/sketches',
    '@js-temporal/polyfill',
    'csv-stringify',
  ],
  '@sluice/insight': ['@sluice/limiter-core', '@sluice/sketches'],
  '@sluice/testkit': ['@sluice/limiter-core'],
}

// the user's own: a second copy of one of these in an application is a fault of ours
const broughtByTheUser =
  /^(express|koa|fastify|hono|@nestjs\/.*|(io)?redis|@redis\/.*|pg|postgres|@electric-sql\/pglite|mysql2?|mongodb)$/

const clockReads = /\b(setTimeout|setInterval|setImmediate|hrtime|(Date|performance)\.now)\b|\bnew Date\(\)/

// what a tool makes a part of the package itself
const embedded: Readonly<Record<string, readonly string[]>> = { '@sluice/insight': ['uplot'] }

// path → why this file may read time or set a timer itself; every other one asks its Clock
const mayTouchTime: Readonly<Record<string, string>> = {
  'packages/limiter-core/src/time/clock.ts': 'it is the clock',
  'packages/insight/src/page/browser/browser-clock.ts': 'it is the clock of the page',
  'packages/insight/src/page/generated.ts': 'it is the page as a text',
}

const sources = packages.flatMap(({ folder }) =>
  filesBelow(join(folder, 'src')).map((path) => {
    const text = readFileSync(join(folder, 'src', path), 'utf8')
    return { path: relative(root, join(folder, 'src', path)).replaceAll('\\', '/'), text, code: withoutComments(text) }
  }),
)

describe.each(packages)('$name', ({ name, folder, manifest }) => {
  test('has a place in the drawing, and only the arrows drawn there', () => {
    expect(Object.keys(arrows)).toContain(name)
    expect(arrows[name]).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies ?? {})))
  })

  test('installs no framework and no database client for its user', () => {
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
    expect(installed.filter((dependency) => broughtByTheUser.test(dependency))).toEqual([])
  })

  test('imports only what its manifest names', () => {
    const named = [
      ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
      ...(embedded[name] ?? []),
    ]
    expect(importedPackages({ folder }).filter((imported) => !named.includes(imported))).toEqual([])
  })

  test('has the version of the repository, and asks for that version of its neighbours', () => {
    const { version } = readManifest(root)
    expect(manifest.version).toBe(version)
    for (const [dependency, range] of Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      if (dependency.startsWith('@sluice/')) expect({ dependency, range }).toEqual({ dependency, range: version })
    }
  })

  // biome keeps files free of circles (noImportCycles), those of types too
  test('has folders without circles', () => {
    expect(circleOf(folderArrows(folder))).toEqual([])
  })

  test('has a README', () => {
    expect(existsSync(join(folder, 'README.md'))).toBe(true)
  })
})

describe('source files', () => {
  test('hold at most 300 lines, and those over 250 are named here', () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    for (const { path, lines } of long) {
      if (lines > 250) process.stdout.write(`over 250 lines, cut it soon: ${path} (${lines})\n`)
    }
    expect(long.filter(({ lines }) => lines > 300)).toEqual([])
  })

  test('are named after what they hold, never a drawer', () => {
    const drawers = /^(utils?|helpers?|common|types|misc|shared)\.ts$/
    expect(sources.filter(({ path }) => drawers.test(basename(path))).map(({ path }) => path)).toEqual([])
  })

  test('leave time to the clock', () => {
    const touching = sources.filter(({ code }) => clockReads.test(code)).map(({ path }) => path)
    expect(touching.sort()).toEqual(Object.keys(mayTouchTime).sort())
  })
})

test('package-lock.json names no registry, so that any mirror can serve it', () => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  expect(lock).not.toMatch(/"resolved": *"https?:/)
})

test('package-lock.json leaves out no platform, so that npm ci accepts it everywhere', async () => {
  await mustRun(process.execPath, ['tools/complete-lock.mjs', '--check'], root)
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** Which folders of a package import which others. A file at the root of its source stands for itself. */
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

/** One circle of a graph as the names on its way, or nothing. */
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

/** Names of packages in import and export statements; Node's own and relative ones left out. */
function importedPackages({ folder }: Pick<WorkspacePackage, 'folder'>): string[] {
  const prefix = relative(root, folder).replaceAll('\\', '/')
  const code = sources.filter(({ path }) => path.startsWith(`${prefix}/`)).map((source) => source.code)
  const specifiers = code.flatMap((text) =>
    [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*'([\w@][^'\s]*)'/g)].map(([, specifier]) => specifier),
  )
  const names = specifiers.map((specifier) => specifier.match(/^(@[^/]+\/)?[^/]+/)?.[0] ?? specifier)
  return [...new Set(names)].filter((imported) => !imported.startsWith('node:'))
}
