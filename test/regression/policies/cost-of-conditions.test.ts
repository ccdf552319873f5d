import { expect, test } from '@jest/globals'
import { PolicyMatcher, parsePolicies } from '@sluice/policies'
import { eachSeed, type SeededRandom } from '@sluice/testkit'

/** Most milliseconds of CPU time that the conditions of one request may take; the first attempts also compile. */
const MOST_MS = 10
const ATTEMPTS = 20

const LONG = 7600

interface Result {
  readonly applying: readonly string[]
  readonly failures: readonly string[]
  readonly ms: number
}

function documentOf(...policies: readonly string[]): string {
  return `version: 1\npolicies:\n${policies.map((policy) => `  - ${policy}\n`).join('')}`
}

function policyOf(name: string, when: string, more: object = {}): string {
  return JSON.stringify({ name, when, limit: 10, per: '1m', ...more })
}

/** Matches a request with two headers several times, until it is fast enough. */
function matched(text: string, a: string, b = ''): Result {
  const failures: string[] = []
  const matcher = new PolicyMatcher(parsePolicies(text, 'policies.yaml'), (name, error) =>
    failures.push(`${name}: ${(error as Error).message}`),
  )
  let result: Result | undefined
  for (let attempt = 0; attempt < ATTEMPTS && (result === undefined || result.ms > MOST_MS); attempt++) {
    failures.length = 0
    const start = process.cpuUsage()
    const applying = matcher.applying((name) => (name === 'header:a' ? a : name === 'header:b' ? b : undefined))
    const { user, system } = process.cpuUsage(start)
    const ms = (user + system) / 1_000
    result = { applying: applying.map(({ policy }) => policy.name), failures: [...failures], ms }
  }
  return result as Result
}

const A = "request.headers['a']"
const B = "request.headers['b']"

const HOSTILE: readonly (readonly [string, string, string])[] = [
  [`${A}.split(',').exists(g, g in ${B}.split(','))`, 'a,'.repeat(LONG / 2), `${'b,'.repeat(LONG / 2)}c`],
  [`${A}.split('').all(c, ${B}.split('') != [])`, 'a'.repeat(LONG), 'b'.repeat(LONG)],
  [`${A}.split('').exists(c, ${B}.contains(c + 'x'))`, 'a'.repeat(LONG), 'b'.repeat(LONG)],
  [`${A}.split('').filter(c, ${B}.lowerAscii() == c).size() == 1`, 'a'.repeat(LONG), 'B'.repeat(LONG)],
  [`${A}.split('').exists_one(c, ${B}.matches('x+y'))`, 'a'.repeat(LONG), 'x'.repeat(LONG)],
  [`size(${A}.split('').join(${B})) == 1`, 'a'.repeat(LONG), 'x'.repeat(LONG)],
  [`size(${A}.split('').map(c, ${B}).join('')) == 1`, 'a'.repeat(LONG), 'x'.repeat(LONG)],
  [`${A}.lastIndexOf(${B}) == 1`, 'a'.repeat(LONG), `${'a'.repeat(LONG / 2)}b`],
  [`${A}.contains(${B})`, 'a'.repeat(LONG), `${'a'.repeat(LONG / 4)}b${'a'.repeat(LONG / 4)}`],
  [`duration(${A}) > duration('1s')`, '1'.repeat(400), ''],
  [`${A}.split('').all(c, timestamp('2026-01-01T00:00:00Z').getHours('Europe/Berlin') == 1)`, 'a'.repeat(LONG), ''],
  [`cel.bind(l, ${A}.split(''), ${B}.split('').all(c, [l] == [l]))`, 'a'.repeat(LONG), 'b'.repeat(LONG)],
  [
    `${A}.split('').all(c, [c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c, c] != [])`,
    'a'.repeat(LONG),
    '',
  ],
  [
    `cel.bind(l, ${A}.split(''), ${Array.from({ length: 30 }, () => 'l.all(c, true)').join(' && ')})`,
    'a'.repeat(LONG),
    '',
  ],
]

test.each(HOSTILE)('%s takes at most 10 ms and applies if it would take longer', (when, a, b) => {
  const { applying, failures, ms } = matched(documentOf(policyOf('p', when)), a, b)
  expect(ms).toBeLessThan(MOST_MS)
  expect({ applying, failures: failures.length }).toEqual({ applying: ['p'], failures: 1 })
  expect(failures[0]).toMatch(/^p: the condition takes too long for this request/)
})

test('the conditions of all policies share the time of a request', () => {
  const names = Array.from({ length: 200 }, (_, index) => `p${index}`)
  const text = documentOf(...names.map((name) => policyOf(name, `${A}.split('').all(c, c == 'a')`)))
  const { applying, ms } = matched(text, 'a'.repeat(LONG))
  expect(ms).toBeLessThan(MOST_MS)
  expect(applying).toEqual(names)
})

