import type { Announce, Scene } from './virtual-upstream.ts'

const seconds = (ms: number): string => String(Math.max(0, Math.ceil(ms / 1_000)))

/** What upstreams write into their responses. */
const FIELDS: Readonly<Record<string, Announce | undefined>> = {
  'no fields': undefined,
  'Retry-After': (left, { retryMs }) => (left > 0 ? {} : { 'retry-after': seconds(retryMs) }),
  RateLimit: (left, { resetMs }) => ({
    ratelimit: `"a";r=${left};t=${seconds(resetMs)}`,
    'ratelimit-policy': '"a";q=100;w=60',
  }),
  'X-RateLimit': (left, { resetMs, wallMs }) => ({
    'x-ratelimit-limit': '100',
    'x-ratelimit-remaining': String(left),
    'x-ratelimit-reset': seconds(wallMs + resetMs),
  }),
}

type NamedShape = Partial<Scene> & Pick<Scene, 'shape'>

const SHAPES: readonly (readonly [name: string, shape: NamedShape])[] = [
  ['a fixed window', { shape: 'fixed' }],
  ['a fixed window that began earlier', { shape: 'fixed', phaseMs: 43_000 }],
  ['a sliding window', { shape: 'sliding' }],
  ['a bucket of 100', { shape: 'bucket' }],
  ['a bucket of 10', { shape: 'bucket', burst: 10 }],
]

export interface LimitCase {
  readonly name: string
  readonly fields: string
  readonly shape: NamedShape
  readonly announce: Announce | undefined
}

/** Limits of 100 per minute, with each kind of fields. */
export const limitCases: readonly LimitCase[] = SHAPES.flatMap(([name, shape]) =>
  Object.entries(FIELDS).map(([fields, announce]) => ({ name, fields, shape, announce })),
)
