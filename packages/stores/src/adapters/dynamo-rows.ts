import type { AttributeValue, PutItemCommandInput } from '@aws-sdk/client-dynamodb'
import type { Change, Row } from '@sluice/fleet/backend'
import { newVersion } from './row-table.ts'

/** A write of a row, on a condition. */
export interface RowPut extends PutItemCommandInput {
  readonly Item: Record<string, AttributeValue>
}

/** Adds the row of an item, unless it has expired: DynamoDB deletes expired rows up to days later. */
export function addRow(
  { id, cells, version, ends }: Record<string, AttributeValue>,
  nowMs: number,
  rows: Map<string, Row>,
): void {
  if (id?.S === undefined || Number(ends?.N) * 1_000 <= nowMs) return
  rows.set(id.S, { cells: cells?.B ?? new Uint8Array(), version: version?.N ?? '' })
}

/** Returns the write of a change, on the condition that the row has its version or, without one, that there is no row. */
export function putOf(table: string, { key, cells, version }: Change, nowMs: number, ttlMs: number): RowPut {
  const now = nowMs / 1_000
  const Item = {
    id: { S: key },
    cells: { B: cells },
    version: { N: String(newVersion()) },
    // whole seconds, as DynamoDB's expiry requires
    ends: { N: String(Math.ceil(now + ttlMs / 1_000)) },
  }
  const [condition, values] =
    version === undefined
      ? ['attribute_not_exists(id) OR ends <= :now', {}]
      : ['version = :version AND ends > :now', { ':version': { N: String(version) } }]
  const ExpressionAttributeValues = { ':now': { N: String(now) }, ...values }
  return { TableName: table, Item, ConditionExpression: condition, ExpressionAttributeValues }
}
