// Entry point for authors of backends that are shared by many processes.
export type { CompiledPolicy } from '@sluice/limiter-core'
export { checkTopic, isTopic } from './backend/channel-topic.ts'
export type * from './backend/counters.ts'
export { isWorker, keepRunning, runtimeWaitUntil, type WaitUntil } from './backend/keep-running.ts'
export * as read from './backend/message-reader.ts'
export { PARTITIONS, partitionOf } from './backend/partition-of.ts'
export { PlainCounter } from './backend/plain-counter.ts'
export { repetitions } from './backend/repetitions.ts'
export { compiledOf, type SentPolicy, sentPolicyOf } from './backend/sent-policy.ts'
export { settledWithin } from './backend/settled-within.ts'
export { checkMessage, TopicReceivers } from './backend/topic-receivers.ts'
export { TurnBatch } from './backend/turn-batch.ts'
export { answeredBy, givenUpAt } from './remote/answered-by.ts'
export { EntryNames, plainName } from './remote/entry-names.ts'
export { RemoteBackend, type RemoteBackendDeps } from './remote/remote-backend.ts'
export {
  RemoteCalls,
  type RemoteCallsOptions,
  type RemoteReply,
  settle,
  type Transport,
} from './remote/remote-calls.ts'
export { messageOfAny, RemoteFailure, type RemoteFailureOptions } from './remote/remote-failure.ts'
export {
  knownOf,
  type RemoteOperation,
  type RemoteRequest,
  type ReportedNumbers,
  type ReportedUsage,
  reportedNumbers,
  reportedUsage,
} from './remote/remote-request.ts'
export { RequestQueue } from './remote/request-queue.ts'
export { ServerState } from './remote/server-state.ts'
export { ServerTime } from './remote/server-time.ts'
export { isUrgent, soonest, stillWanted } from './remote/timed-request.ts'
export { hostOf, isLocalRequest } from './requests/local-request.ts'
export { hasUnreadBody } from './requests/unread-body.ts'
export { HashRing, type HashRingOptions } from './ring/hash-ring.ts'
export { RingBackend } from './ring/ring-backend.ts'
export { type AnswerContext, type AnsweredRequest, answerOfNumbers } from './rows/answer-numbers.ts'
export { Decisions, type DecisionTimes, type EntryOf } from './rows/decisions.ts'
export { isFloats } from './rows/floats.ts'
export { LimitEntry } from './rows/limit-entry.ts'
export { bytesOfFloats, floatsOfBytes } from './rows/row-bytes.ts'
export { countNameOf, doneNamesOf, type RowCharge, type RowRequest } from './rows/row-request.ts'
export type * from './rows/row-store.ts'
export { haveSameLayout } from './rows/stored-cells.ts'
