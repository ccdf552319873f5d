import { describe, expect, test } from '@jest/globals'
import { type EmailKeyOptions, emailKey } from '@sluice/express'
import { eachSeed } from '@sluice/testkit'

const keeping = emailKey({ plusTags: 'keep', dots: 'keep' })
const ignoring = emailKey({ plusTags: 'ignore', dots: ['gmail.com'] })

describe('emailKey', () => {
  test.each([
    ['case', 'Ada@Example.ORG'],
    ['spaces around it', ' ada@example.org\t '],
    ['a dot at the end of the domain', 'ada@example.org.'],
    ['full-width characters', 'ａｄａ＠ｅｘａｍｐｌｅ．ｏｒｇ'],
    ['an ideographic full stop', 'ada@example。org'],
    ['a sign for several letters', 'ada@exampℓe.org'],
  ])('has one key for addresses that differ by %s', (_, address) => {
    expect(keeping(address)).toBe('ada@example.org')
  })

  test.each([
    ['composed and decomposed letters', 'jos\u00e9@example.org', 'jose\u0301@example.org'],
    ['an international domain', 'ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['leading zeros of a numeric domain', 'ada@127.000.000.001', 'ada@127.0.0.1'],
    ['a capital letter with two lower-case forms', 'İ@example.org', 'i\u0307@example.org'],
  ])('has one key for %s', (_, one, other) => {
    expect(keeping(one)).toBeDefined()
    expect(keeping(one)).toBe(keeping(other))
  })

  test('keeps tags and dots apart, unless they are ignored', () => {
    expect(keeping('a.da+news@gmail.com')).toBe('a.da+news@gmail.com')
    expect(ignoring('a.d.a+news+more@gmail.com')).toBe('ada@gmail.com')
    expect(ignoring('a.da+news@example.org')).toBe('a.da@example.org')
    expect(emailKey({ plusTags: ['BÜCHER.example.'], dots: 'keep' })('ada+x@bücher.example')).toBe(
      'ada@xn--bcher-kva.example',
    )
  })

  test('never has an empty name before the @', () => {
    expect([ignoring('+news@example.org'), ignoring('...@gmail.com')]).toEqual(['+news@example.org', '...@gmail.com'])
  })

  test('takes a quoted name literally', () => {
    expect(ignoring('"a.b+c"@gmail.com')).toBe('"a.b+c"@gmail.com')
  })

  test.each([
    undefined,
    null,
    7,
    ['ada@example.org'],
    '',
    'ada',
    '@example.org',
    'ada@',
    'ada@.',
    'ada@example.org/path',
    'ada@example.org:80',
    'ada@exa mple.org',
    'ada\u0000@example.org',
    'ada\n@example.org',
    '\ud800@example.org',
    'ada@\udc00.org',
    `${'a'.repeat(320)}@example.org`,
  ])('does not read %p', (value) => {
    expect(keeping(value)).toBeUndefined()
  })

  test('gives two names one key only if they fold to the same text, and never throws', () => {
    eachSeed(50, (random) => {
      const letters = ['a', 'B', 'ß', 'ﬀ', '.', '+', '"', '@', ' ', 'İ', '\u0301', '😀', 'ｅ', 'ſ']
      const draw = (): string => Array.from({ length: random.whole(6) + 1 }, () => random.pick(letters)).join('')
      for (let drawn = 0; drawn < 100; drawn++) {
        const key = keeping(`${draw()}@${draw()}.org`)
        // reading a key again changes nothing
        if (key !== undefined) expect(keeping(key)).toBe(key)
      }
    })
  })

  test.each([
    [{ plusTags: 'keep' }, "emailKey: dots: expected 'keep', 'ignore' or a list of domains, received undefined"],
    [{ plusTags: 'drop', dots: 'keep' }, 'emailKey: plusTags: expected'],
    [{ plusTags: [], dots: 'keep' }, 'emailKey: plusTags: expected'],
    [{ plusTags: ['exa mple'], dots: 'keep' }, 'emailKey: plusTags: expected'],
    [{ plusTags: 'keep', dots: 'keep', tags: 'keep' }, 'an unknown option "tags"'],
  ])('rejects %j', (options, message) => {
    expect(() => emailKey(options as EmailKeyOptions)).toThrow(message)
  })
})
