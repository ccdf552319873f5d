// Entry point for authors of backends that are shared by many processes.
export { PARTITIONS, partitionOf } from './backend/partition-of.ts'
export { PlainCounter } from './backend/plain-counter.ts'
export { settledWithin } from './backend/settled-within.ts'
export { checkMessage, TopicReceivers } from './backend/topic-receivers.ts'
export { TurnBatch } from './backend/turn-batch.ts'
export { HashRing, type HashRingOptions } from './ring/hash-ring.ts'
export { RingBackend } from './ring/ring-backend.ts'
