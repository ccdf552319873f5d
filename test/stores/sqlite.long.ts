import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { CollectedTests } from '../runtimes/programs/collected-tests.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { sqliteNodeBinary } from '../services/sqlite-node-binary.ts'
import { sqliteContracts } from './sqlite-contracts.ts'

type Taking = typeof import('./children/sqlite-taking.ts')

const PROCESSES = 8
const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'))
const path = (name: string): string => join(folder, `${name}.db`)
let execPath: string
let children: ChildNode<Taking>[] = []

function started(): ChildNode<Taking> {
  const child = startNode<Taking>('stores/children/sqlite-taking.ts', { execPath })
  children.push(child)
  return child
}

beforeAll(() => {
  execPath = sqliteNodeBinary()
}, 310_000)
afterAll(async () => {
  await Promise.all(children.map((child) => child.stop()))
  children = []
  rmSync(folder, { recursive: true, force: true })
})

describe('node:sqlite', () => {
  const titles = new CollectedTests()
  sqliteContracts(titles, () => ({}) as never)
  let child: ChildNode<Taking>
  beforeAll(async () => {
    child = started()
    expect(await child.call('collect', path('contracts'))).toEqual(titles.titles)
  })

  test.each(titles.titles)('%s', (title) => child.call('run', title), 20_000)

  test('refuses a write while another connection writes, and repeats a read', async () => {
    expect(await child.call('locked', path('locked'))).toEqual([false, 2])
  })

  test('deletes expired rows while others are written', async () => {
    expect(await child.call('sweep', path('swept'), 500, 100)).toBeLessThanOrEqual(110)
  })
})

describe.each(['wal', 'delete'])('eight processes on one file with the journal mode %s', (mode) => {
  test('admit exactly the limit of 8 × 200 takes at once', async () => {
    const file = path(mode)
    const processes = Array.from({ length: PROCESSES }, started)
    await processes[0].call('execute', file, `PRAGMA journal_mode = ${mode}`)
    await Promise.all(processes.map((child) => child.call('open', file)))
    const admitted = await Promise.all(processes.map((child) => child.call('takeMany', 'hot', 200, 700)))
    expect(admitted.reduce((sum, one) => sum + one)).toBe(700)
    await Promise.all(processes.map((child) => child.stop()))
  }, 60_000)
})
