import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { run } from './packaging/command.ts'
import { root } from './repository.ts'

jest.setTimeout(600_000)

test('the reference site has pages for all packages, and tables of options with types, defaults and units', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-site-'))
  try {
    const { code, output } = await run(process.execPath, [join(root, 'site/src/build.mjs'), folder], root)
    expect([code, output.trim()]).toEqual([0, join(folder, 'index.html')])
    for (const name of ['express', 'limiter-core', 'redis', 'hono']) {
      expect(existsSync(join(folder, `modules/_sluice_${name}.html`))).toBe(true)
    }
    const page = readFileSync(join(folder, 'documents/Options_and_decisions.html'), 'utf8').replace(/<[^>]+>/g, ' ')
    const text = page.replace(/\s+/g, ' ')
    expect(text).toMatch(/ deadlineMs Duration 50 ms /)
    expect(text).toMatch(/ retryAfterMs number required ms /)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
