import { expect, test } from '@jest/globals'
import { type PolicyFileError, parsePolicies } from '@sluice/policies'

// each took 5 s or more of the event loop, and four times as long with twice as many values
const documents = {
  'numbers in a list': `policies: [{ name: a, limit: 1, per: 1s }]\nlists: { allow: [${'1,'.repeat(40_000)}1] }`,
  'unknown fields': `policies: [{ name: a, limit: 1, per: 1s, ${fields(20_000)} }]`,
  'unknown names': `policies: [${policies(1_000)}]\noverrides: [${overrides(1_000)}]`,
}

test.each(Object.entries(documents))('a document with many %s is refused within 2 s of CPU time', (_, text) => {
  const before = process.cpuUsage()
  let problems: readonly object[] = []
  try {
    parsePolicies(`version: 1\n${text}`, 'policies.yaml')
  } catch (error) {
    problems = (error as PolicyFileError).problems
  }
  const { user, system } = process.cpuUsage(before)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.length).toBeLessThanOrEqual(100)
  expect((user + system) / 1e6).toBeLessThan(2)
})

test('a map with many names is valid, and a repeated name is found', () => {
  const text = (more: string): string =>
    `version: 1\npolicies: [{ name: a, limit: { ${fields(20_000)}${more} }, per: 1s }]`
  const before = process.cpuUsage()
  expect(parsePolicies(text(''), 'policies.yaml').policies).toHaveLength(1)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1e6).toBeLessThan(2)
  expect(() => parsePolicies(text(', p7: 1'), 'policies.yaml')).toThrow(/policies.yaml:2:\d+: Map keys must be unique/)
})

function fields(count: number): string {
  return Array.from({ length: count }, (_, index) => `p${index}: 1`).join(', ')
}

function policies(count: number): string {
  return Array.from({ length: count }, (_, index) => `{ name: ${'n'.repeat(100)}${index}, limit: 1, per: 1s }`).join()
}

function overrides(count: number): string {
  return Array.from({ length: count }, (_, index) => `{ policy: ${'m'.repeat(100)}${index}, key: a, limit: 1 }`).join()
}
