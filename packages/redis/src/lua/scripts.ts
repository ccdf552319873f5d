import { SETTLED_MS } from '@sluice/fleet/leases'
import { type CompiledPolicy, IDEMPOTENT_MS, type Script } from '@sluice/limiter-core/backend'
import { algorithmTexts, facetTexts } from './algorithms/generated.ts'
import * as lua from './generated.ts'
import {
  algorithmOf,
  algorithmsOf,
  constantNames,
  type LuaAlgorithm,
  type LuaConstructor,
  type LuaFacet,
} from './policy-args.ts'
import { ALWAYS } from './reported-usage.ts'
import { takeText, textName } from './take-text.ts'

// All scripts of the package. Each is the concatenation of the listed .lua files, in that order.

export const serverTime: Script = scriptOf('server-time', lua.serverTime)
export const channelMessages: Script = scriptOf('channel-messages', lua.channelOnce, lua.channelMessages)
export const channelSums: Script = scriptOf('channel-sums', lua.channelOnce, lua.channelSums)
export const channelLeave: Script = scriptOf('channel-leave', lua.channelLeave)
export const inflightHold: Script = scriptOf('inflight-hold', lua.inflightHold)
export const inflightShares: Script = scriptOf('inflight-shares', lua.inflightShares)
export const syncNodes: Script = scriptOf('sync-nodes', lua.syncNodes)
export const mergeUniques: Script = scriptOf('merge-uniques', lua.mergeUniques)
export const mergeRegisters: Script = scriptOf('merge-registers', lua.mergeRegisters)
export const readRegisters: Script = scriptOf('read-registers', lua.readRegisters)
export const putRecord: Script = scriptOf('put-record', lua.putRecord)
export const readRecords: Script = scriptOf('read-records', lua.readRecords)

// the record must outlive the deadline of the command, which may be wrong by the error of the estimated clock offset
const runOnce = `${locals(['REMEMBERED_MS'], [IDEMPOTENT_MS + 1_000])}\n${lua.runOnce}`
const makeGood = `${locals(['ALWAYS'], [ALWAYS])}\n${lua.makeGood}`
const leaseLedger = `${locals(['SETTLED_MS'], [SETTLED_MS])}\n${lua.leaseLedger}`

export const resetScript: Script = scriptOf('reset', lua.exactHead, runOnce, lua.reset)

/** Returns the script for batches over these policies in which no request reports usage or refunds units. */
export function exactScript(policies: Iterable<CompiledPolicy>): Script {
  const { withoutMarks, exactBatchState, exactBatch } = lua
  return scriptOver('exact', policies, runOnce, withoutMarks, exactBatchState, exactBatch)
}

/** Returns the script for any batch over these policies. */
export function exactRestoringScript(policies: Iterable<CompiledPolicy>): Script {
  const { exactBatchState, exactBatch } = lua
  return scriptOver('exact-minding', policies, runOnce, makeGood, exactBatchState, exactBatch)
}

/** Returns the script for batches of takes over these policies, which refuses keys with leases. */
export function unleasedScript(policies: Iterable<CompiledPolicy>): Script {
  const { withoutMarks, exactBatchState, refuseLeased, exactBatch } = lua
  return scriptOver('unleased', policies, runOnce, withoutMarks, exactBatchState, refuseLeased, exactBatch)
}

/** Returns the script of the lease ledger for these policies. */
export function leaseScript(policies: Iterable<CompiledPolicy>): Script {
  return scriptOver('leases', policies, makeGood, leaseLedger)
}

/** Returns the script of the sync ledger for these policies. */
export function syncScript(policies: Iterable<CompiledPolicy>): Script {
  return scriptOver('sync', policies, makeGood, lua.syncLedger)
}

/**
 * Returns the script for takes that differ only in their keys, over policies which are not made of other policies; see
 * `takeText`. `MOST_TAKEN` policies are possible.
 */
