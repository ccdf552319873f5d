import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { root } from '../../repository.ts'
import { mustRun } from '../command.ts'

interface Answered {
  readonly status: number
  readonly limit: string | null
  readonly policy: string | null
}

interface Report {
  readonly areTwo: Readonly<Record<string, boolean>>
  readonly express: readonly Answered[]
  readonly caps: readonly number[]
  readonly seen: { readonly decisions: number; readonly isOne: boolean }
  readonly hono: readonly Answered[]
  readonly nest: readonly Answered[]
  readonly policies: readonly Answered[]
  readonly codes: Readonly<Record<string, string>>
  readonly counters: Readonly<Record<string, number>>
  readonly shared: number
  readonly warnings: readonly string[]
}

const cells = [
  ['ES modules outside', 'esm'],
  ['CommonJS outside', 'cjs'],
] as const

describe.each(cells)('a process with both formats of the packages, %s', (_, outer) => {
  let report: Report

  beforeAll(async () => {
    const script = join(root, 'test/packaging/formats/both-formats.mjs')
    report = JSON.parse(await mustRun(process.execPath, [script, outer], root))
  })

  test('has two copies of each package', () => {
    expect(Object.values(report.areTwo)).toEqual(Object.keys(report.areTwo).map(() => true))
    expect(Object.keys(report.areTwo).length).toBe(11)
  })

  test('merges the headers of limits of both, and settles costs', () => {
    const policy = '"a";q=5;w=60, "b";q=3;w=60'
    expect(report.express).toEqual([
      { status: 200, limit: '"a";r=4;t=60, "b";r=2;t=60', policy },
      // the first request cost 2 in the end
      { status: 200, limit: '"a";r=3;t=60, "b";r=0;t=60', policy },
      { status: 429, limit: '"b";r=0;t=60', policy },
    ])
    expect(report.hono).toEqual([
      { status: 200, limit: '"a";r=1;t=60, "b";r=0;t=60', policy: '"a";q=2;w=60, "b";q=1;w=60' },
      { status: 429, limit: '"b";r=0;t=60', policy: '"a";q=2;w=60, "b";q=1;w=60' },
    ])
  })

  test('has one lifecycle and one list of decisions for a request', () => {
    expect(report.seen).toEqual({ decisions: 2, isOne: true })
  })

  test('holds and releases the places of a cap of one around a limit of the other', () => {
    // two at once of a cap of 1, then one after the other
    expect(report.caps).toEqual([200, 503, 200])
  })

  test('applies decorators of one copy in the module of the other, and catches denials of both', () => {
    expect(report.nest.map(({ status }) => status)).toEqual([200, 429, 200, 429])
  })

  test('applies policies that the other copy has loaded', () => {
    expect(report.policies.map(({ status }) => status)).toEqual([200, 429])
  })

  test('counts in a backend of the other copy', () => {
    expect(report.shared).toBe(1)
  })

  test('rejects two definitions of a policy on one backend, and mistakes of nodes and counters, by code', () => {
    expect(report.codes).toEqual({
      duplicate: 'SLUICE_DUPLICATE_POLICY',
      node: 'none',
      nonsense: 'SLUICE_BAD_OPTION',
      otherClass: 'SLUICE_BAD_MESSAGE',
    })
  })

  test('merges counters of the other copy', () => {
    expect(report.counters).toEqual({ uniques: 2, digest: 10, leaderboard: 7, windowed: 9 })
  })

  test('gives a warning once', () => {
    expect(report.warnings.filter((code) => code === 'SLUICE_UNTRUSTED_PROXY')).toHaveLength(1)
  })
})
