import { DescribeTableCommand, DescribeTimeToLiveCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createLimiter } from '@sluice/limiter-core'
import { type RowStore, storeBackend } from '@sluice/stores'
import { type DynamoStore, dynamoStore } from '@sluice/stores/dynamodb'
import { backendContract, FakeClock, rowStoreContract, until } from '@sluice/testkit'
import { DynamoServer, type Fault } from '../services/dynamo/dynamo-server.ts'
import { type ChildNode, startNode } from '../services/processes/child-node.ts'
import { charge, LIMIT, take, used, within } from './bench.ts'
import { dynamoClient } from './dynamo-client.ts'

type Taking = typeof import('./children/dynamo-taking.ts')
type Serving = typeof import('./children/dynamo-serving.ts')

const PROCESSES = 4
let server: DynamoServer
let client: DynamoDBClient
let prefixes = 0

beforeAll(async () => {
  server = await DynamoServer.start()
  client = dynamoClient(server.port)
  await dynamoStore(client).migrate()
}, 120_000)
afterAll(async () => {
  client.destroy()
  await server.stop()
})
beforeEach(() => {
  server.operations.length = 0
})

const clock = new FakeClock({ nowMs: 1_800_000_000_123 })
const change = (key: string, version?: string) => ({ key, cells: Uint8Array.of(1), version })
const backendOn = (store: RowStore = dynamoStore(client)): ReturnType<typeof storeBackend> =>
  storeBackend(store, { prefix: `test ${prefixes++}`, name: 'dynamodb' })
const failing =
  (status: number, name: string, more = {}): Fault =>
  (res) =>
    res.writeHead(status).end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, ...more }))

describe('dynamoStore', () => {
  rowStoreContract({ describe, test }, () => dynamoStore(client, { clock }), {
    passTime: (ms) => clock.advance(ms),
    writers: 3,
  })

  test('creates its table with an expiry, and keeps one that exists', async () => {
    const store = dynamoStore(client, { table: 'created' })
    await Promise.all([store.migrate(), store.migrate()])
    await store.migrate()
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'created' }))
    expect(Table).toMatchObject({ TableStatus: 'ACTIVE', BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' } })
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'created' }))
    expect(TimeToLiveDescription?.TimeToLiveStatus).toBe('ENABLED')
  })

  test('writes one row without a transaction', async () => {
    await dynamoStore(client).write([change('one')], { ttlMs: 60_000 })
    await dynamoStore(client).write([change('two'), change('three')], { ttlMs: 60_000 })
    expect(server.operations).toEqual(['PutItem', 'TransactWriteItems'])
  })

  test('asks again for keys that DynamoDB has not processed', async () => {
    const store = dynamoStore(client)
    await store.write([change('processed'), change('left')], { ttlMs: 60_000 })
    const [RequestItems] = [{ sluice_rows: { Keys: ['processed', 'left'].map((id) => ({ id: { S: id } })) } }]
    server.faults.push((res) => res.end(JSON.stringify({ Responses: {}, UnprocessedKeys: RequestItems })))
    expect((await store.read(['processed', 'left'])).map((row) => row?.cells)).toEqual([
      Uint8Array.of(1),
      Uint8Array.of(1),
    ])
    const never: Fault = (res) => res.end(JSON.stringify({ Responses: {}, UnprocessedKeys: RequestItems }))
    server.faults.push(...Array.from({ length: 8 }, () => never))
    await expect(store.read(['processed'])).rejects.toThrow('unprocessed')
  })

  test.each([
    ['a write', 'PutItem', ['repeated 1']],
    ['a transaction', 'TransactWriteItems', ['repeated 2', 'repeated 3']],
  ])('recognises %s that the client repeats because its answer was lost', async (_, operation, keys) => {
    const store = dynamoStore(client)
    const changes = keys.map((key) => change(key))
    server.faults.push(async (res, run) => {
      res.end = () => res.destroy()
      await run()
    })
    expect(await store.write(changes, { ttlMs: 60_000 })).toBe(true)
    expect(server.operations.slice(0, 2)).toEqual([operation, operation])
    expect(await store.write(changes, { ttlMs: 60_000 })).toBe(false)
  })

  test('resolves to false if a row is part of another transaction', async () => {
    const store = dynamoStore(client)
    server.faults.push(failing(400, 'TransactionConflictException'))
    expect(await store.write([change('conflict')], { ttlMs: 60_000 })).toBe(false)
    const CancellationReasons = [{ Code: 'None' }, { Code: 'TransactionConflict' }]
    server.faults.push(failing(400, 'TransactionCanceledException', { CancellationReasons }))
    expect(await store.write([change('conflict 1'), change('conflict 2')], { ttlMs: 60_000 })).toBe(false)
  })

  test('gives up a request without an answer after a second, so that the connections of the client are not used up', async () => {
    const own = dynamoClient(server.port, { maxAttempts: 1, requestHandler: { httpAgent: { maxSockets: 1 } } })
    const time = new FakeClock()
    const store = dynamoStore(own, { clock: time })
    server.faults.push(() => {})
    const silent = store.read(['silent'])
    await until(() => server.operations.length === 1)
    time.advance(1_000)
    await expect(silent).rejects.toThrow('no answer within 1000 ms')
    expect(await store.read(['silent'])).toEqual([undefined])
    own.destroy()
  })

  test('rejects if DynamoDB throttles a write', async () => {
    const own = dynamoClient(server.port, { maxAttempts: 1 })
    const store = dynamoStore(own)
    server.faults.push(failing(400, 'ProvisionedThroughputExceededException'))
    await expect(store.write([change('throttled')], { ttlMs: 60_000 })).rejects.toMatchObject({
      name: 'ProvisionedThroughputExceededException',
    })
    const CancellationReasons = [{ Code: 'None' }, { Code: 'ThrottlingError' }]
    server.faults.push(failing(400, 'TransactionCanceledException', { CancellationReasons }))
    await expect(store.write([change('slow 1'), change('slow 2')], { ttlMs: 60_000 })).rejects.toMatchObject({
      name: 'TransactionCanceledException',
    })
    own.destroy()
  })
})