export function takeScript(policies: readonly CompiledPolicy[]): Script {
  const names = policies.map(algorithmOf)
  return known(`take:${names.join('+')}`, () => [lua.exactHead, takeText(names)])
}

/** Like `takeScript`, for one policy, but the script refuses keys with leases. */
export function unleasedTakeScript(compiled: CompiledPolicy): Script {
  const name = algorithmOf(compiled)
  return known(`unleased-take:${name}`, () => [lua.exactHead, takeText([name], LEASED)])
}

const LEASED = { condition: "call('EXISTS', KEYS[first + 1]) == 1", message: 'LEASED units of the key are on lease' }

/** Values of `native` and `writesNative` for `exact-store`. Default: windows are never stored as integers. */
const nativeForms: Partial<Record<LuaAlgorithm, string>> = {
  'fixed-window': 'windowMs, false',
  'native-window': 'windowMs, true',
}

const scripts = new Map<string, Script>()

/** Returns the script with this name, created once. The name determines the text. */
function known(name: string, make: () => readonly string[]): Script {
  const script = scripts.get(name) ?? scriptOf(name, ...make())
  scripts.set(name, script)
  return script
}

/** Returns a script that creates compiled policies from its arguments, and then runs `driver`. */
function scriptOver(driverName: string, policies: Iterable<CompiledPolicy>, ...driver: readonly string[]): Script {
  const names = [...new Set(Array.from(policies, algorithmsOf).flat())].sort()
  return known(`${driverName}:${names.join('+')}`, () => {
    const { exactHead, exactReader, availableAfterMs, nativeForm, exactStore } = lua
    const facets = names.some((name) => name in FACETS) ? [lua.facetCells] : []
    return [
      exactHead,
      exactReader,
      availableAfterMs,
      ...facets,
      ...names.map(makerOf),
      nativeForm,
      exactStore,
      ...driver,
    ]
  })
}

/** Lua code of the policies that add cells to another policy: the name and number of the cells, and the constants. */
const FACETS: Readonly<Record<LuaFacet, string>> = {
  holding: "local name, count = 'held', 10\nlocal sliceMs = number()",
  booking: textOf(
    "local name, count = 'queue', 3",
    'local most, paceMs, longestMs, isWeighted = number(), number(), number(), number() == 1',
  ),
}

/** Lua code of the usage under any plan, with held units. Booked turns do not count as usage. */
const USED: Readonly<Record<LuaFacet, string>> = {
  holding: `heldNow = function(c, now) return heldOf(c, now, huge, now + sliceMs / 2) end
used = inner.used and function(c, now) return inner.used(c, now) + heldNow(c, now) end`,
  booking: 'left, used = inner.remaining, inner.used',
}

/** Returns Lua code of a function that creates a compiled policy from the next arguments. */
function makerOf(name: LuaConstructor): string {
  const head = `algorithms['${name}'] = function()`
  if (name === 'holding' || name === 'booking') {
    return textOf(head, FACETS[name], lua.facetHead, facetTexts[name], USED[name], lua.facetStep, 'end')
  }
  if (name === 'variants') return textOf(head, lua.variants, lua.numbersOf, lua.variantsStep, 'end')
  const given = constantNames[name]
  const args = locals(
    given,
    given.map(() => 'number()'),
  )
  const { constants, takes, moves } = algorithmTexts[textName(name)]
  return textOf(head, args, nativeForm(name), constants, takes, moves, lua.algorithmStep, 'end')
}

function nativeForm(name: LuaAlgorithm): string {
  return `local native, writesNative = ${nativeForms[name] ?? 'nil, false'}`
}

function locals(names: readonly string[], values: readonly (string | number)[]): string {
  return `local ${names.join(', ')} = ${values.join(', ')}`
}

function scriptOf(name: string, ...parts: readonly string[]): Script {
  return { name, text: textOf(...parts) }
}

function textOf(...parts: readonly string[]): string {
  return parts.join('\n')
}
