// d1.d.ts
import { RowStore } from '@sluice/fleet/backend'

interface D1Database {
	prepare(sql: string): D1Statement
	batch(statements: D1Statement[]): Promise<
		readonly {
			readonly results: readonly unknown[]
		}[]
	>
}

interface D1Statement {
	bind(...values: (string | number)[]): D1Statement
}

interface D1Store extends RowStore {
	migrate(): Promise<void>
}

interface D1StoreOptions {
	readonly waitUntil: (work: Promise<unknown>) => void
	readonly table?: string | undefined
}

declare function d1Store(database: D1Database, options: D1StoreOptions): D1Store
export { type D1Database, type D1Statement, type D1Store, type D1StoreOptions, d1Store }

// deno-kv.d.ts
import { RowStore } from '@sluice/fleet/backend'

interface DenoKv {
	getMany(keys: readonly DenoKvKey[]): Promise<
		readonly {
			readonly value: unknown
			readonly versionstamp: string | null
		}[]
	>
	atomic(): DenoKvAtomic
}

type DenoKvKey = readonly [prefix: string, key: string]

interface DenoKvAtomic {
	check(check: { key: DenoKvKey; versionstamp: string | null }): unknown
	set(
		key: DenoKvKey,
		value: Uint8Array,
		options: {
			expireIn: number
		}
	): unknown
	commit(): Promise<{
		readonly ok: boolean
	}>
}

interface DenoKvOptions {
	readonly prefix?: string | undefined
}

declare function denoKvStore(kv: DenoKv, options?: DenoKvOptions): RowStore
export { type DenoKv, type DenoKvAtomic, type DenoKvKey, type DenoKvOptions, denoKvStore }

// dynamodb.d.ts
// @ts-ignore
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { RowStore } from '@sluice/fleet/backend'
import { Clock as Clock$1 } from '@sluice/limiter-core/backend'

type DynamoClient = Pick<DynamoDBClient, 'send'>

interface DynamoStore extends RowStore {
	migrate(): Promise<void>
}

interface DynamoStoreOptions {
	readonly table?: string | undefined
	readonly clock?: Partial<Clock$1> | undefined
}

declare function dynamoStore(client: DynamoClient, options?: DynamoStoreOptions): DynamoStore
export { type DynamoClient, type DynamoStore, type DynamoStoreOptions, dynamoStore }

// index.d.ts
import { RowStore, RemoteFailure, RemoteFailureOptions } from '@sluice/fleet/backend'
import { Clock as Clock$1, Backend as Backend$1, Answer as Answer$1 } from '@sluice/limiter-core/backend'

declare class StoreFailure extends RemoteFailure {
	readonly code: 'STORE' | 'LATE' | 'CONFLICT' | 'REPLY' | 'ROWS'
	constructor(code: StoreFailure['code'], message: string, options?: RemoteFailureOptions)
}

interface StoreBackendOptions {
	readonly name?: string | undefined
	readonly prefix?: string | undefined
	readonly secret?: string | undefined
	readonly maxBatch?: number | undefined
	readonly clock?: Partial<Clock$1> | undefined
	readonly serverTime?: (() => number) | undefined
}

declare function storeBackend(store: RowStore, options?: StoreBackendOptions): Backend$1<Promise<Answer$1>>
export { StoreFailure, type StoreBackendOptions, storeBackend }
export { type Change as Change } from '@sluice/fleet/backend'
export { type Row as Row } from '@sluice/fleet/backend'
export { type RowStore as RowStore } from '@sluice/fleet/backend'
export { type RowVersion as RowVersion } from '@sluice/fleet/backend'
export { type RowWriteOptions as RowWriteOptions } from '@sluice/fleet/backend'
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Backend as Backend } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type Clock as Clock } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountEstimate as CountEstimate } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Counter as Counter } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'

// memcached.d.ts
import { RowStore } from '@sluice/fleet/backend'
import { Clock as Clock$1 } from '@sluice/limiter-core/backend'

interface MemcachedClient {
	gets(keys: string[]): Promise<unknown>
	add(
		key: string,
		value: Buffer,
		options: {
			readonly lifetime: number
		}
	): Promise<unknown>
	cas(
		key: string,
		value: Buffer,
		options: {
			readonly lifetime: number
			readonly casUniq: string
		}
	): Promise<unknown>
}

interface MemcachedStoreOptions {
	readonly clock?: Partial<Clock$1> | undefined
}

declare function memcachedStore(client: MemcachedClient, options?: MemcachedStoreOptions): RowStore
export { type MemcachedClient, type MemcachedStoreOptions, memcachedStore }

// mysql.d.ts
import { RowStore } from '@sluice/fleet/backend'

interface MysqlConnection {
	query(sql: string, values?: MysqlValue[]): Promise<readonly [unknown, ...unknown[]]>
	beginTransaction(): Promise<void>
	commit(): Promise<void>
	rollback(): Promise<void>
	release(): void
	destroy(): void
}
type MysqlValue = string | number | bigint | Uint8Array | Uint8Array[]

interface MysqlPool {
	query(sql: string, values?: MysqlValue[]): Promise<readonly [unknown, ...unknown[]]>
	getConnection(): Promise<MysqlConnection>
}

interface MysqlStore extends RowStore {
	migrate(): Promise<void>
}

interface MysqlStoreOptions {
	readonly table?: string | undefined
}

declare function mysqlStore(pool: MysqlPool, options?: MysqlStoreOptions): MysqlStore
export { type MysqlConnection, type MysqlPool, type MysqlValue, type MysqlStore, type MysqlStoreOptions, mysqlStore }

// sqlite.d.ts
import { RowStore } from '@sluice/fleet/backend'
import { Clock as Clock$1 } from '@sluice/limiter-core/backend'
interface SqliteDatabase {
	exec(sql: string): unknown
	prepare(sql: string): SqliteStatement
}

interface SqliteStatement {
	get(...values: (string | number | Uint8Array)[]): unknown
	run(...values: (string | number | Uint8Array)[]): unknown
}

interface SqliteStoreOptions {
	readonly table?: string | undefined
	readonly busyMs?: number | undefined
	readonly clock?: Partial<Clock$1> | undefined
}

declare function sqliteStore(database: SqliteDatabase, options?: SqliteStoreOptions): RowStore
export { type SqliteDatabase, type SqliteStatement, type SqliteStoreOptions, sqliteStore }
