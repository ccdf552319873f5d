import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { runCli } from '@sluice/cli'
import { type Dashboard, dashboard, type InsightSnapshot } from '@sluice/insight'
import { FakeClock } from '@sluice/testkit'
import { type Listening, listening } from '../insight/page/open-page.ts'
import { WatchedFleet } from '../insight/page/simulated-fleet.ts'
import { eventually } from '../services/eventually.ts'
import { startNode } from '../services/processes/child-node.ts'
import { CapturedOutput, sluice } from './run-sluice.ts'

const UPDATE_MS = 250
const HOSTILE = '\x1b[2J\x1b]0;owned\x07\u009b31m\u202e\u2028\ud800'

let clock: FakeClock
let page: Dashboard
let served: Listening

async function serve(snapshot: Partial<InsightSnapshot> = {}, token?: string, port = 0): Promise<void> {
  page = dashboard({ insight: new WatchedFleet(snapshot), updateMs: UPDATE_MS, clock, ...(token && { token }) })
  served = await listening(page, port)
}

async function stop(): Promise<void> {
  page.close()
  await served.stop()
}

beforeEach(() => {
  clock = new FakeClock()
})
afterEach(stop)

/** A watch that runs until it is stopped. */
class RunningWatch {
  readonly stdout = new CapturedOutput()
  readonly stderr = new CapturedOutput()
  readonly #controller = new AbortController()
  readonly ended: Promise<number>

  constructor(args: readonly string[] = [], isTTY = false, url = served.url) {
    this.stdout.isTTY = isTTY
    const { stdout, stderr } = this
    const { signal } = this.#controller
    this.ended = runCli(['watch', url, ...args], { stdout, stderr, env: {}, signal, clock })
  }

  /** Waits until the output contains a text this many times. */
  shows(text: string, times = 1): Promise<void> {
    const isShown = async () => this.stdout.text.split(text).length > times
    return eventually(isShown, { what: `${times} times ${text}` })
  }

  stop(): Promise<number> {
    this.#controller.abort()
    return this.ended
  }
}

