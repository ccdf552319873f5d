import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { filesBelow, packages, root } from '../repository.ts'
import { mustRun, run } from './command.ts'

const FRAME = /\((\/.*\/packages\/[\w-]+\/[^:]*):(\d+):\d+\)/g

describe.each(['require', 'import'])('a stack trace with --enable-source-maps after %s', (load) => {
  test('names the files and lines of the source', async () => {
    const loaded = load === 'require' ? "require('@sluice/express')" : "(await import('@sluice/express'))"
    const provoke = `try { ${loaded}.rateLimit({ limit: -1, window: '1m' }) } catch (error) { console.log(error.stack) }`
    const script = `(async () => { ${provoke} })()`
    const stack = await mustRun(process.execPath, ['--enable-source-maps', '-e', script], root)
    const frames = [...stack.matchAll(FRAME)].map(([, path, line]) => ({ path, line: Number(line) }))
    expect(frames.length).toBeGreaterThan(3)
    expect(frames.filter(({ path }) => !existsSync(path) || !/\/src\/.*\.ts$/.test(path))).toEqual([])
    const [{ path, line }] = frames.filter((frame) => frame.path.endsWith('/policy/policy.ts'))
    expect(readFileSync(path, 'utf8').split('\n')[line - 1]).toContain('throw badValue(')
  })
})

test('an uncaught error prints a short part of the minified code', async () => {
  const script = "require('@sluice/express').rateLimit({ limit: -1, window: '1m' })"
  const { code, output } = await run(process.execPath, ['-e', script], root)
  expect(code).toBe(1)
  const [place, line] = output.split('\n')
  expect(place).toMatch(/limiter-core\/dist\/cjs\/.*\.js:\d+$/)
  expect(line.length).toBeLessThan(300)
})

test.each(packages)('the source maps of $name name existing files, and do not contain their text', ({ folder }) => {
  const maps = filesBelow(join(folder, 'dist')).filter((path) => path.endsWith('.js.map'))
  expect(maps.length).toBeGreaterThan(0)
  for (const path of maps) {
    const file = join(folder, 'dist', path)
    const { sources, sourcesContent } = JSON.parse(readFileSync(file, 'utf8'))
    const missing = sources.filter((source: string) => !existsSync(resolve(dirname(file), source)))
    expect({ path, missing, sourcesContent }).toEqual({ path, missing: [], sourcesContent: undefined })
  }
})
