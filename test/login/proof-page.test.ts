import { createContext, runInContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { type LoginProtection, type ProofChallenge, proofPage, protectLogin } from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { ProofOfWork } from '../../packages/http/src/login/proof-of-work.ts'
import { Signer } from '../../packages/http/src/login/signed-text.ts'

const ada = { account: 'ada', address: '192.0.2.1' }

async function challenged(bits: number): Promise<[LoginProtection, ProofChallenge]> {
  const clock = new FakeClock()
  const backend = memoryBackend({ clock })
  const logins = protectLogin({ secret: 'a secret of the tests', challenge: { bits, maxBits: bits }, clock, backend })
  for (;;) {
    const attempt = await logins.attempt(ada)
    if (attempt.outcome === 'challenge' && attempt.challenge) return [logins, attempt.challenge]
  }
}

/** Runs the script of a page as a browser does. Returns the answer that it submits, and the time that passed. */
function solvedBy(page: string): { readonly answer: string; readonly ms: number } {
  const [, script] = /<script[^>]*>([\s\S]*)<\/script>/.exec(page) ?? []
  const attributes = Object.fromEntries(
    [...page.matchAll(/(data-\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const form = {}
  const input = { value: '', form, getAttribute: (name: string) => attributes[name] }
  const submitted: unknown[] = []
  const later: (() => void)[] = []
  function HTMLFormElement(): void {}
  HTMLFormElement.prototype.submit = function submit(this: unknown) {
    submitted.push(this)
  }
  const document = { querySelector: () => input }
  const defer = (run: () => void) => later.push(run)
  const context = createContext({ document, performance, HTMLFormElement, setTimeout: defer })
  const start = performance.now()
  runInContext(script, context)
  for (let run = later.shift(); run; run = later.shift()) run()
  expect(submitted).toEqual([form])
  return { answer: input.value, ms: performance.now() - start }
}

test('the script of the page finds an answer that is accepted', async () => {
  for (let bits = 1; bits <= 14; bits++) {
    const [logins, challenge] = await challenged(bits)
    const { answer } = solvedBy(proofPage({ challenge }))
    expect(await logins.attempt({ ...ada, proof: answer })).toMatchObject({ outcome: 'allow' })
    logins.close()
  }
})

test('the page posts the fields of the form again, and loads nothing', async () => {
  const [logins, challenge] = await challenged(1)
  const fields = { email: '"><script>alert(1)</script>', 'a&b': "'", proof: 'an earlier answer' }
  const page = proofPage({ challenge, fields, action: '/login?next="', nonce: 'r4nd0m', lang: 'de', title: 'Prüfung' })
  expect(page).toContain(
    '<input type="hidden" name="email" value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;">',
  )
  expect(page).toContain('<input type="hidden" name="a&#38;b" value="&#39;">')
  expect(page).toContain('<form method="post" action="/login?next=&#34;"')
  expect(page).toContain('<script nonce="r4nd0m">')
  expect(page.match(/name="proof"/g)).toHaveLength(1)
  expect(page.match(/<script/g)).toHaveLength(1)
  expect(page).not.toMatch(/<(?:link|img|iframe|style)|\b(?:src|href|style)=|https?:|\son\w+=/)
  logins.close()
})

test('an answer is verified in less than 50 µs', () => {
  const proofs = new ProofOfWork(new Signer('a secret of the tests', 'secret'), new FakeClock(), 120_000)
  const challenge = proofs.challenge(16, 'ada')
  const { answer, ms } = solvedBy(proofPage({ challenge }))
  const costs = Array.from({ length: 50 }, () => {
    const start = performance.now()
    for (let time = 0; time < 100; time++) proofs.idOf(answer, 'ada')
    return (performance.now() - start) * 10
  })
  process.stdout.write(`a task of 16 bits: ${Math.round(ms)} ms; a verification: ${Math.min(...costs).toFixed(1)} µs\n`)
  expect(proofs.idOf(answer, 'ada')).toBe(challenge.text.split('.')[0])
  expect(Math.min(...costs)).toBeLessThan(50)
})