describe('sluice watch --once', () => {
  test('prints one update as tables', async () => {
    await serve()
    const { exitCode, stdout, stderr } = await sluice(['watch', '--once', served.url])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const [status, ...tables] = stdout.split('\n')
    expect(status).toMatch(
      /^Live \d\d:\d\d:\d\d UTC {2}http:\/\/localhost:\d+\/ {2}412 decisions\/s, 1\.2 % denied, 3 processes$/,
    )
    expect(tables.join('\n')).toBe(`
POLICY           LIMIT                   ALLOWED/S  DENIED/S  SHADOW/S  CLOSEST KEY
api              1,000 requests / 1 min        340         5         0  203.0.113.x 97 %
search (shadow)  30 units / 1 s                 56         0         8  acme… 41 %
login            5 requests / 15 min           3.2       0.1         0  eve@… 100 %

CAP      IN FLIGHT  LIMIT  WAITING  PEAK  HOLD P50  HOLD P99  DENIED  DENIED/S BY PRIORITY
reports         17     20        3    20    840 ms     9.1 s      31  sheddable 0.5
uploads          6     50        0    14    120 ms    640 ms       0  –

BACKEND  STATE  FOR  LAST ERROR
redis    ok     2 h  –

MOST DENIED KEYS  POLICY  LAST 10 MIN
203.0.113.x       api           2,214
198.51.100.x      api             310
eve@…             login           118

MOST ALLOWED KEYS  POLICY       LAST 10 MIN
acme…              api     90,904 to 91,214
203.0.113.x        api     39,802 to 40,112
acme…              search  20,100 to 20,112
2001:db8:1:x       api     11,691 to 12,001
bob@…              login                  4
`)
  })

  test('prints one line of JSON without the history', async () => {
    await serve()
    const { exitCode, stdout } = await sluice(['watch', '--once', '--json', served.url])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^[^\n]+\n$/)
    const update = JSON.parse(stdout)
    expect(update).toMatchObject({
      ratePerSecond: { now: 412 },
      policies: [{ name: 'api' }, {}, {}],
      sources: expect.anything(),
    })
    expect(update).not.toHaveProperty('history')
    expect(update).not.toHaveProperty('day')
  })

  test.each(['text', 'JSON'])('shows control characters of keys, names and errors escaped in %s', async (format) => {
    const key = { id: 'x', key: HOSTILE, count: 1, error: 0 }
    const [policy] = new WatchedFleet().snapshot().policies
    await serve({
      policies: [
        {
          ...policy,
          name: HOSTILE,
          unit: HOSTILE,
          nearest: { key: HOSTILE, usedShare: 1 },
          topAllowed: [key],
          topDenied: [key],
        },
      ],
      caps: [{ ...new WatchedFleet().snapshot().caps[0], name: HOSTILE }],
      sheds: [
        {
          ...{ policy: HOSTILE, shadow: 0, pressure: 0.8, signal: HOSTILE },
          byPriority: [{ priority: 'low', shed: 12, perSecond: 3 }],
        },
      ],
      backends: [{ name: HOSTILE, state: 'open', sinceMs: 1, lastError: HOSTILE }],
    })
    const { stdout } = await sluice(['watch', '--once', ...(format === 'JSON' ? ['--json'] : []), served.url])
    expect(stdout).not.toMatch(/[^\P{C}\n]/u)
    expect(stdout).toContain(
      format === 'JSON' ? String.raw`\u001b[2J` : String.raw`\x1b[2J\x1b]0;owned\x07\x9b31m\u{202e}\u{2028}`,
    )
  })

  test('needs the token of the page', async () => {
    await serve({}, 'a-token-of-enough-characters')
    const args = ['watch', '--once', served.url]
    const refused = await sluice(args)
    expect(refused).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining('Set SLUICE_TOKEN') })
    expect((await sluice(args, { env: { SLUICE_TOKEN: 'a-token-of-enough-characters' } })).exitCode).toBe(0)
    expect((await sluice([...args, '--token', 'a-token-of-enough-characters'])).exitCode).toBe(0)
  })

  test('exits with 3 if the address is of something else', async () => {
    await serve()
    const html = await listening((_req, res) => res.setHeader('content-type', 'text/html').end('hello'))
    const text = await listening((_req, res) =>
      res.setHeader('content-type', 'text/event-stream').end('data: {"at":1}\n\n'),
    )
    const empty = await listening((_req, res) => res.setHeader('content-type', 'text/event-stream').end())
    const results = await Promise.all([html, text, empty].map(({ url }) => sluice(['watch', '--once', url])))
    await Promise.all([html, text, empty].map((each) => each.stop()))
    expect(results.map(({ exitCode }) => exitCode)).toEqual([3, 3, 3])
    expect(results[0].stderr).toContain('expected a live page of Sluice, received text/html')
    expect(results[1].stderr).toContain('expected data of a live page, received an update of another release')
    expect(results[2].stderr).toContain('the server has closed the stream without an update')
  })
})

