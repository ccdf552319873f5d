/** Returns `make` with a cache per argument. */
export function onceEach<T extends object, U>(make: (one: T) => U): (one: T) => U {
  const made = new Map<T, U>()
  return (one) => {
    const known = made.get(one) ?? make(one)
    made.set(one, known)
    return known
  }
}
