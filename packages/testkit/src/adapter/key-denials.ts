import assert from 'node:assert/strict'
import { byAll, byHeader, DENY, EXEMPT, type KeyResult } from '@sluice/limiter-core'
import type { TestRunner } from '../suite-runner.ts'
import { unitsLeft } from './exemptions.ts'
import { cap, type HookRequest, rate } from './stage/app-description.ts'
import { type Stage, statuses } from './stage/stage.ts'

const MINUTE = { window: '1m', algorithm: 'fixed-window' } as const

/** Denials by a key, whatever other keys return. */
export function keyDenials({ describe, test }: TestRunner, stage: Stage): void {
  describe('a key of DENY', () => {
    test('denies whatever other policies decide, in any order, synchronous or asynchronous', () => denied(stage))
    test('in a limiter or a cap wins over another that exempts, in any order', () => deniedByAnother(stage))
    test('in a part of byAll wins over EXEMPT in another part, and exempts no client from other limits', () =>
      deniedByPart(stage))
    test('charges no policy', () => deniedForNothing(stage))
  })
}

async function denied(stage: Stage): Promise<void> {
  const says: readonly KeyResult[] = [EXEMPT, DENY, 'me']
  for (const order of [says, says.toReversed(), [...says.slice(1), EXEMPT]]) {
    for (const keys of [order.map((answer) => () => answer), order.map((answer) => async () => answer)]) {
      const policies = keys.map((key, index) => ({ name: `p${index}`, limit: 9, ...MINUTE, key }))
      const site = await stage.behind([rate({ policies, clock: stage.clock })])
      const { status, headers, body } = await site.ask()
      assert.deepEqual([status, headers['retry-after']], [429, undefined])
      assert.deepEqual(JSON.parse(body)['violated-policies'], [`p${order.indexOf(DENY)}`])
    }
  }
}

async function deniedByAnother(stage: Stage): Promise<void> {
  const exempting = {
    rate: rate({ limit: 9, ...MINUTE, key: () => EXEMPT }),
    cap: cap({ limit: 9, key: () => EXEMPT }),
  }
  const denying = {
    rate: rate({ name: 'no', limit: 9, ...MINUTE, key: () => DENY }),
    cap: cap({ limit: 9, key: () => DENY }),
  }
  for (const [limits, status] of [
    [[exempting.rate, denying.rate], 429],
    [[denying.rate, exempting.rate], 429],
    [[exempting.cap, denying.rate], 429],
    [[exempting.rate, exempting.cap, denying.cap], 503],
    [[denying.cap, exempting.cap], 503],
  ] as const) {
    assert.deepEqual(await statuses(await stage.behind(limits), 2), [status, status])
  }
}

async function deniedByPart(stage: Stage): Promise<void> {
  const parts = [
    byHeader<HookRequest>('x-user', { missing: 'deny' }),
    byHeader<HookRequest>('x-team', { missing: 'exempt' }),
  ]
  for (const key of [byAll(...parts), byAll(...parts.toReversed())]) {
    const policies = [
      { name: 'team', limit: 1, ...MINUTE, key },
      { name: 'address', limit: 3, ...MINUTE },
    ]
    const site = await stage.behind([rate({ policies, clock: stage.clock })])
    assert.equal(await unitsLeft(site), '429, team 0')
    assert.equal(await unitsLeft(site, { headers: { 'x-user': 'ann' } }), '200, address 2')
    assert.equal(await unitsLeft(site, { headers: { 'x-user': 'ann', 'x-team': 'a' } }), '200, team 0, address 1')
    assert.equal(await unitsLeft(site, { headers: { 'x-user': 'ann', 'x-team': 'a' } }), '429, team 0')
  }
}

async function deniedForNothing(stage: Stage): Promise<void> {
  const policies = [
    { name: 'user', limit: 9, ...MINUTE, key: byHeader<HookRequest>('x-user', { missing: 'deny' }) },
    { name: 'address', limit: 2, ...MINUTE },
  ]
  const site = await stage.behind([rate({ policies, clock: stage.clock })])
  assert.deepEqual(await statuses(site, 5), [429, 429, 429, 429, 429])
  assert.equal(await unitsLeft(site, { headers: { 'x-user': 'ann' } }), '200, user 8, address 1')
}
