import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { root } from '../repository.ts'
import { costlyAsks, peers } from './peer-limiters.ts'

// the table of docs/comparison.md holds the expected results; a cell of '-' is not tested
const [measured] = readFileSync(join(root, 'docs/comparison.md'), 'utf8').split('\n## ')
const table = readTable(measured)
const CLAIMS = {
  stacked: 'Two limits (10 and 1) on one route, five requests sent: units left of the limit of 10',
  cost: 'Limit of 10: after 5 units and a denied request of 8, 5 more units are admitted',
  flood: 'A denied key is still denied after requests of 10,000 other keys',
  clock: 'A denied key is admitted one window later, although the system clock was set back by an hour',
  denied: 'Content type of a denial',
} as const

const told = Object.entries(peers).map(([name, peer]) => ({ name, peer, cell: cellsOf(name) }))
const asked = (claim: keyof typeof CLAIMS) => told.filter(({ cell }) => cell(claim) !== '-')

afterEach(() => {
  jest.useRealTimers()
})

test('the table has a row for each claim, and a column for each library', () => {
  expect(table.rows.map(([claim]) => claim)).toEqual(Object.values(CLAIMS))
  expect(table.names).toEqual(Object.keys(peers))
})

describe(CLAIMS.stacked, () => {
  test.each(asked('stacked'))('$name', async ({ peer, cell }) => {
    const { passed, leftOfWide } = await peer.stacked()
    expect(`${leftOfWide}${passed === 1 ? '' : `, and ${passed} passed`}`).toBe(cell('stacked'))
  })
})

describe(CLAIMS.cost, () => {
  test.each(asked('cost'))('$name', async ({ name, cell }) => {
    expect(yesOrNo(await costlyAsks[name]())).toBe(cell('cost'))
  })
})

describe(CLAIMS.flood, () => {
  test.each(asked('flood'))('$name', async ({ peer, cell }) => {
    jest.useFakeTimers()
    const take = peer.counter(3, 60_000)
    for (let taken = 0; taken < 4; taken++) await take('attacker')
    for (let other = 0; other < 10_000; other++) await take(`client ${other}`)
    expect(yesOrNo(!(await take('attacker')))).toBe(cell('flood'))
  })
})

describe(CLAIMS.clock, () => {
  test.each(asked('clock'))('$name', async ({ peer, cell }) => {
    jest.useFakeTimers()
    const take = peer.counter(3, 60_000)
    const seen: boolean[] = []
    for (let taken = 0; taken < 4; taken++) seen.push(await take('anna'))
    expect(seen).toEqual([true, true, true, false])
    jest.setSystemTime(Date.now() - 3_600_000)
    jest.advanceTimersByTime(61_000)
    expect(yesOrNo(await take('anna'))).toBe(cell('clock'))
  })
})

describe(CLAIMS.denied, () => {
  test.each(asked('denied'))('$name', async ({ peer, cell }) => {
    expect(await peer.denied?.()).toEqual({ status: 429, type: cell('denied') })
  })
})

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no'
}

function cellsOf(name: string): (claim: keyof typeof CLAIMS) => string {
  const column = table.names.indexOf(name) + 1
  return (claim) => table.rows.find(([text]) => text === CLAIMS[claim])?.[column] ?? 'not in the table'
}

function readTable(page: string): { names: string[]; rows: string[][] } {
  const lines = page.split('\n').filter((line) => line.startsWith('|'))
  const [head, , ...rows] = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  return { names: head.slice(1), rows }
}
