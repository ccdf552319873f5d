import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** Creates a real client for a server of the tests. `maxAttempts` limits how often it sends a request. */
export function dynamoClient(endpoint: string, maxAttempts = 2): DynamoDBClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts })
}
