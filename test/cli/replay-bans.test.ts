import { afterAll, describe, expect, test } from '@jest/globals'
import { replayCommand } from '@sluice/cli'
import { createLimiter, type PolicyInput } from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { combinedLine, crowdLines, type Line, LOG_START } from './log-lines.ts'
import { CommandFolder, compared, replayed, TextSink } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

let files = 0
const policies = (text: string): string => folder.file(`policies-${++files}.yaml`, `version: 1\npolicies:\n${text}`)
const log = (lines: readonly Line[]): string =>
  folder.file(`log-${++files}.log`, lines.map((line) => `${combinedLine(line)}\n`).join(''))
const at = (second: number, more?: Partial<Line>): Line => ({ timeMs: LOG_START + second * 1000, ...more })
const seconds = (from: number, until: number): number[] => Array.from({ length: until - from }, (_, n) => from + n)

/** What a limiter does that receives the requests of a log at their times. */
function limited(
  lines: readonly Line[],
  ban: NonNullable<PolicyInput['ban']>,
): { denied: number; banned: number; begun: number } {
  const clock = new FakeClock({ nowMs: 0 })
  const found = { denied: 0, banned: 0, begun: 0 }
  const event = (name: string): void => {
    if (name === 'ban') found.begun++
  }
  const limiter = createLimiter({ limit: 10, window: '1m', ban, clock, observers: [{ event }] })
  let nowMs = 0
  for (const { timeMs, address = '', status = 200 } of lines) {
    // a log has whole seconds
    const second = Math.floor((timeMs - LOG_START) / 1000) * 1000
    clock.advance(second - nowMs)
    nowMs = second
    const { allowed, source } = limiter.take(address)
    const isOther = Array.isArray(ban.strikes) && status >= 400 && !ban.strikes.includes(status)
    if (allowed && !isOther) limiter.report(address, status < 400 ? 'success' : 'failure')
    if (!allowed) found.denied++
    if (source === 'banned') found.banned++
  }
  return found
}

describe('sluice replay bans', () => {
  test.each([
    ['keys that are denied repeatedly', '', {}],
    ['for longer each time', ', growth: 3, max: 30m', { growth: 3, max: '30m' }],
    ['until a key has been quiet', ', extend: true', { extend: true }],
    ['keys whose requests fail', ', strikes: failures', { strikes: 'failures' }],
    ['keys whose requests fail with some statuses', ', strikes: [401]', { strikes: [401] }],
    [
      'unless a request succeeds',
      ', strikes: failures, forgiveOn: success',
      { strikes: 'failures', forgiveOn: 'success' },
    ],
  ] as const)('%s, as a limiter does at the times of the log', async (_, text, terms) => {
    const random = seededRandom(1)
    const lines = crowdLines(random, { lines: 6000, clients: 60, gapMs: 700 }).map((line) => {
      return { ...line, status: random.pick([401, 401, 422, 200, 200]) }
    })
    const expected = limited(lines, { after: 4, within: '1m', for: '3m', ...terms })
    const report = await replayed([log(lines)], {
      policies: policies(`  - { name: api, limit: 10, per: 1m, ban: { after: 4, within: 1m, for: 3m${text} } }`),
    })
    expect(expected.begun).toBeGreaterThan(1)
    expect(expected.banned).toBeGreaterThan(50)
    expect(report.total.denied).toBe(expected.denied)
    expect(report.policies[0]).toMatchObject({
      denied: expected.denied,
      bans: { begun: expected.begun, denied: expected.banned },
    })
  })

  test('and charges no other policy for requests of banned keys', async () => {
    // a strike in second 1 begins a ban until second 61
    const lines = seconds(0, 60).map((second) => at(second))
    const report = await replayed([log(lines)], {
      policies: policies(`
  - { name: other, limit: 50, per: 1h }
  - { name: small, limit: 1, per: 1m, ban: { after: 1, within: 1m, for: 1m } }`),
    })
    expect(report.policies).toMatchObject([
      { name: 'other', requests: 60, denied: 0, bans: null },
      { name: 'small', requests: 60, denied: 59, bans: { begun: 1, denied: 58 } },
    ])
  })

  test('in shadow mode without denials', async () => {
    const ban = 'ban: { after: 1, within: 1m, for: 1m }'
    const file = policies(`  - { name: api, limit: 1, per: 1s, algorithm: fixed-window, mode: shadow, ${ban} }`)
    const lines = seconds(0, 130).map((second) => at(second))
    const report = await replayed([log(lines)], { policies: file })
    expect(report.policies[0]).toMatchObject({ denied: 0, bans: { begun: 0, denied: 0 } })
    const twice = await replayed([log(lines.flatMap((line) => [line, line]))], { policies: file })
    expect(twice.total.denied).toBe(0)
    // the bans begin in seconds 0, 60 and 120, and each has one request before it
    expect(twice.policies[0]).toMatchObject({ denied: 257, bans: { begun: 3 } })
  })

  test('and a comparison lists the requests that a new ban denies', async () => {
    const lines = seconds(0, 60).map((second) => at(second))
    const report = await compared(
      policies('  - { name: api, limit: 1, per: 10s, algorithm: fixed-window }'),
      policies(
        '  - { name: api, limit: 1, per: 10s, algorithm: fixed-window, ban: { after: 2, within: 1m, for: 1h } }',
      ),
      { log: [log(lines)] },
    )
    // without bans, each tenth request is allowed
    expect(report).toMatchObject({ denied: { before: 54, after: 59 } })
    expect(report.newlyDenied.policies).toMatchObject([{ name: 'api', requests: 5 }])
  })

  test('and the text says how many', async () => {
    const lines = seconds(0, 60).map((second) => at(second))
    const options = {
      policies: policies('  - { name: api, limit: 1, per: 1m, ban: { after: 1, within: 1m, for: 1m } }'),
    }
    const stdout = new TextSink()
    await replayCommand([log(lines)], { ...options, stdout })
    expect(stdout.text).toContain('api: 1 ban began; 58 of the denied requests were of banned keys.')
  })
})