describe('storeBackend on DynamoDB', () => {
  backendContract(
    { describe, test },
    (time) =>
      storeBackend(dynamoStore(client), { prefix: `c${prefixes++}`, clock: time, serverTime: () => time.now() }),
    {
      histories: 2,
      answersWithoutClock: true,
    },
  )

  test('admits exactly the limit of 4 processes with 200 takes at once', async () => {
    const children: ChildNode<Taking>[] = []
    for (let process = 0; process < PROCESSES; process++)
      children.push(startNode<Taking>('stores/children/dynamo-taking.ts'))
    await Promise.all(children.map((child) => child.call('open', server.port, 'sluice_rows')))
    const admitted = await Promise.all(children.map((child) => child.call('takeMany', 'hot', 200, 700)))
    await Promise.all(children.map((child) => child.stop()))
    expect(admitted.reduce((sum, one) => sum + one)).toBe(700)
  })

  test('charges keys that several callers take in different orders, all of them or none', async () => {
    const takes = Array.from({ length: 4 }, (_, index) => {
      const backend = storeBackend(dynamoStore(client), { prefix: 'orders' })
      const keys = index % 2 === 0 ? ['x', 'y', 'z'] : ['z', 'y', 'x']
      return Array.from({ length: 10 }, async () => {
        const { verdicts } = await backend.takeAll(keys.map((key) => charge(backend, 1, key)))
        return verdicts.every(({ allowed }) => allowed)
      })
    })
    expect((await Promise.all(takes.flat())).filter(Boolean)).toHaveLength(LIMIT)
    const backend = storeBackend(dynamoStore(client), { prefix: 'orders' })
    expect(await Promise.all(['x', 'y', 'z'].map((key) => used(backend, key)))).toEqual([LIMIT, LIMIT, LIMIT])
  })

  test.each<[string, Fault, string]>([
    ['an answer of another program', (res) => res.end('<html></html>'), 'STORE'],
    ['an answer without rows', (res) => res.end('{}'), 'none'],
    ['a missing table', failing(400, 'ResourceNotFoundException'), 'STORE'],
    ['an expired signature', failing(400, 'ExpiredTokenException'), 'STORE'],
  ])('answers or fails in time after %s', async (_, fault, code) => {
    server.faults.push(fault, fault, fault)
    const backend = backendOn()
    const outcome = backend.takeAll([charge(backend)], within(5_000)).then(
      () => 'none',
      (error) => error.code,
    )
    expect(await outcome).toBe(code)
    server.faults.length = 0
  })
})

describe('a server that hangs or ends', () => {
  let child: ChildNode<Serving>
  let own: DynamoDBClient
  let store: DynamoStore
  beforeAll(async () => {
    child = startNode<Serving>('stores/children/dynamo-serving.ts')
    own = dynamoClient(await child.call('serve'))
    store = dynamoStore(own)
    await store.migrate()
  }, 120_000)
  afterAll(async () => {
    own.destroy()
    await child.stop()
  })

  test('gives up a take at its deadline while the server hangs, and counts it at most once', async () => {
    const backend = backendOn(store)
    await backend.takeAll([charge(backend, 3)])
    child.pause()
    await expect(backend.takeAll([charge(backend)], within(50))).rejects.toMatchObject({ code: 'LATE' })
    child.resume()
    expect([3, 4]).toContain(await used(backend))
    expect(await take(backend)).toBe(true)
  })

  test('decides by the failure rule while the server is gone', async () => {
    const backend = backendOn(store)
    await backend.takeAll([charge(backend, 3)])
    await child.stop()
    await expect(backend.takeAll([charge(backend)], within(5_000))).rejects.toMatchObject({ code: 'STORE' })
    const limiter = createLimiter({
      policies: [{ name: 'gone', limit: LIMIT, window: '1h' }],
      backend: backendOn(store),
      onBackendError: 'deny',
    })
    expect((await limiter.take('a')).allowed).toBe(false)
    await limiter.close()
  })
})
