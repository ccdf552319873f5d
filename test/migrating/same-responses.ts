import { jest } from '@jest/globals'
import type { SeededRandom } from '@sluice/testkit'
import request from 'supertest'

export type App = Parameters<typeof request>[0]

/** One response: its status, and the requested headers by lower-case name. */
export interface Seen {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

const FIELDS = ['limit', 'remaining', 'reset'].flatMap((field) => [`ratelimit-${field}`, `x-ratelimit-${field}`])
const COMPARED: readonly string[] = [...FIELDS, 'retry-after']

/** Fakes clocks but not timers, which requests over real sockets need. */
export function fakeClocks(): void {
  const timers = [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const
  jest.useFakeTimers({ doNotFake: [...timers, 'nextTick', 'queueMicrotask'], now: Date.UTC(2026, 0, 1, 0, 0, 0, 250) })
}

/**
 * Sends the same requests at the same instants to an app before and after its migration, with time passing at random
 * between them, and returns the responses of each.
 */
export async function askBoth(
  apps: readonly [before: App, after: App],
  random: SeededRandom,
  { asks, longestGapMs }: { readonly asks: number; readonly longestGapMs: number },
): Promise<readonly [before: Seen[], after: Seen[]]> {
  const seen: [Seen[], Seen[]] = [[], []]
  for (let asked = 0; asked < asks; asked++) {
    for (const [index, app] of apps.entries()) seen[index].push(await ask(app))
    // occasionally a longer pause, so that windows end as well as fill
    jest.advanceTimersByTime(random.whole(random.whole(5) === 0 ? 10 * longestGapMs : longestGapMs))
  }
  return seen
}

export async function ask(app: App, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
  const { status, headers: lines } = await request(app).get('/').set(headers)
  return { status, headers: Object.fromEntries(COMPARED.map((name) => [name, lines[name]])) }
}

/** Returns whether the responses include both denials and admissions; otherwise a comparison proves little. */
export function isMixed(seen: readonly Seen[]): boolean {
  const denied = seen.filter(({ status }) => status === 429).length
  return denied > 0 && denied < seen.length
}
