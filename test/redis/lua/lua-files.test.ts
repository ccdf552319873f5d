import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { CompiledPolicy, Script } from '@sluice/limiter-core'
import { type Chunk, type Identifier, parse } from 'luaparse'
import { nativePolicy } from '../../../packages/redis/src/lua/native-policy.ts'
import * as scripts from '../../../packages/redis/src/lua/scripts.ts'
import { compiledOf } from '../../algorithms/compiled-of.ts'
import { mustRun } from '../../packaging/command.ts'
import { filesBelow, root } from '../../repository.ts'

const folder = join(root, 'packages/redis/src/lua')
const files = filesBelow(folder).filter((path) => path.endsWith('.lua'))

/** The part of the environment of Redis scripts that our scripts use. */
const GIVEN: readonly string[] = [
  ...['KEYS', 'ARGV', 'redis', 'math', 'string', 'struct', 'table'],
  ...['ipairs', 'pairs', 'select', 'tonumber', 'type', 'unpack'],
]

const plain: readonly CompiledPolicy[] = [
  ...(['fixed-window', 'sliding-window', 'sliding-log', 'token-bucket', 'gcra'] as const).map((algorithm) =>
    compiledOf({ algorithm, limit: 10 }),
  ),
  compiledOf({ algorithm: 'sliding-window', limit: 10, slices: 4 }),
  nativePolicy(compiledOf({ algorithm: 'fixed-window', limit: 10 })) as CompiledPolicy,
]
const ownVariant = { compiled: plain[0], role: 'own', perMs: 0, ceiling: 0 }
const varied = {
  ...plain[0],
  variants: plain.map((compiled) => ({ ...ownVariant, compiled })),
} as unknown as CompiledPolicy

/** Every variant of a script that the package can build, or one of each kind. */
const all: Readonly<Record<keyof typeof scripts, readonly Script[]>> = {
  serverTime: [scripts.serverTime],
  channelMessages: [scripts.channelMessages],
  channelSums: [scripts.channelSums],
  channelLeave: [scripts.channelLeave],
  inflightHold: [scripts.inflightHold],
  inflightShares: [scripts.inflightShares],
  mergeUniques: [scripts.mergeUniques],
  mergeRegisters: [scripts.mergeRegisters],
  readRegisters: [scripts.readRegisters],
  putRecord: [scripts.putRecord],
  readRecords: [scripts.readRecords],
  syncNodes: [scripts.syncNodes],
  resetScript: [scripts.resetScript],
  exactScript: overSteps(scripts.exactScript),
  exactRestoringScript: overSteps(scripts.exactRestoringScript),
  unleasedScript: overSteps(scripts.unleasedScript),
  leaseScript: overSteps(scripts.leaseScript),
  syncScript: overSteps(scripts.syncScript),
  takeScript: [...plain.map((one) => [one]), plain, [plain[0], plain[0]]].map(scripts.takeScript),
  unleasedTakeScript: plain.map(scripts.unleasedTakeScript),
}

function overSteps(make: (steps: readonly CompiledPolicy[]) => Script): readonly Script[] {
  return [...plain, varied].map((compiled) => make([compiled]))
}

test('the module with the Lua source equals the .lua files', async () => {
  await mustRun(process.execPath, ['tools/build/embed-lua.mjs', '--check'], root)
})

test.each(files)('%s is Lua 5.1', (file) => {
  parseLua(readFileSync(join(folder, file), 'utf8'))
})

describe('every script', () => {
  const named = Object.values(all).flatMap((some) => some.map(({ name, text }) => [name, text] as const))

  test('is in the list of files', () => {
    expect(Object.keys(all).sort()).toEqual(Object.keys(scripts).sort())
    expect(new Set(named.map(([name]) => name)).size).toBe(named.length)
  })

  test.each(named)('is Lua 5.1, and uses no undeclared name: %s', (_, text) => {
    const undeclared = parseLua(text).globals.map(({ name }) => name)
    expect(undeclared.filter((name) => !GIVEN.includes(name))).toEqual([])
  })
})

function parseLua(text: string): Chunk & { readonly globals: readonly Identifier[] } {
  return parse(text, { luaVersion: '5.1', scope: true }) as Chunk & { globals: Identifier[] }
}
