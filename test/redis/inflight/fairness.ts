/** Jain's index of what each got: 1 where all got the same, 1/n where one got all. */
export function fairness(got: readonly number[]): number {
  return total(got) ** 2 / (got.length * total(got.map((one) => one ** 2)))
}

/** What a max-min fair division of `places` gives to each of those who can use so many. */
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
