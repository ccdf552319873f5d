import type { SeededRandom } from '@sluice/testkit'
import { stringify } from 'yaml'

type Fields = Record<string, unknown>

const PATHS = ['/a', '/a/{id}', '/login', '/files/{path}', '/a/{id}/b']
const METHODS = ['get', 'post', 'head', 'delete']
const STATUSES = ['200', '204', '301', '404', '429', '4XX', 'default', '503']
const DESCRIPTIONS = ['ok', 'a\nb\n', 'x: y', 'long '.repeat(30)]
const REFERENCES = ['#/components/responses/Shared', './other.yaml#/x', '#/components/responses/Loop', '#/nowhere']
const ITEMS = ['#/paths/~1a', '#/paths/~1login', './paths.yaml', '#/components/pathItems/P']
const POLICIES = [
  { name: 'all', limit: 100, per: '1m' },
  { name: 'login', limit: 5, per: '1m', match: { route: 'POST /login' } },
  { name: 'one', limit: 5, per: '1m', match: { route: ['GET /v1/a/:x', 'GET /a'] } },
  { name: 'files', limit: 5, per: '1m', match: { route: '/files/*' }, unit: 'tokens' },
  { name: 'plans', limit: { free: 1, pro: 2 }, per: '1s', when: "request.method == 'POST' && attributes.plan == 'x'" },
]

/** Returns the text of policies: some of five, or one that is off. */
export function anyPolicies(random: SeededRandom): string {
  const some = POLICIES.filter(() => random.next() < 0.4)
  const policies = some.length > 0 ? some : [{ ...POLICIES[0], mode: 'off' }]
  return stringify({ version: 1, policies, ...(random.next() < 0.1 && { lists: { block: ['10.0.0.0/8'] } }) })
}

/** Returns a description of few operations in any style: JSON or YAML, with comments and other line breaks. */
export function anyDescription(random: SeededRandom): string {
  const value = description(random)
  const style = random.whole(7)
  if (style < 3) return JSON.stringify(value, null, [0, 2, '\t'][style])
  if (style === 3) return stringify(value, { collectionStyle: 'flow' })
  const text = stringify(value, { indentSeq: random.next() < 0.5, indent: random.pick([2, 4]) })
  const lines = text.split('\n').flatMap((line, place) => {
    if (random.next() > 0.15 || /[|>"]/.test(line)) return [line]
    const indent = /^\s*(?='?[\w-]+'?:$)/.exec(line)?.[0]
    if (indent !== undefined) return [`${indent}# comment ${place}`, line]
    return [/^\s*\S+: \S/.test(line) ? `${line} # comment ${place}` : line]
  })
  return style === 4 ? lines.join('\r\n') : style === 5 ? lines.join('\n').trimEnd() : lines.join('\n')
}

function description(random: SeededRandom): Fields {
  const paths = PATHS.filter(() => random.next() < 0.6).map((path) => [path, item(random)])
  return {
    openapi: random.pick(['3.0.3', '3.1.0']),
    info: { title: 't', version: '1' },
    ...some(random, 0.3, { servers: [{ url: random.pick(['https://a/v1', '/v1', 'https://{host}/{version}']) }] }),
    paths: random.next() < 0.05 ? null : Object.fromEntries(paths),
    ...some(random, 0.7, { components: random.pick([null, {}, components(random), components(random)]) }),
  }
}

function components(random: SeededRandom): Fields {
  const loop = { Loop: { $ref: '#/components/responses/Loop' } }
  return {
    responses: { Shared: response(random), ...some(random, 0.5, loop) },
    ...some(random, 0.5, { headers: { 'Access-Control-Allow-Origin': { schema: { type: 'string' } } } }),
    ...some(random, 0.2, { schemas: { RateLimitProblem: { type: 'object' } } }),
    ...some(random, 0.2, { pathItems: { P: { get: operation(random) } } }),
  }
}

function item(random: SeededRandom): Fields {
  if (random.next() < 0.15) return { $ref: random.pick(ITEMS) }
  return Object.fromEntries(METHODS.filter(() => random.next() < 0.4).map((method) => [method, operation(random)]))
}

function operation(random: SeededRandom): Fields {
  const responses = STATUSES.filter(() => random.next() < 0.35).map((status) => [status, response(random)])
  return {
    ...some(random, 0.5, { summary: 's' }),
    ...some(random, 0.9, { responses: random.pick([null, {}, ...Array(9).fill(Object.fromEntries(responses))]) }),
    ...some(random, 0.2, { 'x-rate-limits': random.pick([[], null, 'text\nof two lines\n', [{ policy: 'a' }]]) }),
    ...some(random, 0.3, { description: 'two\nlines\n' }),
  }
}

function response(random: SeededRandom): Fields {
  if (random.next() < 0.2) return { $ref: random.pick(REFERENCES) }
  const headers = ['RateLimit', 'retry-after', 'X-Page', 'Access-Control-Allow-Origin'].filter(
    () => random.next() < 0.3,
  )
  const own = Object.fromEntries(headers.map((name) => [name, { schema: { type: 'string' } }]))
  return {
    description: random.pick(DESCRIPTIONS),
    ...some(random, 0.6, { headers: random.pick([null, {}, own, own]) }),
  }
}

function some(random: SeededRandom, share: number, fields: Fields): Fields {
  return random.next() < share ? fields : {}
}
