import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { CompiledControllers, settings } from './compiled-controllers.ts'
import type { handlerField, misuses } from './controllers/misuse.ts'
import type { Typed } from './controllers/typed.ts'

type Misuse = keyof typeof misuses

const accessor = (kind: string, legacy: string) => ({ standard: kind, legacy, metadata: legacy })
const everywhere = (got: string) => ({ standard: got, legacy: got, metadata: got })

/** The received value that each error names. */
const got: Readonly<Record<Misuse, Readonly<Record<(typeof settings)[number], string>>>> = {
  'a getter': accessor('a getter', 'an accessor'),
  'a setter': accessor('a setter', 'an accessor'),
  'an accessor': accessor('an accessor', 'an accessor'),
  'a class': accessor('a class', 'a class or the parameter of a constructor'),
  'a field without a handler': accessor('a field that holds a number', 'a field, whose value'),
  'an error handler': everywhere('4 parameters'),
  'a method, without options': everywhere('no arguments'),
  'a static method, without options': everywhere('no arguments'),
  'a class, without options': accessor('no arguments', 'a function'),
  'undefined options': everywhere('undefined'),
  'a handler for options': everywhere('a function'),
  'an unknown option': everywhere('an unknown option "windowMs"'),
}

describe.each(settings)('a decorator under the setting %s', (setting) => {
  let compiled: CompiledControllers
  let controllers: { readonly misuses: typeof misuses; readonly handlerField: typeof handlerField }

  beforeAll(async () => {
    compiled = await CompiledControllers.of(setting, { isChecked: true })
    controllers = await compiled.load('misuse')
  })
  afterAll(() => compiled[Symbol.dispose]())

  test.each(Object.keys(got) as Misuse[])('rejects %s and names the expected and the received target', (misuse) => {
    // only the value of a field is unknown until an instance is created
    const define = (): object =>
      misuse === 'a field without a handler' ? new (controllers.misuses[misuse]())() : controllers.misuses[misuse]()
    expect(define).toThrow(
      expect.objectContaining({
        code: 'SLUICE_BAD_OPTION',
        message: expect.stringMatching(new RegExp(`expected .+, received ${got[misuse][setting]}.*`)),
      }),
    )
  })

  test('wraps a field that holds a handler if the decorator receives it, and otherwise explains what to write', () => {
    const define = (): object => new (controllers.handlerField())()
    if (setting === 'standard') expect(define()).toMatchObject({ list: expect.any(Function) })
    else expect(define).toThrow(/SLUICE_BAD_OPTION: @RateLimit list: .*write list\(…\) \{ … \} instead of list = /)
  })

  test('accepts only handlers, both at compile time and at run time', async () => {
    expect(compiled.complaints).toEqual([])
    const loaded = compiled.load<{ readonly Typed: typeof Typed }>('typed')
    await expect(loaded).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
  })
})
