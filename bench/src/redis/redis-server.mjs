import { once } from 'node:events'
import { Redis } from 'ioredis'
import { startChild } from '../run/child.mjs'
import { freePort } from '../run/free-port.mjs'
import { redisBinary } from './redis-binary.mjs'

const redisHost = new URL('./redis-host.mjs', import.meta.url)
// each command is one round trip of a client; everything else is run by scripts
const sentByClients = ['ping', 'eval', 'evalsha', 'fcall', 'hello', 'script|load']

/** A separate, empty server on loopback, without persistence, whose resource use can be read. */
export async function startRedis() {
  const port = await freePort()
  const host = startChild(redisHost, { binary: redisBinary(), port })
  await once(host, 'message')
  const admin = new Redis(port, '127.0.0.1', { retryStrategy: () => 20, maxRetriesPerRequest: 500 })
  admin.on('error', () => {})
  const [, version] = /redis_version:(\S+)/.exec(await admin.info('server'))
  let told = 0
  const spent = async () => {
    const info = await admin.info('everything')
    const reading = readSpent(info)
    // subtracts the network traffic of earlier readings
    reading.bytesOut -= told
    told += info.length
    return reading
  }
  return {
    port,
    version,
    spent,
    usedBytes: async () => Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))[1]),
    empty: () => admin.flushall(),
    close: () => {
      admin.disconnect()
      host.kill()
    },
  }
}

function readSpent(info) {
  const of = (name) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)[1])
  let sent = 0
  let commands = 0
  for (const [, name, calls] of info.matchAll(/^cmdstat_(\S+):calls=(\d+)/gm)) {
    if (name === 'info' || name === 'flushall') continue
    commands += Number(calls)
    if (sentByClients.includes(name)) sent += Number(calls)
  }
  return {
    cpuUs: (of('used_cpu_user') + of('used_cpu_sys')) * 1e6,
    bytesIn: of('total_net_input_bytes'),
    bytesOut: of('total_net_output_bytes'),
    sent,
    commands,
  }
}
