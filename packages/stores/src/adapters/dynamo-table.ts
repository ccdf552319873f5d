import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'

/** The part of a `DynamoDBClient` that `dynamoStore` uses. */
export type DynamoClient = Pick<DynamoDBClient, 'send'>

/** Time in ms between two looks at a table that is being created. */
const LOOK_MS = 500
/** Number of looks at a table that is being created, which takes seconds. */
const LOOKS = 240

/** Creates a table of rows with on-demand capacity and an expiry, unless it exists, and waits until it can be used. */
export async function createRowTable(
  client: DynamoClient,
  table: string,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const TableName = table
  const create = new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await unless('ResourceInUseException', client.send(create))
  for (let look = 1; ; look++) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }))
    if (Table?.TableStatus === 'ACTIVE' || Table?.TableStatus === 'UPDATING') break
    if (look === LOOKS) throw new Error(`table ${table} is still ${Table?.TableStatus}`)
    await pause(LOOK_MS)
  }
  const { TimeToLiveDescription: expiry } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
  if (expiry?.TimeToLiveStatus?.startsWith('ENABL')) return
  const TimeToLiveSpecification = { AttributeName: 'ends', Enabled: true }
  // another process may have enabled it since
  await unless('ValidationException', client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification })))
}

/** Ignores an error with a name. */
async function unless(name: string, sent: Promise<unknown>): Promise<void> {
  try {
    await sent
  } catch (error) {
    if ((error as { readonly name?: unknown }).name !== name) throw error
  }
}
