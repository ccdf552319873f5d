export {
  type DenoKv,
  type DenoKvAtomic,
  type DenoKvKey,
  type DenoKvOptions,
  denoKvStore,
} from './adapters/deno-kv-store.ts'
