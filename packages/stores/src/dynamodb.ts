export { type DynamoClient, type DynamoStore, type DynamoStoreOptions, dynamoStore } from './adapters/dynamo-store.ts'
