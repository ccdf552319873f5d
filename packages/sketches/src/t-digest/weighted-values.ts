/** Values and how often each was seen: a buffer, or the centroids of a digest. */
export class WeightedValues {
  readonly values: Float64Array
  readonly weights: Float64Array
  used = 0

  constructor(capacity: number) {
    this.values = new Float64Array(capacity)
    this.weights = new Float64Array(capacity)
  }

  push(value: number, weight: number): void {
    const at = this.used++
    this.values[at] = value
    this.weights[at] = weight
  }
}
