import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSluice } from '@sluice/express'
import { policies } from '@sluice/policies'
import { FakeClock } from '@sluice/testkit'
import { Ajv2020 } from 'ajv/dist/2020.js'
import express from 'express'
import request from 'supertest'
import { parse } from 'yaml'
import { sluice } from '../run-sluice.ts'

const POLICIES =
  'version: 1\npolicies:\n  - { name: all, limit: 1, per: 1m }\n  - { name: tokens, limit: 9, per: 1m, unit: tokens }\n'
const DESCRIPTION = `openapi: 3.1.0
info: { title: a, version: '1' }
paths:
  /a: { get: { responses: { 200: { description: Done } } } }
`
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'))
  writeFileSync(join(folder, 'policies.yaml'), POLICIES)
  writeFileSync(join(folder, 'openapi.yaml'), DESCRIPTION)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Matches the headers of limits. */
const OF_LIMITS = /ratelimit|retry/

test.each(['draft', 'draft-8', 'next', 'draft-6', 'legacy', 'openai', 'anthropic'] as const)(
  'responses of a server have the headers of %s and the body that the description states',
  async (headers) => {
    const args = ['openapi.yaml', 'policies.yaml'].map((name) => join(folder, name))
    const { stdout } = await sluice(['openapi', args[0], '--policies', args[1], '--headers', headers])
    const { paths, components } = parse(stdout)
    const app = express()
    const { rateLimit } = createSluice({ clock: new FakeClock() })
    app.get('/a', rateLimit({ ...policies(args[1]), headers }), (_req, res) => void res.send('done'))
    const [allowed, denied] = [await request(app).get('/a'), await request(app).get('/a')]
    expect([allowed.status, denied.status]).toEqual([200, 429])

    const { TooManyRequests } = components.responses
    const described = [paths['/a'].get.responses[200].headers, TooManyRequests.headers]
    for (const [place, { headers: sent }] of [allowed, denied].entries()) {
      const names = Object.keys(sent).filter((name) => OF_LIMITS.test(name))
      const stated = Object.keys(described[place]).map((name) => name.toLowerCase())
      // a request that can succeed later has no x-should-retry
      expect(names.sort()).toEqual(stated.filter((name) => name !== 'x-should-retry').sort())
      for (const [name, { schema }] of Object.entries<{ schema: { type: string } }>(components.headers)) {
        const value = sent[name.toLowerCase()]
        if (value === undefined) continue
        expect({ name, valid: valid(schema, schema.type === 'integer' ? Number(value) : value) }).toEqual({
          name,
          valid: true,
        })
      }
    }
    expect(Object.keys(TooManyRequests.content)).toEqual([denied.type])
    expect(valid(components.schemas.RateLimitProblem, denied.body)).toBe(true)
  },
)

const ajv = new Ajv2020({ formats: { uri: (text: string) => URL.canParse(text), int32: true, int64: true } })
ajv.addVocabulary(['x-generated-by'])

function valid(schema: object, value: unknown): boolean {
  return ajv.validate(schema, value)
}
