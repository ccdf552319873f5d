/** The parts of the SDK's errors that tell a refused write from a failed one. */
interface DynamoError {
  readonly name?: string
  readonly CancellationReasons?: readonly { readonly Code?: string }[]
  readonly $metadata?: { readonly attempts?: number }
}

/** Errors of a single write whose condition failed, or whose row is part of a transaction in progress. */
const CONFLICTS: readonly unknown[] = ['ConditionalCheckFailedException', 'TransactionConflictException']
/** Reasons for which a transaction can be cancelled although nothing is wrong with DynamoDB. */
const REASONS: readonly unknown[] = [undefined, 'None', 'ConditionalCheckFailed', 'TransactionConflict']

/** Whether another process has changed a row, so that nothing was written. */
export function isConflict(error: unknown): boolean {
  const { name, CancellationReasons: reasons = [] } = (error ?? {}) as DynamoError
  if (name !== 'TransactionCanceledException') return CONFLICTS.includes(name)
  // a transaction can also be cancelled by throttling, which a repetition would make worse
  return reasons.length > 0 && reasons.every(({ Code }) => REASONS.includes(Code))
}

/** Whether the client has sent the write more than once. */
export function wasRepeated(error: unknown): boolean {
  const { attempts = 1 } = ((error ?? {}) as DynamoError).$metadata ?? {}
  return attempts > 1
}
