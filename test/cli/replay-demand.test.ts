import { afterAll, describe, expect, test } from '@jest/globals'
import { seededRandom } from '@sluice/testkit'
import { ClientIds } from '../../packages/cli/src/counts/client-ids.ts'
import { ClientUsage } from '../../packages/cli/src/counts/client-usage.ts'
import { quantileLimit, rankError } from '../../packages/cli/src/counts/quantile-limit.ts'
import { proposedLimit } from '../../packages/cli/src/replay/proposed-limit.ts'
import { combinedLine, crowdLines } from './log-lines.ts'
import { CommandFolder, replayed } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

const crowd = crowdLines(seededRandom(7), { lines: 5000, clients: 300, gapMs: 300 })
const log = folder.file('crowd.log', crowd.map((line) => `${combinedLine(line)}\n`).join(''))
const policy = (limit: number, more: string): string =>
  folder.file(`p-${limit}.yaml`, `version: 1\npolicies:\n  - { name: api, limit: ${limit}, per: 1m${more} }\n`)

describe('the limits of percentiles', () => {
  test.each([', algorithm: fixed-window', ', algorithm: sliding-window', ', algorithm: sliding-window, slices: 6'])(
    'are the smallest that never deny this share of the clients (%s)',
    async (algorithm) => {
      const [{ demand }] = (await replayed([log], { policies: policy(1, algorithm) })).policies
      expect(demand.measured).toBe('exactly')
      for (const { share, limit, rankError: error } of demand.percentiles) {
        expect(error).toBe(0)
        const touchedAt = async (tried: number): Promise<number> => {
          return (await replayed([log], { policies: policy(tried, algorithm) })).total.clients.touched
        }
        expect(await touchedAt(limit)).toBeLessThanOrEqual(1 - share + 1e-9)
        expect(await touchedAt(limit - 1)).toBeGreaterThan(1 - share)
      }
      const { total } = await replayed([log], { policies: policy(demand.largest, algorithm) })
      expect(total.denied).toBe(0)
    },
  )

  test.each([', algorithm: sliding-log', ', algorithm: token-bucket', ', algorithm: gcra'])(
    'are never too small for logs and buckets (%s)',
    async (algorithm) => {
      const [{ demand }] = (await replayed([log], { policies: policy(1, algorithm) })).policies
      expect(demand.measured).toBe('in slices')
      const p99 = demand.percentiles.find(({ share }) => share === 0.99)?.limit ?? 0
      const { total } = await replayed([log], { policies: policy(p99, algorithm) })
      expect(total.clients.touched).toBeLessThanOrEqual(0.01)
    },
  )

  test('are within their rank error if there are many clients', () => {
    const random = seededRandom(3)
    const usage = new ClientUsage(new ClientIds())
    const values = Array.from({ length: 50_000 }, () => Math.ceil(1 / (1 - random.next()) ** 0.7))
    for (const [client, value] of values.entries()) usage.record(`client-${client}`, false, value)
    const sorted = values.toSorted((a, b) => a - b)
    const windows = usage.busiestWindows()
    for (const share of [0.95, 0.99, 0.999, 0.9999]) {
      const error = rankError(windows, share, false)
      const limit = quantileLimit(windows, share)
      expect(limit).toBeGreaterThanOrEqual(sorted[Math.floor((share - error) * values.length) - 1])
      expect(limit).toBeLessThanOrEqual(sorted[Math.min(values.length - 1, Math.ceil((share + error) * values.length))])
    }
  })

  test('are zero without clients', () => {
    const windows = new ClientUsage(new ClientIds()).busiestWindows()
    expect(quantileLimit(windows, 0.99)).toBe(0)
    expect(rankError(windows, 0.99, true)).toBe(0)
  })
})

describe('the sample of clients', () => {
  test('is bounded, has all requests of its clients, and represents the others', () => {
    const usage = new ClientUsage(new ClientIds(1000))
    for (let round = 0; round < 3; round++) {
      for (let client = 0; client < 20_000; client++)
        usage.record(`client-${client}`, client % 10 === 0 && round === 1, round)
    }
    const { clients, denied } = usage.sampled
    expect(clients).toBeLessThanOrEqual(1000)
    expect(clients).toBeGreaterThan(400)
    expect(usage.share).toBe(1 / 32)
    expect(denied / clients).toBeGreaterThan(0.06)
    expect(denied / clients).toBeLessThan(0.14)
    const { count, error } = usage.count
    expect(error).toBeCloseTo(0.0081, 4)
    expect(Math.abs(count / 20_000 - 1)).toBeLessThan(4 * error)
    const requests = Array.from({ length: 20_000 }, (_, client) => usage.requestsOf(`client-${client}`))
    expect(requests.filter((one) => one === 3)).toHaveLength(clients)
    expect(new Set(requests)).toEqual(new Set([3, undefined]))
    expect(usage.busiestWindows()).toMatchObject({ count: clients, min: 2 })
  })

  test('has every client while they are few, and long keys by their digest', () => {
    const usage = new ClientUsage(new ClientIds(1000))
    const long = 'x'.repeat(10_000)
    for (const key of [`${long}a`, `${long}b`, `${long}a`, '', '\ud800', '\udc00', '__proto__'])
      usage.record(key, false)
    expect(usage.count).toEqual({ count: 6, error: 0 })
    expect(usage.sampled).toEqual({ clients: 6, denied: 0 })
  })
})

describe('the proposed limit', () => {
  const percentiles = [0.95, 0.99, 0.999, 0.9999].map((share, at) => ({ share, limit: [10, 20, 40, 80][at] }))
  const above = () => ({ clients: 0.005, requests: 0.25 })
  const propose = (clients: number, largest: number) =>
    proposedLimit({ clients, largest, percentiles, above }, 'requests', '1m')

  test('is a quarter above the highest percentile that the number of clients supports', () => {
    expect([100, 1000, 10_000, 100_000].map((clients) => propose(clients, 1000)?.limit)).toEqual([25, 25, 50, 100])
    expect(propose(1753, 1000)?.reason).toBe(
      '99 % of 1,753 clients never used more than 20 requests in 1m, and the busiest used 1,000 requests in 1m. ' +
        'This is a quarter more than 20, rounded up. It is exceeded by 0.5 % of the clients, ' +
        'which sent 25 % of the requests.',
    )
  })

  test('is above all clients if none stands out', () => {
    expect(propose(1000, 40)).toEqual({
      limit: 50,
      reason:
        'No client stands out: the busiest used 40 requests in 1m. ' +
        'This is a quarter more, rounded up, and touches none of them.',
    })
  })

  test('is twice the largest of few clients, and absent without any', () => {
    expect(propose(12, 7)?.limit).toBe(15)
    expect(propose(1, 1)).toEqual({
      limit: 2,
      reason: 'The log has only one client, and the busiest used 1 requests in 1m. This is twice as much, rounded up.',
    })
    expect(propose(0, 0)).toBeUndefined()
  })
})
