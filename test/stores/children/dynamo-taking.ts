import { storeBackend } from '@sluice/stores'
import { dynamoStore } from '@sluice/stores/dynamodb'
import { dynamoClient } from '../dynamo-client.ts'
import { Taker } from '../taker.ts'

let taker: Taker

/** Opens a client. Further calls count in the table. */
export function open(port: number, table: string): void {
  taker = new Taker(storeBackend(dynamoStore(dynamoClient(port), { table }), { name: 'dynamodb' }))
}

export function takeMany(key: string, count: number, limit: number): Promise<number> {
  return taker.takeMany(key, count, limit)
}

export function rate(keys: number, callers: number, ms: number): Promise<number> {
  return taker.rate(keys, callers, ms)
}
