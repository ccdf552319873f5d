/** Jain's fairness index of the shares: 1 if all are equal, 1/n if one process got everything. */
export function fairness(got: readonly number[]): number {
  return total(got) ** 2 / (got.length * total(got.map((one) => one ** 2)))
}

/** Max-min fair division of `places` among processes that can use the given numbers. */
export function maxMinShares(demands: readonly number[], places: number): number[] {
  const shares = demands.map(() => 0)
  let left = places
  const rising = [...demands.keys()].sort((one, other) => demands[one] - demands[other])
  for (const [served, index] of rising.entries()) {
    shares[index] = Math.min(demands[index], left / (demands.length - served))
    left -= shares[index]
  }
  return shares
}

export function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0)
}
