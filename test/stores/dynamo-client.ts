import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** Creates a real client for a server of the tests. */
export function dynamoClient(port: number, options: DynamoDBClientConfig = {}): DynamoDBClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const endpoint = `http://127.0.0.1:${port}`
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 2, ...options })
}
