import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../repository.ts'
import { run } from './command.ts'

/** Declared by Cloudflare. */
const OF_CLOUDFLARE: ReadonlySet<string> = new Set(['WriteOptions.allowUnconfirmed'])

test('api/ contains the public types of every package as they are built', async () => {
  const check = join(root, 'tools/release/api-reports.mjs')
  expect(await run(process.execPath, [check, '--check'], root)).toMatchObject({ code: 0, output: '' })
})

// Workers and Deno check types without @types/node, and with skipLibCheck: false also those of our dependencies
test.each(['limiter-core', 'http', 'fetch', 'hono', 'mcp', 'overload', 'fleet', 'cloudflare'])(
  'the types of %s need no types of Node.js',
  (name) => {
    const report = readFileSync(join(root, 'api', `${name}.d.ts`), 'utf8')
    expect(report.match(/from 'node:.*|\bNodeJS\.\w+|(?<!\w)Buffer\b.*/g)).toBeNull()
  },
)

// with exactOptionalPropertyTypes, `{ clock }` of an optional parameter fits `clock?: Clock | undefined` only
test('each option that may be omitted may also be undefined', () => {
  const reports = readdirSync(join(root, 'api')).map((file) => readFileSync(join(root, 'api', file), 'utf8'))
  const bodies = reports.flatMap((text) => [
    ...text.matchAll(/^interface (\w+(?:Options|Input))\b[^{]*\{\n(.*?)^\}/gms),
  ])
  expect(bodies.length).toBeGreaterThan(100)
  const omitted = bodies.flatMap(([, name, body]) =>
    [...body.matchAll(/^\t(?:readonly )?(\w+)\?: (?!unknown$|.*undefined$).*[^{]$/gm)].map(
      ([, option]) => `${name}.${option}`,
    ),
  )
  expect(omitted.filter((option) => !OF_CLOUDFLARE.has(option))).toEqual([])
})
