import { createContext, runInContext } from 'node:vm'
import { expect, test } from '@jest/globals'
import { type LoginProtection, type ProofChallenge, proofField, proofPage, protectLogin } from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import { FakeClock } from '@sluice/testkit'
import { Signer } from '../../packages/http/src/login/signed-text.ts'
import { Tasks } from '../../packages/http/src/login/tasks.ts'

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

interface Solved {
  readonly answer: string
  /** The time that passed. */
  readonly ms: number
  /** Calls of methods of the form. */
  readonly submitted: readonly string[]
}

/** Runs the script of a page as a browser does, in which a person may submit the form before the answer is found. */
function solvedBy(page: string, isSubmittedBy?: { readonly button: string | null }): Solved {
  const [, script] = /<script[^>]*>([\s\S]*)<\/script>/.exec(page) ?? []
  const attributes = Object.fromEntries(
    [...page.matchAll(/(data-\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const listeners = new Map<string, (event: object) => void>()
  const form = {
    addEventListener: (type: string, run: (event: object) => void) => listeners.set(type, run),
    removeEventListener: (type: string) => listeners.delete(type),
  }
  const input = { value: '', form, getAttribute: (name: string) => attributes[name] }
  const submitted: string[] = []
  const later: (() => void)[] = []
  function HTMLFormElement(): void {}
  HTMLFormElement.prototype.submit = function submit(this: unknown) {
    submitted.push(this === form ? 'submit' : 'submit of another form')
  }
  HTMLFormElement.prototype.requestSubmit = (button: string) => submitted.push(`requestSubmit ${button}`)
  const found: Record<string, unknown> = { 'input[data-text]': input, '[data-submit]': null }
  if (page.includes(' data-submit')) found['[data-submit]'] = {}
  const document = { querySelector: (selector: string) => found[selector] }
  const defer = (run: () => void) => later.push(run)
  const context = createContext({ document, performance, HTMLFormElement, setTimeout: defer })
  const start = performance.now()
  runInContext(script, context)
  let prevented = 0
  const preventDefault = (): void => void prevented++
  if (isSubmittedBy) listeners.get('submit')?.({ preventDefault, submitter: isSubmittedBy.button })
  for (let run = later.shift(); run; run = later.shift()) run()
  expect([prevented, listeners.size]).toEqual([isSubmittedBy ? 1 : 0, 0])
  return { answer: input.value, ms: performance.now() - start, submitted }
}

test('the script of the page finds an answer that is accepted', async () => {
  for (let bits = 1; bits <= 14; bits++) {
    const [logins, challenge] = await challenged(bits)
    const { answer, submitted } = solvedBy(proofPage({ challenge }))
    expect(submitted).toEqual(['submit'])
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

test('the field of a form is filled in, and the form is not submitted', async () => {
  const [logins, challenge] = await challenged(4)
  const { answer, submitted } = solvedBy(proofField({ challenge, nonce: 'r4nd0m' }))
  expect([answer.startsWith(`${challenge.text}.`), submitted]).toEqual([true, []])
  logins.close()
})

test.each([
  ['by a button', 'Log in', ['requestSubmit Log in']],
  ['without a button', null, ['submit']],
])('a form that is submitted before the answer is found, %s, waits for it', async (_how, button, submitted) => {
  const [logins, challenge] = await challenged(16)
  expect(solvedBy(proofField({ challenge }), { button })).toMatchObject({ submitted })
  logins.close()
})

test('an answer is verified in less than 50 µs', () => {
  const proofs = new Tasks(new Signer('a secret of the tests', 'secret'), new FakeClock(), 120_000)
  const challenge = proofs.issue(16, 'ada')
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
