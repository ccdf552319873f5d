/** A use of an SDK that holds with each of its supported versions. Rejects if it does not hold. */
export interface Scenario {
  readonly name: string
  run(): Promise<void>
}