test('a policy whose condition takes too long does not replace a stricter policy', () => {
  const strict = JSON.stringify({ name: 'strict', limit: 1, per: '1m' })
  const generous = policyOf('generous', `${A}.split('').exists(c, ${B}.contains(c + 'x'))`, { replaces: ['strict'] })
  const { applying } = matched(documentOf(strict, generous), 'a'.repeat(LONG), 'b'.repeat(LONG))
  expect(applying).toEqual(['strict', 'generous'])
})

test('conditions on ordinary headers are evaluated', () => {
  const groups = Array.from({ length: 30 }, (_, index) => `team-${index}`).join(',')
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36'
  const met = [
    `${A}.split(',').exists(g, g in ${B}.split(','))`,
    `${B}.matches('(?i)chrome/1[0-9]+')`,
    `${A}.contains('team-29') && !${A}.contains('team-31')`,
    `${A}.split(',').filter(g, g.startsWith('team-2')).size() == 11`,
    `duration('1m') < duration('1h')`,
  ]
  for (const when of met) {
    const { applying, failures } = matched(documentOf(policyOf('p', when)), groups, `${agent},team-7`)
    expect({ when, applying, failures }).toEqual({ when, applying: ['p'], failures: [] })
  }
})

test('many policies with small conditions do not use up the time of a request', () => {
  const text = documentOf(
    ...Array.from({ length: 500 }, (_, index) =>
      policyOf(
        `p${index}`,
        `request.headers['a'] in ['x-${index}', 'y-${index}', 'z-${index}'] || ${A}.startsWith('y')`,
      ),
    ),
  )
  const failures: unknown[] = []
  const matcher = new PolicyMatcher(parsePolicies(text, 'policies.yaml'), (...failure) => failures.push(failure))
  expect(matcher.applying((name) => (name === 'header:a' ? 'z-7' : undefined)).map(({ place }) => place)).toEqual([7])
  expect(failures).toEqual([])
})

const PATTERNS = ['x+y', '(?i)a.*b{20}', 'a|b']

/** Returns an expression of type string. `inner`: the variable of the loop around it, if any. */
function textIn(random: SeededRandom, depth: number, inner: readonly string[]): string {
  const leaf = random.pick([A, B, B, "'b'", ...inner])
  if (depth === 0) return leaf
  const text = (): string => textIn(random, depth - 1, inner)
  return random.pick([
    () => leaf,
    () => `(${text()} + ${text()})`,
    () => `${text()}.lowerAscii()`,
    () => `${text()}.trim()`,
    () => `string(bytes(${text()}))`,
    () => `${listIn(random, depth - 1, inner)}.join(${text()})`,
  ])()
}

/** Returns an expression of type list<string>. */
function listIn(random: SeededRandom, depth: number, inner: readonly string[]): string {
  const split = `${random.pick([A, B, ...inner])}.split(${random.pick(["''", "','", B])})`
  if (depth === 0) return split
  const list = (): string => listIn(random, depth - 1, inner)
  const choices = [() => split, () => `(${list()} + ${list()})`]
  if (inner.length === 0) {
    choices.push(() => `${split}.map(c, ${textIn(random, depth - 1, ['c'])})`)
    choices.push(() => `${split}.filter(c, ${boolIn(random, depth - 1, ['c'])})`)
  }
  return random.pick(choices)()
}

/** Returns an expression of type bool. */
function boolIn(random: SeededRandom, depth: number, inner: readonly string[]): string {
  const next = Math.max(0, depth - 1)
  const text = (): string => textIn(random, next, inner)
  const list = (): string => listIn(random, next, inner)
  const choices = [
    () => `${text()}.contains(${text()})`,
    () => `${text()}.lastIndexOf(${text()}) == 1`,
    () => `${text()}.matches('${random.pick(PATTERNS)}')`,
    () => `${text()} in ${list()}`,
    () => `${text()} == ${text()}`,
    () => `${list()} == ${list()}`,
    () => `size(${text()}) == 3`,
  ]
  if (inner.length === 0) {
    const loop = random.pick(['all', 'exists', 'exists_one'])
    choices.push(() => `${list()}.${loop}(c, ${boolIn(random, next, ['c'])})`)
  }
  if (depth > 0) choices.push(() => `(${boolIn(random, next, inner)} || ${boolIn(random, next, inner)})`)
  return random.pick(choices)()
}

/** Whether the condition is valid: a random one may contain a loop inside of another loop, or be too deep. */
function isValid(text: string): boolean {
  try {
    parsePolicies(text, 'policies.yaml')
    return true
  } catch {
    return false
  }
}

test('no condition takes more than 10 ms, whatever it consists of', () => {
  eachSeed(200, (random) => {
    const when = boolIn(random, 4, [])
    const [a, b] = [0, 0].map(() =>
      random
        .pick(['a', 'b', 'a,', '1', `${'a'.repeat(99)}b`])
        .repeat(LONG)
        .slice(0, LONG),
    )
    const text = documentOf(policyOf('p', when))
    if (!isValid(text)) return
    expect({ when, isFast: matched(text, a, b).ms < MOST_MS }).toEqual({ when, isFast: true })
  })
})
