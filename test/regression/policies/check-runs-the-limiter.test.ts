import { describe, expect, test } from '@jest/globals'
import { rateLimit } from '@sluice/express'
import { memoryBackend } from '@sluice/limiter-core'
import { checkPolicies, PolicyFileError, type PolicyFinding, parsePolicies, policies } from '@sluice/policies'
import { eachSeed, numberOfRuns, type SeededRandom } from '@sluice/testkit'
import { TextSource } from '../../policies/text-source.ts'

const file = (policy: object): string => JSON.stringify({ version: 1, policies: [policy] })
const POLICY = { name: 'api', limit: 5, per: '1m' } as const

function findingsOf(text: string): readonly Pick<PolicyFinding, 'severity' | 'path' | 'message'>[] {
  try {
    return checkPolicies(parsePolicies(text, 'policies.yaml'), { text })
  } catch (error) {
    if (!(error instanceof PolicyFileError)) throw error
    return error.problems.map((problem) => ({ severity: 'error', ...problem }))
  }
}

/** What a limiter throws when it starts with a document. */
function refusalOf(text: string): string | undefined {
  try {
    const attributes = { plan: () => 'free', units: () => 1 }
    rateLimit({ ...policies(new TextSource(text), { attributes }), backend: memoryBackend() }).limiter.close()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('a policy that a limiter refuses at start-up is a finding', () => {
  test.each<[string, object, string, string]>([
    ['a window of no time', { per: '0s' }, 'policies[0].per', 'per: expected a duration such as'],
    [
      'a ban that is longer than its longest duration',
      { ban: { after: 5, within: '1m', for: '1h', max: '1m' } },
      'policies[0].ban.max',
      'ban.max: expected a duration from 3600000 ms (for)',
    ],
    [
      'a ban of no time',
      { ban: { after: 5, within: '1m', for: '0s' } },
      'policies[0].ban.for',
      'ban.for: expected a duration such as',
    ],
    [
      'a ban that is forgotten before it ends',
      { ban: { after: 5, within: '1m', for: '1h', forget: '1s' } },
      'policies[0].ban.forget',
      'ban.forget: expected a duration from',
    ],
    ['a burst of a fixed window', { algorithm: 'fixed-window', burst: 2 }, 'policies[0].burst', 'burst: expected'],
  ])('%s', (_what, fields, path, message) => {
    const text = file({ ...POLICY, ...fields })
    expect(refusalOf(text)).toMatch(/^SLUICE_/)
    expect(findingsOf(text)).toContainEqual(
      expect.objectContaining({ severity: 'error', path, message: expect.stringContaining(message) }),
    )
  })
})

test('the finding about the field window names per', () => {
  expect(findingsOf(file({ name: 'api', limit: 5, window: '1m' })).map(({ message }) => message)).toContain(
    "unknown field 'window', did you mean 'per'?",
  )
})

const DURATIONS = ['0s', '0ms', '1ms', '100ms', '1s', '1m', '1h', '1d', '7d', '366d', '800d', '99999w', '999999999999w']
const UNITS = [1, 2, 32, 33, 128, 129, 1_000, 10_001, 86_400_000, 999_999_999_999_999]

/** A random policy. All of its fields match the schema. */
function randomPolicy({ pick, next }: SeededRandom): object {
  const sometimes = (share: number, field: () => object): object => (next() < share ? field() : {})
  return {
    name: 'api',
    limit: next() < 0.2 ? { free: pick(UNITS), pro: pick(UNITS) } : pick(UNITS),
    per: pick(DURATIONS),
    ...sometimes(0.5, () => ({
      algorithm: pick(['sliding-log', 'sliding-window', 'fixed-window', 'token-bucket', 'gcra']),
    })),
    ...sometimes(0.3, () => ({ burst: pick(UNITS) })),
    ...sometimes(0.2, () => ({ slices: pick([1, 2, 60]) })),
    ...sometimes(0.2, () => ({ retry: 'booked' })),
    ...sometimes(0.2, () => ({ unit: pick(['tokens', 'x'.repeat(64), 'ä', ' ']) })),
    ...sometimes(0.2, () => ({ mode: pick(['enforce', 'shadow', 'off']) })),
    ...sometimes(0.2, () => ({ cost: pick<unknown>([1, 2, 500, { reserve: pick(UNITS), settle: 'units' }]) })),
    ...sometimes(0.4, () => ({
      ban: {
        ...{ after: pick([1, 5, 1_000, 999_999_999_999_999]), within: pick(DURATIONS), for: pick(DURATIONS) },
        ...sometimes(0.4, () => ({ growth: pick([1, 2, 1e300]) })),
        ...sometimes(0.4, () => ({ max: pick(DURATIONS) })),
        ...sometimes(0.4, () => ({ forget: pick(DURATIONS) })),
        ...sometimes(0.3, () => ({ strikes: pick(['denials', 'failures']) })),
        ...sometimes(0.3, () => ({ forgiveOn: 'success' })),
      },
    })),
  }
}

test('the check finds an error in exactly the files that a limiter refuses, and never fails itself', async () => {
  const counts = { refused: 0, accepted: 0 }
  await eachSeed(400, (random) => {
    const text = file(randomPolicy(random))
    const errors = findingsOf(text).filter(({ severity }) => severity === 'error')
    const refused = refusalOf(text)
    counts[refused === undefined ? 'accepted' : 'refused']++
    // the limits of plans are known when a request arrives, but a file shows them at once
    const isKnownLater = text.includes('"free"') && refused === undefined
    if (!isKnownLater)
      expect({ text, errors: errors.length > 0, refused }).toEqual({ text, errors: !!refused, refused })
  })
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(numberOfRuns(50))
})
