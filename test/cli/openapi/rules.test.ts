import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { parse } from 'yaml'
import { root } from '../../repository.ts'
import { sluice } from '../run-sluice.ts'
import { POLICIES, shop } from './shop.ts'

let folder: string
const at = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openapi-'))
  writeFileSync(at('policies.yaml'), POLICIES)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Codes of the rules that a description breaks. */
async function broken(spectral: Spectral, text: string): Promise<readonly string[]> {
  const found = await spectral.run(parse(text))
  return [...new Set(found.map(({ code }) => String(code)))].sort()
}

describe('a description with limits', () => {
  test.each(['3.0.3', '3.1.0'])('passes the OWASP rules of Spectral in OpenAPI %s', async (version) => {
    const spectral = new Spectral()
    spectral.setRuleset(owasp as unknown as Parameters<Spectral['setRuleset']>[0])
    const name = at(`${version}.yaml`)
    writeFileSync(name, shop(version))
    expect(await broken(spectral, shop(version))).toEqual([
      'owasp:api4:2023-rate-limit',
      'owasp:api4:2023-rate-limit-responses-429',
    ])
    for (const headers of version === '3.0.3' ? ['draft'] : ['draft', 'draft-6', 'legacy']) {
      const { stdout } = await sluice([
        'openapi',
        name,
        '--policies',
        at('policies.yaml'),
        '--overload',
        '--headers',
        headers,
      ])
      expect({ headers, broken: await broken(spectral, stdout) }).toEqual({ headers, broken: [] })
    }
  })

  test('is valid OpenAPI', async () => {
    for (const version of ['3.0.3', '3.1.0']) {
      writeFileSync(at('in.yaml'), shop(version))
      const args = ['in.yaml', 'policies.yaml', `out-${version}.yaml`].map(at)
      await sluice([
        'openapi',
        args[0],
        '--policies',
        args[1],
        '--overload',
        '--output',
        args[2],
        '--headers',
        'draft,legacy',
      ])
    }
    // the validator is an ES module, which jest does not load
    const script = `
      import { Validator } from '@seriousme/openapi-schema-validator'
      const results = process.argv.slice(1).map((path) => new Validator().validate(path))
      console.log(JSON.stringify(await Promise.all(results)))`
    const paths = ['3.0.3', '3.1.0'].map((version) => at(`out-${version}.yaml`))
    const results = execFileSync(process.execPath, ['--input-type=module', '-e', script, ...paths], { cwd: root })
    expect(JSON.parse(String(results))).toEqual([{ valid: true }, { valid: true }])
  })
})
