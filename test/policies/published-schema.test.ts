import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { policySchema } from '@sluice/policies'
import { mustRun } from '../packaging/command.ts'
import { root } from '../repository.ts'

// `node tools/release/write-policy-schema.mjs` writes it
test('the published JSON Schema is the one that documents are checked with', () => {
  const published = readFileSync(join(root, 'packages/policies/policies.schema.json'), 'utf8')
  expect(JSON.parse(published)).toEqual(withoutExpected(policySchema))
})

test('the embedded library of conditions equals the installed one', async () => {
  await mustRun(process.execPath, ['tools/build/embed-cel.mjs', '--check'], root)
})

/** Returns the schema without the keyword that only messages of this package use. */
function withoutExpected(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExpected)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, text]) => name !== 'expected' || typeof text !== 'string')
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutExpected(one)]))
}
