import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { packages } from '../repository.ts'

type Entries = Readonly<Record<string, { readonly require?: { readonly types: string } }>>

const IMPORT = /(?:from|import\() ?'([^']+)'/g

/** Returns the packages that a declaration file imports, itself or by its relative imports. */
function importsOf(path: string, seen = new Set<string>()): ReadonlySet<string> {
  const found = new Set<string>()
  seen.add(path)
  for (const [, from] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    const next = join(dirname(path), from.replace(/\.js$/, '.d.ts'))
    if (!from.startsWith('.')) found.add(from.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? from)
    else if (!seen.has(next)) for (const name of importsOf(next, seen)) found.add(name)
  }
  return found
}

// with `skipLibCheck: false`, a peer that is not installed is an error in a project that never imports its entry
test('the types of an entry import no optional peer except the client that the entry is for', () => {
  const imported = packages.flatMap(({ name, folder, manifest: { exports, peerDependenciesMeta = {} } }) =>
    Object.entries(exports as Entries).flatMap(([path, { require }]) => {
      const found = require === undefined ? [] : [...importsOf(join(folder, require.types))]
      return found.filter((peer) => peerDependenciesMeta[peer]?.optional).map((peer) => [name + path.slice(1), peer])
    }),
  )
  expect(imported).toEqual([
    ['@sluice/counters/redis', '@sluice/redis'],
    ['@sluice/redis', 'ioredis'],
    ['@sluice/redis/node-redis', 'redis'],
    ['@sluice/redis/uniques', '@sluice/sketches'],
    ['@sluice/stores/dynamodb', '@aws-sdk/client-dynamodb'],
  ])
})
