// Writes packages/policies/policies.schema.json from the schema that documents are checked with. Run after a build.
import { writeFileSync } from 'node:fs'
import { policySchema } from '@sluice/policies'

/** Returns the schema without the keyword that only messages of the package use. */
function withoutExpected(value) {
  if (Array.isArray(value)) return value.map(withoutExpected)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name, text]) => name !== 'expected' || typeof text !== 'string')
  return Object.fromEntries(entries.map(([name, one]) => [name, withoutExpected(one)]))
}

const file = new URL('../../packages/policies/policies.schema.json', import.meta.url)
writeFileSync(file, `${JSON.stringify(withoutExpected(policySchema), null, 2)}\n`)
