import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { storeBackend } from '@sluice/stores'
import { dynamoStore } from '@sluice/stores/dynamodb'
import { type ChildNode, startNode } from '../../services/processes/child-node.ts'
import { dynamoClient } from '../../stores/dynamo-client.ts'
import type { StoreAddress } from '../children/opened-backend.ts'
import type { Refusal, StoreKind, StoreServer } from './store-server.ts'

type Serving = typeof import('../../stores/children/dynamo-serving.ts')

/** A DynamoDB of the tests in a process of its own. */
class DynamoStore implements StoreServer {
  readonly port: number
  readonly process: ChildNode<Serving>
  readonly #admin: DynamoDBClient

  private constructor(process: ChildNode<Serving>, port: number) {
    this.process = process
    this.port = port
    this.#admin = dynamoClient(port)
  }

  static async start(): Promise<DynamoStore> {
    const process = startNode<Serving>('stores/children/dynamo-serving.ts')
    const store = new DynamoStore(process, await process.call('serve'))
    await dynamoStore(store.#admin).migrate()
    return store
  }

  addressAt(port: number): StoreAddress {
    return { store: 'dynamodb', port }
  }

  backend(): ReturnType<typeof storeBackend> {
    return storeBackend(dynamoStore(this.#admin))
  }

  pause(): void {
    this.process.pause()
  }

  resume(): void {
    this.process.resume()
  }

  kill(): Promise<void> {
    return this.process.call('refuseConnections')
  }

  start(): Promise<void> {
    return this.process.call('acceptConnections')
  }

  accepted(): Promise<number> {
    return this.process.call('connections')
  }

  async stop(): Promise<void> {
    this.#admin.destroy()
    await this.process.stop()
  }
}

function refusal(fault: string, status: number, name: string): Refusal<DynamoStore> {
  return {
    fault: `${fault} (${name})`,
    told: 'STORE',
    begin: ({ process }) => process.call('refuse', status, name),
    end: ({ process }) => process.call('answer'),
  }
}

export const dynamoKind: StoreKind<DynamoStore> = {
  name: 'DynamoDB',
  // no process of an application sees how processes of DynamoDB end, and its data is on several machines
  crash: ['refuses connections', 'accepts them with its data'],
  counts: 'kept',
  // the largest number of sockets of the client
  connections: 50,
  // the client and the server of the tests need much time of the machine
  perSecond: 100,
  nearMs: [5],
  nearDeadlineMs: 500,
  // a request without an answer is given up after a second
  silentBackMs: 2_100,
  start: () => DynamoStore.start(),
  stalls: [
    {
      fault: 'DynamoDB delays writes',
      appliesLate: true,
      begin: ({ process }) => process.call('delay', 'PutItem'),
      end: ({ process }) => process.call('answer'),
    },
  ],
  refusals: [
    refusal('DynamoDB throttles requests', 400, 'ProvisionedThroughputExceededException'),
    refusal('DynamoDB has an internal error', 500, 'InternalServerError'),
    refusal('the table of DynamoDB is missing', 400, 'ResourceNotFoundException'),
    refusal('the credentials for DynamoDB have expired', 400, 'ExpiredTokenException'),
    {
      fault: 'all rows of DynamoDB are part of transactions (TransactionConflictException)',
      told: 'CONFLICT',
      begin: ({ process }) => process.call('refuse', 400, 'TransactionConflictException', 'PutItem'),
      end: ({ process }) => process.call('answer'),
    },
  ],
}
