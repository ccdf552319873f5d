import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { collapseDetector } from '@sluice/http'
import { resetWarnings } from '@sluice/limiter-core/backend'
import { type BadOption, badOptions } from './docs/bad-options.ts'
import { counterCodes } from './docs/counter-codes.ts'
import { runtimeCodes } from './docs/runtime-codes.ts'
import { filesBelow, packages, root } from './repository.ts'

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const sections = new Map(
  [...page.matchAll(/^## (\S+)\n([\s\S]*?)(?=^## |(?![\s\S]))/gm)].map(([, code, text]) => [code, text]),
)
const examples = [...sections].flatMap(([code, text]) =>
  [...text.matchAll(/^```text\n([\s\S]*?)\n```$/gm)].map(([, message]) => ({ code, message })),
)

/** Every code used by a package, without SLUICE_MODE, which is an environment variable. */
const codes = new Set(
  packages.flatMap(({ folder }) =>
    filesBelow(join(folder, 'src')).flatMap((path) => {
      const text = readFileSync(join(folder, 'src', path), 'utf8')
      return [...text.matchAll(/'(SLUICE_[A-Z_]+)'/g)].map(([, code]) => code)
    }),
  ),
)
codes.delete('SLUICE_MODE')

function caught(build: () => unknown): { code?: unknown; message?: unknown } {
  try {
    build()
  } catch (error) {
    return error as { code?: unknown; message?: unknown }
  }
  return {}
}

/** The address of a section, with which messages end. */
function pageOf(code: string): string {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository: { url: string } }
  const home = repository.url.replace(/^git\+|\.git$/g, '')
  return ` (${home}/blob/main/docs/errors.md#${code.toLowerCase()})`
}

/** A message as shown on the page, without the number in the names of limiters with unique names. */
function asShown(message: unknown): string {
  return String(message).replace(/\bapi[ -]\d+/g, 'api')
}

const warned: { message: string; code: string }[] = []

beforeEach(() => {
  warned.length = 0
  resetWarnings()
  collapseDetector.reset()
  jest.spyOn(process, 'emitWarning').mockImplementation(((message: string, { code }: { code: string }) => {
    warned.push({ message, code })
  }) as typeof process.emitWarning)
})
afterEach(() => {
  jest.restoreAllMocks()
})

describe('docs/errors.md', () => {
  test('has a section for every code, and no other section', () => {
    expect([...sections.keys()].sort()).toEqual([...codes].sort())
  })

  test('explains the cause and the fix of every code, with an example', () => {
    for (const [code, text] of sections) {
      expect({ code, text }).toEqual({ code, text: expect.stringMatching(/\*\*Cause\.\*\* /) })
      expect({ code, text }).toEqual({ code, text: expect.stringMatching(/\*\*Fix\.\*\* /) })
      expect(examples.filter((example) => example.code === code)).not.toEqual([])
    }
  })

  test.each(examples)('shows a real message of $code', async ({ code, message }) => {
    const said = badOptions.filter((row) => row[1] === code).map(([, , build]) => caught(build).message)
    for (const [provoked, provoke] of [...runtimeCodes, ...counterCodes]) if (provoked === code) await provoke()
    const all = [...said, ...warned.map((warning) => warning.message)].map(asShown)
    expect(all).toContainEqual(expect.stringContaining(message))
  })
})

describe('an invalid option', () => {
  const refused = ([, code, build]: BadOption): void => {
    const { code: got, message } = caught(build)
    expect({ got, message }).toEqual({ got: code, message: expect.stringMatching(/expected .+, received .+/s) })
    expect(String(message).slice(-pageOf(code).length)).toBe(pageOf(code))
  }

  test.each(badOptions)('is rejected at start-up, with the expected and the received value: %s', (...row) =>
    refused(row),
  )
})

describe('while requests are handled', () => {
  test.each(runtimeCodes)(
    '%s is reported, and no request fails or passes uncounted because of it',
    async (code, provoke) => {
      const seen = await provoke()
      expect(warned.some((warning) => warning.code === code || warning.message.includes(`${code}:`))).toBe(true)
      expect(seen.filter(({ status }) => status >= 500)).toEqual([])
      expect(seen.every(({ counted }) => counted)).toBe(true)
    },
  )

  // a failing backend, such as this Redis, prints one line per second and one per runner
  const once = runtimeCodes.filter(([code]) => !/^SLUICE_(BACKEND|REDIS|CLUSTER)_/.test(code))

  test.each(once)('%s is printed once, with the address of its section', async (_code, provoke) => {
    await provoke()
    await provoke()
    const told = warned.filter(({ code }) => code !== 'SLUICE_DENIED')
    expect(told.filter(({ message, code }) => !message.endsWith(pageOf(code)))).toEqual([])
    // thrown errors occur each time
    const once = told.filter(({ message, code }) => !message.startsWith(`${code}: `))
    expect(new Set(once.map(({ message }) => message)).size).toBe(once.length)
  })

  test('a denial passed to an error handler, which may send it to a client, has no address', async () => {
    await runtimeCodes.find(([code]) => code === 'SLUICE_DENIED')?.[1]()
    expect(warned.filter(({ code }) => code === 'SLUICE_DENIED').map(({ message }) => message)).toEqual([
      'SLUICE_DENIED: denied by default',
    ])
  })
})
