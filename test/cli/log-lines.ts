import type { SeededRandom } from '@sluice/testkit'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Start of the generated logs. */
export const LOG_START = Date.UTC(2026, 4, 17, 10)

export interface Line {
  readonly timeMs: number
  readonly address?: string
  readonly user?: string
  readonly request?: string
  readonly status?: number
  readonly bytes?: number
  readonly referer?: string
  readonly agent?: string
}

/** Returns a time as Apache writes it: `17/May/2026:10:00:00 +0000`. */
function apacheTime(timeMs: number): string {
  const iso = new Date(timeMs).toISOString()
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`
}

/** Returns a line in the Common Log Format. */
export function commonLine(line: Line): string {
  const { timeMs, address = '192.0.2.1', user = '-', request = 'GET / HTTP/1.1', status = 200, bytes = 512 } = line
  return `${address} - ${user} [${apacheTime(timeMs)}] "${request}" ${status} ${bytes}`
}

/** Returns a line in the Combined Log Format. */
export function combinedLine(line: Line): string {
  return `${commonLine(line)} "${line.referer ?? '-'}" "${line.agent ?? 'Mozilla/5.0 (X11; Linux x86_64)'}"`
}

export interface Crowd {
  readonly lines: number
  readonly clients: number
  /** Mean milliseconds between two requests. */
  readonly gapMs: number
}

const PATHS = ['/', '/search?q=a', '/teams/1', '/teams/2', '/blog/tags/puppet', '/favicon.ico']

/** Returns lines of many clients, of which a few send most requests. */
export function crowdLines(random: SeededRandom, { lines, clients, gapMs }: Crowd): Line[] {
  let timeMs = LOG_START
  return Array.from({ length: lines }, () => {
    timeMs += Math.round(random.next() * 2 * gapMs)
    const client = Math.floor(clients * random.next() ** 3)
    return {
      timeMs,
      address: `10.${(client >> 16) & 255}.${(client >> 8) & 255}.${client & 255}`,
      request: `GET ${random.pick(PATHS)} HTTP/1.1`,
    }
  })
}
