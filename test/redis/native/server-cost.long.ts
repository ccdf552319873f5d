import { expect, test } from '@jest/globals'
import { type Backend, type Policy, systemClock } from '@sluice/limiter-core/backend'
import { redisBackend, type ScriptRunner, scriptRunner } from '@sluice/redis'
import type { Redis } from 'ioredis'
import { redisClientForTests } from '../../services/redis/redis-for-tests.ts'
import { chargeOf } from '../exact/charge.ts'
import { ownPrefix } from '../exact/own-prefix.ts'

const TAKES = 40_000
const KEYS = 1_000
const policy: Policy = { name: 'cost', algorithm: 'fixed-window', limit: 1_000_000, windowMs: 3_600_000 }

const redis = redisClientForTests()

/**
 * Sends commands that every server has in place of `INCREX`. With `INCRBY` and `PEXPIRE ... NX` the server parses and
 * answers one command more than it would, which is an upper bound of the cost. With `INCRBY` alone it does not look for
 * an expiry, which is a lower bound; the keys must have one already.
 */
function inPlace(over: Redis, withExpiry: boolean): ScriptRunner {
  const runner = scriptRunner(over)
  return {
    run: (...call) => runner.run(...call),
    async sendCommands(commands) {
      const replies = await over.pipeline(commands.flatMap((command) => inPlaceOf(command, withExpiry))).exec()
      const values = (replies ?? []).map(([error, reply]) => error ?? reply)
      return commands.map(([name, , , cost], at) => {
        const sent = withExpiry ? 3 : 2
        const from = Math.floor(at / 2) * sent
        return name === 'INCREX' ? [values[from], Number(cost)] : values[from + sent - 1]
      })
    },
  }
}

function inPlaceOf([name, key, , cost, , , , lifeMs]: readonly string[], withExpiry: boolean): string[][] {
  if (name !== 'INCREX') return [['pexpiretime', key]]
  const increment = ['incrby', key, cost]
  return withExpiry ? [increment, ['pexpire', key, lifeMs, 'NX']] : [increment]
}

interface Cost {
  /** Server time in commands per take, in µs, by the statistics of the server. */
  readonly commandUs: number
  /** CPU time of the main thread of the server per take, in µs, with parsing and sockets. */
  readonly serverUs: number
  /** CPU time of this process per take, in µs. */
  readonly processUs: number
}

async function costOf(backend: Backend, callers: number): Promise<Cost> {
  const take = async (index: number): Promise<void> => {
    const key = `key ${index % KEYS}`
    await chargeOf(backend, policy, key).counter.take(key, 1, { deadlineAt: systemClock.now() + 5_000 })
  }
  for (let index = 0; index < 2 * KEYS; index++) await take(index)
  await redis.client.config('RESETSTAT')
  const cpuBefore = await serverCpuUs()
  const processBefore = process.cpuUsage()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < TAKES) await take(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const { user, system } = process.cpuUsage(processBefore)
  const serverUs = ((await serverCpuUs()) - cpuBefore) / TAKES
  return { commandUs: (await commandUs()) / TAKES, serverUs, processUs: (user + system) / TAKES }
}

async function serverCpuUs(): Promise<number> {
  const cpu = await redis.client.info('cpu')
  const seconds = [...cpu.matchAll(/used_cpu_(?:user|sys)_main_thread:([\d.]+)/g)].map(([, text]) => Number(text))
  return seconds.reduce((sum, one) => sum + one, 0) * 1e6
}

/** Time of the commands that takes need. Scripts over cells call none of the other ones. */
async function commandUs(): Promise<number> {
  const stats = await redis.client.info('commandstats')
  const calls = stats.matchAll(/cmdstat_(?:evalsha|incrby|pexpire|pexpiretime):calls=\d+,usec=(\d+)/g)
  return [...calls].reduce((sum, [, us]) => sum + Number(us), 0)
}

test.each([1, 64])(
  'commands need at most half of the server time of scripts, with %s callers',
  async (callers) => {
    for (let round = 0; round < 3; round++) {
      const prefix = ownPrefix()
      const backends = {
        scripts: redisBackend(redis.client, { prefix: ownPrefix() }),
        'commands, at most': redisBackend(inPlace(redis.client, true), { prefix, nativeCommands: true }),
        'commands, at least': redisBackend(inPlace(redis.client, false), { prefix, nativeCommands: true }),
      }
      const costs: Record<string, Cost> = {}
      for (const [name, backend] of Object.entries(backends)) {
        costs[name] = await costOf(backend, callers)
        await backend.close?.()
      }
      const { scripts, 'commands, at most': commands } = costs
      expect(commands.commandUs).toBeLessThan(scripts.commandUs / 2)
      const lines = Object.entries(costs).map(
        ([name, cost]) =>
          `${name}: ${Object.values(cost)
            .map((us) => us.toFixed(1))
            .join(' ')}`,
      )
      process.stdout.write(`${callers} callers, µs of commands, server and process per take: ${lines.join('; ')}\n`)
    }
  },
  600_000,
)
