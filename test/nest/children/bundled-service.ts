import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { until } from '@sluice/testkit'
import { build } from 'esbuild'
import { root } from '../../repository.ts'
import { memoryFolder } from '../../services/memory-folder.ts'
import { spawnGuarded } from '../../services/processes/guarded-process.ts'
import { MessageClient } from '../message-client.ts'

// `require` of CommonJS in an ES module
const REQUIRE = "import { createRequire as from } from 'node:module'; const require = from(import.meta.url)"
// Nest loads them only for other transports and options, and none is needed here
const OPTIONAL = [
  ...['@grpc/*', '@nats-io/*', 'amqp-connection-manager', 'amqplib', 'ioredis', 'kafkajs', 'mqtt', 'nats'],
  ...['@nestjs/platform-express', '@nestjs/platform-socket.io'],
  ...['cache-manager', 'class-transformer', 'class-validator'],
]
const nest11 = ['common', 'core', 'microservices', 'websockets'].map((name) => `@nestjs/${name}`)

/** Bundles the service with this version of Nest in one file. Returns its path. */
async function bundled(format: 'esm' | 'cjs'): Promise<string> {
  const outfile = join(memoryFolder('sluice-nest-bundle-'), `service.${format === 'esm' ? 'mjs' : 'cjs'}`)
  const from = join(root, 'test/nest11/node_modules')
  const alias = process.env.NEST === '11' ? nest11.map((name) => [name, join(from, name)]) : []
  await build({
    entryPoints: [join(root, 'test/nest/programs/message-service.ts')],
    outfile,
    bundle: true,
    format,
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    conditions: ['@sluice/source'],
    tsconfig: join(root, 'test/nest/tsconfig.json'),
    alias: Object.fromEntries(alias),
    external: OPTIONAL,
    ...(format === 'esm' && { banner: { js: REQUIRE } }),
  })
  return outfile
}

/** Starts a bundle for as long as `visit` takes, with the port that it prints. */
async function started(bundle: string, visit: (port: number) => Promise<void>): Promise<void> {
  let output = ''
  const child = spawnGuarded(
    { binary: process.execPath, args: [bundle], folder: dirname(bundle) },
    {
      onOutput: (text) => {
        output += text
      },
      onClose: () => {},
    },
  )
  const ended = once(child, 'close')
  try {
    await until(() => output.includes('\n'), { what: 'the port of the service' })
    await visit(Number(output))
  } finally {
    child.kill('SIGKILL')
    await ended
    rmSync(dirname(bundle), { recursive: true, force: true })
  }
}

for (const format of ['esm', 'cjs'] as const) {
  test(`a bundle of esbuild as ${format} sends denials to the client, Nest ${process.env.NEST}`, async () => {
    await started(await bundled(format), async (port) => {
      const client = new MessageClient(port)
      const [first, second, { error }] = await client.sendAll(3, 'order')
      await client.close()
      assert.deepEqual([first, second], [{ answer: 'order' }, { answer: 'order' }])
      const { message, code, violatedPolicies } = error ?? {}
      assert.deepEqual([message, code, violatedPolicies], ['denied by default', 'SLUICE_DENIED', ['default']])
    })
  })
}
