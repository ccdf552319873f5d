import { expect, test } from '@jest/globals'
import { type LoginRequest, protectLogin } from '@sluice/http/login'
import { memoryBackend } from '@sluice/limiter-core'
import { eachSeed, FakeClock } from '@sluice/testkit'
import { solve } from './login-simulation.ts'

const STEPS = 600

test('whatever an attacker does with accounts of its own, no more guesses pass without work', async () => {
  await eachSeed(4, async (random) => {
    const clock = new FakeClock()
    const backend = memoryBackend({ clock })
    const logins = protectLogin({ secret: 'a secret of the tests', challenge: { bits: 1, maxBits: 3 }, clock, backend })
    const own = Array.from({ length: 3 }, (_, index) => ({ account: `own ${index}`, address: `192.0.2.${index}` }))
    const cookies: string[] = []
    const answers: string[] = []
    let guesses = 0
    const pick = <T>(list: readonly T[]): T | undefined => list[random.whole(Math.max(1, list.length))]
    const attempt = async (request: LoginRequest, succeeds: boolean, solves: boolean): Promise<boolean> => {
      const one = await logins.attempt(request)
      if (solves && one.outcome === 'challenge' && one.challenge) answers.push(solve(one.challenge))
      if (one.outcome !== 'allow') return false
      if (succeeds) cookies.push(String(await one.succeeded()))
      return true
    }
    const steps: readonly (() => Promise<unknown>)[] = [
      // logs in to an own account, from anywhere, with or without a cookie and an answer
      async () => {
        const { account, address } = pick(own) ?? own[0]
        const from = random.next() < 0.5 ? address : `198.51.100.${random.whole(5)}`
        const sent = random.next() < 0.5 ? { device: pick(cookies) } : { proof: pick(answers) }
        await attempt({ account, address: from, ...sent }, random.next() < 0.7, random.next() < 0.7)
      },
      // solves a task of the page for an own address
      async () => {
        const task = await logins.taskFor((pick(own) ?? own[0]).address)
        if (task) answers.push(solve(task))
      },
      // guesses without work, and sends what it has for other accounts and addresses
      async () => {
        const request = { account: `person ${guesses}`, address: `10.${guesses >> 8}.0.${guesses & 255}` }
        if (await attempt({ ...request, device: pick(cookies), proof: pick(answers) }, false, false)) guesses++
      },
    ]
    for (let step = 0; step < STEPS; step++) await steps[random.whole(steps.length)]()
    // answers are for the address that asked for them
    expect(guesses).toBeLessThanOrEqual(50)
    expect(guesses).toBeGreaterThan(20)
    logins.close()
  })
})
