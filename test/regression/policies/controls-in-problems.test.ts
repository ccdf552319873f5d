import { expect, test } from '@jest/globals'
import { PolicyFileError, parsePolicies } from '@sluice/policies'

test('problems of a document contain no characters that a terminal obeys', () => {
  const name = '"\\e[2J\\n\\u202e\\u2028fake: ok"'
  const text = `version: 1\npolicies:\n  - { name: a, limit: 1, per: 1m, ${name}: 1 }\n`
  let found: unknown
  try {
    parsePolicies(text, 'policies.yaml')
  } catch (error) {
    found = error
  }
  expect(found).toBeInstanceOf(PolicyFileError)
  const { details, message } = found as PolicyFileError
  for (const shown of [details, message]) {
    expect(shown).toContain('u{1b}[2J')
    expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  }
})
