import { expect, test } from '@jest/globals'
import { eachSeed } from '@sluice/testkit'
import { healthyScene, limitedScene, outageScene } from './random-scenes.ts'
import { play, total } from './upstream-model.ts'

test('of what any upstream with a limit admits, most is accepted, and at most half more is sent', async () => {
  const shares: Record<string, number[]> = { plain: [], waits: [] }
  await eachSeed(16, async (random, seed) => {
    const scene = limitedScene(random, seed)
    const played = await play(scene)
    const admitted = total(played.admitted, 20)
    const accepted = total(played.accepted, 20) / admitted
    shares[scene.retryAfter ? 'waits' : 'plain'].push(accepted)
    expect(total(played.sent, 20) / admitted).toBeLessThanOrEqual(1.5)
    // each refusal that asks to wait costs a second, and requests of random arrivals meet where no bursts are accepted
    expect(accepted).toBeGreaterThanOrEqual(0.6)
    // requests in flight are sent before the wait is known
    if (scene.clients === 1) expect(played.early).toBe(0)
  })
  for (const [name, all] of Object.entries(shares)) {
    if (all.length === 0) continue
    const mean = total(all) / all.length
    process.stdout.write(
      `${name}: ${all.length} upstreams, mean ${mean.toFixed(3)}, least ${Math.min(...all).toFixed(2)}\n`,
    )
    expect(mean).toBeGreaterThanOrEqual(name === 'waits' ? 0.8 : 0.9)
  }
})

test('an upstream that is down receives single requests, and all calls soon after it returned', async () => {
  await eachSeed(16, async (random, seed) => {
    const scene = outageScene(random, seed)
    const [[from, to]] = scene.outages
    const { sent, calls, throttled } = await play(scene)
    expect(total(throttled, 0, from)).toBe(0)
    // until a slow upstream is known to hang
    const noticedS = Math.ceil(4 + (scene.latencyMs * (scene.jitter ? 10 : 2)) / 1_000)
    expect(Math.max(0, ...sent.slice(from + noticedS, to))).toBeLessThanOrEqual(Math.max(4, scene.calls * 0.1))
    // a reply is needed to know that it has returned
    const back = to + 4 + Math.ceil((scene.latencyMs * (scene.jitter ? 2.5 : 1)) / 1_000)
    expect(total(sent, back, back + 4) / total(calls, back, back + 4)).toBeGreaterThanOrEqual(0.9)
    expect(total(throttled, to + 17)).toBe(0)
  })
})

test('a healthy upstream receives all calls, also if up to 5 % fail at random', async () => {
  await eachSeed(16, async (random, seed) => {
    const { throttled } = await play(healthyScene(random, seed))
    expect(total(throttled)).toBe(0)
  })
})
