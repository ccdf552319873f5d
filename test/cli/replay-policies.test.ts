import { afterAll, describe, expect, test } from '@jest/globals'
import { replayCommand } from '@sluice/cli'
import { createLimiter } from '@sluice/limiter-core'
import { FakeClock, seededRandom } from '@sluice/testkit'
import { combinedLine, crowdLines, type Line, LOG_START } from './log-lines.ts'
import { CommandFolder, compared, replayed, TextSink } from './replay-run.ts'

const folder = new CommandFolder()
afterAll(() => folder.remove())

let files = 0
const policies = (text: string): string => folder.file(`policies-${++files}.yaml`, `version: 1\npolicies:\n${text}`)
const log = (lines: readonly Line[]): string =>
  folder.file(`log-${++files}.log`, lines.map((line) => `${combinedLine(line)}\n`).join(''))
const jsonLog = (lines: readonly object[]): string =>
  folder.file(`log-${++files}.json`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const at = (second: number, more?: Partial<Line>): Line => ({ timeMs: LOG_START + second * 1000, ...more })

describe('sluice replay', () => {
  test('denies what a limiter denies at the times of the log', async () => {
    const lines = crowdLines(seededRandom(1), { lines: 3000, clients: 100, gapMs: 200 })
    const clock = new FakeClock({ nowMs: 0 })
    const limiter = createLimiter({ limit: 40, window: '1m', clock })
    let nowMs = 0
    let denied = 0
    for (const { timeMs, address = '' } of lines) {
      // a log has whole seconds
      const second = Math.floor((timeMs - LOG_START) / 1000) * 1000
      clock.advance(second - nowMs)
      nowMs = second
      if (!limiter.take(address).allowed) denied++
    }
    const report = await replayed([log(lines)], { policies: policies('  - { name: api, limit: 40, per: 1m }') })
    expect(denied).toBeGreaterThan(100)
    expect(report.total).toMatchObject({ requests: 3000, denied })
    expect(report.policies[0]).toMatchObject({ name: 'api', requests: 3000, denied, algorithm: 'sliding-window' })
  })

  test('counts requests, hours, keys and routes of each policy', async () => {
    const lines = [
      ...[0, 1, 2, 3].map((second) => at(second, { request: 'POST /login?u=1 HTTP/1.1' })),
      at(10, { address: '192.0.2.7', request: 'POST /login HTTP/1.1' }),
      at(3600, { request: 'GET /teams/7 HTTP/1.1' }),
      at(3601, { request: 'HEAD /teams/8 HTTP/1.1' }),
      at(3602, { request: 'GET /other HTTP/1.1' }),
    ]
    const report = await replayed([log(lines)], {
      policies: policies(`
  - { name: login, match: { route: "POST /login" }, limit: 2, per: 1m }
  - { name: teams, match: { route: "GET /teams/:team" }, key: [address, route], limit: 1, per: 1m, mode: shadow }
  - { name: unused, limit: 1, per: 1s, mode: off }`),
    })
    expect(report.log).toMatchObject({ from: '2026-05-17T10:00:00.000Z', to: '2026-05-17T11:00:02.000Z', lines: 8 })
    expect(report.total).toMatchObject({
      requests: 8,
      denied: 2,
      clients: { count: 2, error: 0, touched: 0.5, sample: 1 },
      peakHour: { at: '2026-05-17T10:00:00.000Z', requests: 5, denied: 2 },
      topKeys: [{ key: '192.0.2.1', denied: 2, error: 0, requests: 7 }],
      topRoutes: [{ key: 'POST /login', denied: 2, error: 0 }],
    })
    const [login, teams, unused] = report.policies
    expect(login).toMatchObject({ requests: 5, denied: 2, clients: { count: 2, touched: 0.5 } })
    expect(teams).toMatchObject({
      ...{ mode: 'shadow', requests: 2, denied: 1, clients: { count: 1, touched: 1 } },
      topKeys: [{ key: '192.0.2.1 · GET /teams/:team', denied: 1, error: 0, requests: 2 }],
      topRoutes: [{ key: 'GET /teams/:team', denied: 1, error: 0 }],
    })
    expect(unused).toMatchObject({ mode: 'off', requests: 0, denied: 0, proposal: null })
  })

  test('finds further routes by the patterns of the option', async () => {
    const lines = [at(0, { request: 'GET /teams/7/x HTTP/1.1' }), at(1, { request: 'GET /teams/8/x HTTP/1.1' })]
    const report = await replayed([log(lines)], {
      policies: policies('  - { name: each, key: route, limit: 1, per: 1m }'),
      routes: ['GET /teams/:team/*'],
    })
    expect(report.policies[0]).toMatchObject({ denied: 1, topKeys: [{ key: 'GET /teams/:team/*' }] })
  })

  test('counts IPv6 clients by their /56, and IPv4 clients completely', async () => {
    const lines = ['2001:db8:1:200::1', '2001:db8:1:2ff::2', '2001:db8:1:300::1', '::ffff:192.0.2.1', '192.0.2.1'].map(
      (address, second) => at(second, { address }),
    )
    const report = await replayed([log(lines)], { policies: policies('  - { name: api, limit: 1, per: 1m }') })
    expect(report.policies[0]).toMatchObject({ denied: 2, clients: { count: 3 } })
    expect(report.policies[0].topKeys.map(({ key }) => key)).toEqual(['192.0.2.1', '2001:db8:1:200::/56'])
  })

  test('charges no policy for a request that one of them denies', async () => {
    const report = await replayed([log([0, 1, 2].map((second) => at(second)))], {
      policies: policies(`
  - { name: small, limit: 1, per: 1m }
  - { name: large, limit: 2, per: 1m }`),
    })
    expect(report.policies.map(({ denied }) => denied)).toEqual([2, 0])
    expect(report.policies.map(({ demand }) => demand.largest)).toEqual([3, 3])
  })

  test('denies nothing by policies in shadow mode, and reports what they would deny', async () => {
    const report = await replayed([log([0, 1, 2].map((second) => at(second)))], {
      policies: policies('  - { name: api, limit: 1, per: 1m, mode: shadow }'),
    })
    expect(report.total.denied).toBe(0)
    expect(report.policies[0].denied).toBe(2)
  })

  test('settles costs by a field of the log', async () => {
    const lines = [100, 950, 10, 0, 'x'].map((db_ms, second) => ({
      time: LOG_START + second * 1000,
      remote_addr: '::1',
      db_ms,
    }))
    const report = await replayed([jsonLog(lines)], {
      policies: policies(
        '  - { name: db, unit: ms, limit: 1000, per: 1m, algorithm: token-bucket, cost: { reserve: 20, settle: db_ms } }',
      ),
    })
    // 100 and 950 make a debt, which lasts for three seconds
    expect(report.policies[0]).toMatchObject({ requests: 5, denied: 3, demand: { largest: 1080 } })
  })

  test('reads attributes of JSON logs, and of other fields that the options name', async () => {
    const lines = ['free', 'pro', 'free', 'pro', 'free'].map((plan, second) => ({
      ...{ time: LOG_START + second * 1000, remote_addr: '::1', plan, account: { id: plan } },
    }))
    const report = await replayed([jsonLog(lines)], {
      policies: policies('  - { name: api, key: principal, limit: { free: 1, pro: 10 }, per: 1m }'),
      attributes: { principal: 'account.id' },
    })
    expect(report.policies[0]).toMatchObject({
      denied: 2,
      topKeys: [{ key: 'free', denied: 2 }],
      clients: { count: 2 },
    })
    expect(report.policies[0].plans).toMatchObject([
      { plan: 'free', limit: 1, requests: 3, denied: 2, clients: { count: 1, touched: 1 }, demand: { largest: 3 } },
      { plan: 'pro', limit: 10, requests: 2, denied: 0, clients: { count: 1, touched: 0 }, demand: { largest: 2 } },
    ])
    expect(report.notes).toEqual([])
  })

  test('shows the percentiles of each plan, and counts other plans in the one with the smallest limit', async () => {
    const clients = Array.from({ length: 200 }, (_, client) => ({ principal: `c${client}`, plan: 'pro', requests: 4 }))
    const others = Array.from({ length: 100 }, (_, client) => ({ principal: `o${client}`, plan: 'trial', requests: 2 }))
    const lines = [...clients, ...others].flatMap(({ requests, ...line }) =>
      Array.from({ length: requests }, () => ({ time: LOG_START, remote_addr: '::1', ...line })),
    )
    const path = policies('  - { name: api, key: principal, limit: { free: 1, pro: 10 }, per: 1m }')
    const report = await replayed([jsonLog(lines)], { policies: path })
    const [api] = report.policies
    const p99 = ({ demand }: Pick<(typeof api.plans)[number], 'demand'>) =>
      demand.percentiles.find(({ share }) => share === 0.99)
    expect(p99(api)).toMatchObject({ limit: 4 })
    expect(api.plans.map((one) => [one.plan, one.clients.count, p99(one)?.limit, one.proposal?.limit])).toEqual([
      ['free', 100, 2, 3],
      ['pro', 200, 4, 5],
    ])
    const stdout = new TextSink()
    await replayCommand([jsonLog(lines)], { policies: path, stdout, stderr: new TextSink() })
    expect(stdout.text).toMatch(/api: free +│ +1 \/ 1m +│ +200 /)
    expect(stdout.text).toMatch(/api: pro +│ +10 \/ 1m +│ +800 /)
  })

  test('counts a request by its address if the key is missing', async () => {
    const report = await replayed([log([at(0), at(1)])], {
      policies: policies('  - { name: api, key: principal, limit: 1, per: 1m }'),
    })
    expect(report.policies[0].topKeys).toMatchObject([{ key: '192.0.2.1', denied: 1 }])
  })

  test('applies overrides of single keys', async () => {
    const path = folder.file(
      'overrides.yaml',
      'version: 1\npolicies:\n  - { name: api, limit: 1, per: 1m }\noverrides:\n  - { policy: api, key: 192.0.2.1, limit: 3 }\n',
    )
    const lines = [0, 1, 2, 3].flatMap((second) => [at(second), at(second, { address: '192.0.2.2' })])
    const report = await replayed([log(lines)], { policies: path })
    expect(report.policies[0].topKeys.map(({ key, denied }) => [key, denied])).toEqual([
      ['192.0.2.2', 3],
      ['192.0.2.1', 1],
    ])
  })

  test('applies the lists of the file as a server does', async () => {
    const lines = [
      ...[0, 1].map((second) => ({ address: '10.0.0.7', account: 'a', second })),
      ...[0, 1].map((second) => ({ address: '2001:db8:0:0:1::7', account: 'b', second })),
      ...[0, 1].map((second) => ({ address: '192.0.2.9', account: 'friend', second })),
      ...[0, 1].map((second) => ({ address: '10.0.0.9', account: 'enemy', second })),
      ...[0, 1].map((second) => ({ address: '192.0.2.1', account: 'c', second })),
    ].map(({ address, account, second }) => ({ time: LOG_START + second * 1000, remote_addr: address, account }))
    folder.file('blocklist.txt', '# not welcome\n2001:db8::1:0:0:7\nenemy\n')
    const document = (lists: string): string =>
      `  - { name: api, key: account, limit: 1, per: 1m }\n  - { name: off, limit: 1, per: 1m, mode: off }\n${lists}`
    const path = policies(document('lists: { allow: [10.0.0.0/8, friend], block: { file: blocklist.txt } }\n'))
    const report = await replayed([jsonLog(lines)], { policies: path })
    expect(report.lists).toEqual({ blocked: 4, allowed: 4 })
    expect(report.total).toMatchObject({ requests: 10, denied: 5 })
    expect(report.policies[0]).toMatchObject({ requests: 2, denied: 1, topKeys: [{ key: 'c', denied: 1 }] })
    expect(report.notes).toEqual([])
    const stdout = new TextSink()
    await replayCommand([jsonLog(lines)], { policies: path, stdout, stderr: new TextSink() })
    expect(stdout.text).toContain('Lists: 4 requests denied by block, 4 requests exempt by allow')
    const { newlyDenied } = await compared(policies(document('')), path, { log: [jsonLog(lines)] })
    expect(newlyDenied.policies).toMatchObject([
      { name: 'blocklist', requests: 2, topKeys: [{ denied: 1 }, { denied: 1 }] },
    ])
  })

  test('refuses a policy file whose lists cannot be read', async () => {
    const path = policies('  - { name: api, limit: 1, per: 1m }\nlists: { block: { file: missing.txt } }\n')
    const stderr = new TextSink()
    expect(await replayCommand([log([at(0)])], { policies: path, stdout: new TextSink(), stderr })).toBe(2)
    expect(stderr.text).toMatch(/SLUICE_POLICIES_UNREADABLE: .*missing\.txt/)
  })

  test('reports attributes that the log does not have, and unknown routes', async () => {
    const path = folder.file(
      'notes.yaml',
      `version: 1
policies:
  - { name: known, match: { route: "GET /" }, limit: 1, per: 1m }
  - { name: again, match: { route: "GET /" }, key: route, limit: 1, per: 1m }
  - { name: plans, match: { "header:x-plan": pro }, limit: 1, per: 1m }
`,
    )
    const {
      notes,
      policies: [known, again, plans],
    } = await replayed([log([at(0), at(1, { request: 'GET /other HTTP/1.1' })])], { policies: path })
    expect([known.requests, again.requests, plans.requests]).toEqual([1, 1, 0])
    expect(notes).toEqual([
      'No pattern fits the paths of 1 of 2 requests: routes are those that policies name in match, and those of the option --route.',
      'The log does not have the attribute header:x-plan: policies that match it did not apply, addresses took its place in keys, and reserved costs were final.',
    ])
  })
})