describe('sluice watch', () => {
  test('writes a line of JSON for each update, until it is interrupted', async () => {
    await serve()
    const watch = new RunningWatch(['--json'])
    await watch.shows('\n')
    for (let updates = 2; updates <= 4; updates++) {
      clock.advance(UPDATE_MS)
      await watch.shows('\n', updates)
    }
    expect(await watch.stop()).toBe(0)
    for (const line of watch.stdout.lines) expect(JSON.parse(line)).toMatchObject({ policies: expect.anything() })
  })

  test('without a terminal writes plain blocks, one for each update', async () => {
    await serve()
    const watch = new RunningWatch()
    await watch.shows('Live')
    clock.advance(UPDATE_MS)
    await watch.shows('Live', 2)
    await watch.stop()
    expect(watch.stdout.text).not.toContain('\x1b')
  })

  test('on a terminal redraws the screen, also when its size changes, and restores it', async () => {
    await serve()
    const watch = new RunningWatch([], true)
    await watch.shows('MOST ALLOWED KEYS')
    const { stdout } = watch
    expect(stdout.text.startsWith('\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H')).toBe(true)
    const before = stdout.text.length
    stdout.resize(6)
    const redrawn = stdout.text.slice(before)
    expect(redrawn).toContain('… ')
    expect(redrawn.split('\r\n').length - 1).toBe(5)
    expect(redrawn.endsWith('\x1b[J')).toBe(true)
    expect(await watch.stop()).toBe(0)
    expect(stdout.text.endsWith('\x1b[?7h\x1b[?25h\x1b[?1049l')).toBe(true)
    expect(stdout.listeners).toBe(0)
  })

  test('skips updates while the terminal does not keep up', async () => {
    await serve()
    const watch = new RunningWatch(['--json'])
    await watch.shows('\n')
    let asked = 0
    Object.defineProperty(watch.stdout, 'writableNeedDrain', { get: () => ++asked > 0 })
    for (let updates = 1; updates <= 3; updates++) {
      clock.advance(UPDATE_MS)
      await eventually(async () => asked >= updates, { what: 'an update that is skipped' })
    }
    expect(await watch.stop()).toBe(0)
    expect(watch.stdout.lines).toHaveLength(1)
  })

  test('reconnects if the server has been silent for two minutes', async () => {
    await serve()
    const silent = await listening((_req, res) => {
      res
        .setHeader('content-type', 'text/event-stream')
        .write(`data: ${JSON.stringify(new WatchedFleet().snapshot())}\n\n`)
    })
    const watch = new RunningWatch(['--json'], false, silent.url)
    await watch.shows('\n')
    clock.advance(120_000)
    await eventually(async () => watch.stderr.text !== '', { what: 'the loss of the server' })
    expect(watch.stderr.text).toContain('no update in 120000 ms')
    await watch.stop()
    await silent.stop()
  })

  test.each([true, false])(
    'shows the loss of the server, and goes on when it returns (terminal: %s)',
    async (isTTY) => {
      await serve()
      const { port } = served
      const watch = new RunningWatch([], isTTY)
      await watch.shows('Live')
      await stop()
      const lost = async () => /isconnected/.test(watch.stdout.text + watch.stderr.text)
      await eventually(lost, { what: 'the loss of the server' })
      await serve({}, undefined, port)
      const before = watch.stdout.text.split('Live').length
      const isBack = async () => {
        clock.advance(1_000)
        return watch.stdout.text.split('Live').length > before
      }
      await eventually(isBack, { what: 'the return of the server' })
      expect(await watch.stop()).toBe(0)
      if (isTTY) expect(watch.stderr.text).toBe('')
      else expect(watch.stderr.text).toMatch(/^disconnected, reconnecting: .+\n$/)
    },
  )

  test('ends with 3 if the server no longer accepts the token when it returns', async () => {
    await serve()
    const { port } = served
    const watch = new RunningWatch()
    await watch.shows('Live')
    await stop()
    await eventually(async () => watch.stderr.text !== '', { what: 'the loss of the server' })
    await serve({}, 'a-token-of-enough-characters', port)
    let exitCode: number | undefined
    void watch.ended.then((code) => {
      exitCode = code
    })
    const isEnded = async () => {
      clock.advance(1_000)
      return exitCode !== undefined
    }
    await eventually(isEnded, { what: 'the end of the command' })
    expect(exitCode).toBe(3)
    expect(watch.stderr.text).toContain('401 Unauthorized')
  })

  test('ends with 0 when it is interrupted while it waits for a server', async () => {
    await serve()
    const watch = new RunningWatch()
    await watch.shows('Live')
    await stop()
    await eventually(async () => watch.stderr.text !== '', { what: 'the loss of the server' })
    expect(await watch.stop()).toBe(0)
    await serve()
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('in a process of its own ends with 0 on %s', async (signal) => {
    await serve()
    const child = startNode<typeof import('./children/watching.ts')>('cli/children/watching.ts')
    const ended = child.call('watch', served.url)
    await eventually(async () => child.output.includes('Live'), { what: 'the first update' })
    process.kill(child.pid, signal)
    expect(await ended).toBe(0)
    await child.stop()
  })
})
